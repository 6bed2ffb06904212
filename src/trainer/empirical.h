/* Learning from draws alone (docs/math.md): a map T by maximum likelihood, whose proposals have the density q, then a
 * discriminator D between the draws and proposals by logistic regression. Its minimiser is log p - log q, so
 * D(x') - D(x) is the log ratio of the accept test; unlike r log r, the logistic loss has it exactly.
 *
 * A tenth of the draws is held out: snapshots of both stages are chosen by their loss on it, and what does not lower
 * that loss is not kept. */
#ifndef AIS_TRAINER_EMPIRICAL_H
#define AIS_TRAINER_EMPIRICAL_H

#include <aisampler/trainer.h>

#include "base/pool.h"
#include "fit/loop.h"
#include "learned/learned.h"

/* Whitened draws in two parts, row-major. */
typedef struct ais_sample_split {
    int dim;
    size_t count, held_count;
    double *train, *held; /* count x dim, held_count x dim */
} ais_sample_split;

/* Every tenth run of consecutive draws is held out: neighbours in a chain are alike and must not stand on both sides,
 * and a file sorted by anything must not lose an end. false when memory is out. */
bool ais_sample_split_new(const ais_draws *draws, const ais_whitening *whitening, ais_arena *arena,
                          ais_sample_split *split);

/* Members first to first + AIS_BLOCK of a batch, at random from n rows of draws, as lanes: u is dim x AIS_BLOCK. */
void ais_sample_pick(const ais_stream *stream, size_t first, int dim, size_t n, const double *draws, double *u);

/* Blocks of held-out draws, and one of them as lanes; its number of draws. The last one is filled up with its first. */
size_t ais_sample_held_blocks(const ais_sample_split *split);
size_t ais_sample_held(const ais_sample_split *split, size_t block, double *u);

/* How a stage goes, and what came out. */
typedef struct ais_empirical_stage {
    ais_learned *learned;
    const ais_sample_split *split;
    uint64_t seed;
    ais_pool *pool;
    ais_recipe recipe; /* its batch counts draws; the discriminator sees as many proposals */
    ais_watch watch;
    double first_loss, best_loss, last_loss; /* out: held out; first before training */
    int rollbacks;                           /* out */
} ais_empirical_stage;

/* For the three methods, in whose structs the stage's address comes first: a run of the loop; the failure of `begin`;
 * `end`: the best weights, and the losses, which are minus the loop's scores. */
ais_status ais_empirical_run(ais_context *context, const ais_method *method, void *self);
ais_status ais_empirical_memory(ais_context *context, const ais_loop *loop);
void ais_empirical_end(ais_loop *loop);

/* Fits T in place; the weights of the best snapshot stay. */
ais_status ais_empirical_flow(ais_context *context, ais_empirical_stage *stage);

/* Fits D, T held fixed; zero weights stay when nothing beats them. */
ais_status ais_empirical_ratio(ais_context *context, ais_empirical_stage *stage);

/* The discriminator's first weights: bumps all over the whitened space, and D about 0. */
void ais_empirical_spread(const ais_ratio *ratio, uint64_t seed);

/* T and D together, adversarially: Algorithm 1 of the paper with draws in the place of p. With swap the log ratio of
 * the pair (x, x' = T^-1(v)) is d = D(x') - D(x); turn by turn D descends the logistic loss E log(1 + e^d), and T
 * ascends the acceptance E r(d), r(d) = 1 / (1 + e^-d), through x'. The recipe's pace is T's, its helper D's. The
 * averaged weights of the last step stay: neither loss says which snapshot is best. */
ais_status ais_empirical_joint(ais_context *context, ais_empirical_stage *stage);

/* The whole of ais_train for a target with draws. */
ais_status ais_train_empirical(ais_context *context, const ais_target *target, const ais_train_options *options,
                               ais_kernel **kernel, ais_training **training);

#endif
