/* The bootstrap's persistent chains: moved by the present kernel alternating with a local random walk,
 * they supply the batches. Blocks of AIS_BLOCK chains, one task of the pool each, of one rank; the same
 * seed gives the same points for any number of threads and ranks, and every rank has them all.
 *
 * When the kernel's weights or whitening have changed, call ais_population_use again: a kernel may keep what it
 * computed from its points. Before a kernel is freed, call it with another one or NULL. */
#ifndef AIS_EXPLORE_POPULATION_H
#define AIS_EXPLORE_POPULATION_H

#include "base/pool.h"
#include "checkpoint/checkpoint.h"
#include "kernel/kernel.h"
#include "nn/batch.h"

typedef struct ais_population {
    ais_pool *pool;
    const ais_target *target;
    int blocks, chains;       /* chains = AIS_BLOCK * blocks */
    ais_state **state;        /* of each block: x is dim x AIS_BLOCK, logp AIS_BLOCK */
    const ais_kernel *kernel; /* NULL: walks only */
    double *walk_scale;       /* dim: the walk's step is scale * exp(U(log low, log high)) */
    double walk_low, walk_high;
    double acceptance;      /* of the kernel, mean over the last call of move */
    double walk_acceptance; /* of the walk, likewise */
    uint64_t seed;
    double *row; /* blocks x what the ranks exchange of one */
    void *own;   /* population.c's */
    ais_arena arena;
} ais_population;

/* chains is rounded up to whole blocks. start: chains x dim, row-major, taken again from its beginning for
 * the chains that rounding adds; NULL: N(0, start_scale^2). Walk scales are start_scale / 4 until
 * ais_population_scale_walk. */
ais_status ais_population_new(ais_context *context, ais_pool *pool, const ais_target *target, uint64_t seed, int chains,
                              const double *start, ais_population **population);
void ais_population_free(ais_population *population); /* NULL is allowed */

/* The kernel for the moves to come; the same one again after it has changed; or NULL, which cannot fail. */
ais_status ais_population_use(ais_context *context, ais_population *population, const ais_kernel *kernel);

/* `sweeps` times: the kernel's step (if there is one) and `walks` steps of the walk. */
ais_status ais_population_move(ais_context *context, ais_population *population, int sweeps, int walks);

/* One step of the walk alone; the acceptances stay those of the last move. */
ais_status ais_population_walk(ais_context *context, ais_population *population);

/* Mean and sd of each coordinate. */
void ais_population_moments(const ais_population *population, double *mean, double *sd);

/* Sets the walk's scales to the sds of the coordinates, steps between 0.01 and 0.3 of them. */
void ais_population_scale_walk(ais_population *population);

/* All that later moves depend on once the kernel is set again, which reading does: offer a checkpoint only between
 * ais_population_use and the next move. */
void ais_population_exchange(ais_checkpoint *checkpoint, ais_population *population);

/* Point c into x[0..dim). */
void ais_population_point(const ais_population *population, int c, double *x);

#endif
