/* Training of henon kernels, stage by stage, on batches of a population that the kernel itself moves.
 *
 *     ais_henon_whiten(&context, kernel, population, true);
 *     ais_henon_spread(kernel, seed);
 *     ais_henon_trainer_new(&context, kernel, population, seed, &trainer);
 *     ais_henon_train(&context, trainer, &likelihood, &watch);      stages of ais_henon_stage_default, changed at will
 *     ais_henon_train(&context, trainer, &adversarial, &watch);
 *     ais_henon_trainer_free(trainer);                              the kernel has the best snapshot's weights
 *
 * Every stage is a run of the loop (fit/loop.h). Every so often the kernel is judged on fresh chains
 * (judge/henon_judge.h); the snapshot with the best worst ESS is kept, whatever its acceptance and whichever stage it
 * is of. An acceptance that falls to nothing brings it back, at half the rate. */
#ifndef AIS_FIT_HENON_TRAINER_H
#define AIS_FIT_HENON_TRAINER_H

#include "explore/population.h"
#include "fit/henon_objective.h"
#include "fit/loop.h"
#include "learned/learned.h"

typedef enum ais_henon_kind { AIS_LIKELIHOOD, AIS_EXACT, AIS_ADVERSARIAL } ais_henon_kind;

typedef struct ais_henon_stage {
    ais_henon_kind kind;
    ais_recipe recipe;
    int walks;            /* random-walk steps after each of the kernel's */
    double mixing;        /* strength of the mixing term; 0: none */
    double mixing_weight; /* of x and x^2 in it */
    int waves;            /* random Fourier features in it */
    int ripples;          /* waves of the distance from the population's mean in it */
    double likelihood;    /* weight of the likelihood beside exact or adversarial */
    bool differences;     /* exact: never ask for the target's gradient */
    ais_exact_loss exact;
    ais_discriminator_form form;
    ais_discriminator_loss loss;
    int hidden, depth; /* of the discriminator; 0: as printed */
    bool tanh;         /* discriminator: else relu */
    bool last;         /* keep the last weights, as Algorithm 1 does, not the best */
} ais_henon_stage;

/* What measures best (fit/recipes.h). */
ais_henon_stage ais_henon_stage_default(ais_henon_kind kind);

/* The paper's own setting: Algorithm 1, r log r, product form, nothing else. For 5 layers, relu, flip, no spread;
 * in two dimensions no whitening either: the map then starts near x -> -x, on which the printed numbers for
 * symmetric targets rest. far: for a map that has far to go. */
ais_henon_stage ais_henon_stage_paper(int dim, bool far);

typedef struct ais_henon_trainer ais_henon_trainer;

/* kernel: a henon kernel. Moves the population with it from here on. */
ais_status ais_henon_trainer_new(ais_context *context, ais_kernel *kernel, ais_population *population, uint64_t seed,
                                 ais_henon_trainer **trainer);
ais_status ais_henon_train(ais_context *context, ais_henon_trainer *trainer, const ais_henon_stage *stage,
                           const ais_watch *watch);

/* The discriminator as the last adversarial stage left it, and its weights; NULL when there was none. Both
 * live as long as the trainer. */
const ais_real *ais_henon_trainer_discriminator(const ais_henon_trainer *trainer, ais_discriminator *discriminator);
double ais_henon_trainer_best(const ais_henon_trainer *trainer); /* worst ESS of the kept snapshot */
void ais_henon_trainer_free(ais_henon_trainer *trainer);         /* NULL is allowed */

/* Whitening by the population's mean and, for all coordinates, the root of the mean of its variances: a
 * map of volume 1 is the better start the rounder its space. Without `centre` the mean is left at 0. */
ais_status ais_henon_whiten(ais_context *context, ais_kernel *kernel, const ais_population *population, bool centre);

/* First-layer weights three times as large and biases U(-2, 2): bumps all over the whitened space. */
void ais_henon_spread(ais_kernel *kernel, uint64_t seed);

/* Scales V's last layer: the smaller, the closer a fresh g is to quarter turns. */
void ais_henon_scale_last(ais_kernel *kernel, double share);

/* V of the first three layers becomes linear on as many coordinates as it has pairs of hidden units, so that (with
 * V = 0 in the others and an odd number of layers) flip proposes x' = -x cos(2 angle) - v sin(2 angle) in whitened
 * space: still antithetic, but |x| is not kept as x -> -x keeps it. For relu with one hidden layer and three layers or
 * more; other kernels are left as they are. */
void ais_henon_turn(ais_kernel *kernel, double angle);

#endif
