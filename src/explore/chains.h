/* Exploring with NUTS: short chains, adapted together, every gradient of every trajectory kept in the archive. */
#ifndef AIS_EXPLORE_CHAINS_H
#define AIS_EXPLORE_CHAINS_H

#include <signal.h>

#include "explore/archive.h"

/* A stretch of steps of all chains in the latent space of one map. */
typedef struct ais_stretch {
    uint64_t seed;
    int number;        /* of the stretch: other random numbers for each */
    int chains;        /* of them */
    int warmup, draws; /* steps of each that tune the step size; steps after them, whose states are draws */
    int max_depth;     /* of trajectories */
    ais_kernel *map;   /* belongs to the stretch, which frees it */
    double *x;         /* chains x dim: where they are, before and after */
    long most;         /* evaluations of each chain: not one more; 0: no limit */
    long price;        /* evaluations that a gradient takes */
    double deadline;   /* by ais_now(); 0: none */
    const volatile sig_atomic_t *stop;          /* or NULL */
    void (*tick)(void *data, long evaluations); /* called now and then by the caller's own thread; or NULL */
    void *tick_data;
    long before;      /* evaluations before the stretch, for tick */
    double *state;    /* dim x chains x draws: the draws; or NULL */
    long densities;   /* out: evaluated */
    long gradients;   /* out */
    double step_size; /* out: geometric mean over the chains */
    bool cut_short;   /* out: by the limit, the deadline or the caller: the last steps are missing */
    double leapfrogs; /* out: gradients of the draws alone */
    long divergences; /* out: of their trajectories */
} ais_stretch;

/* Runs the chains, each on one thread, and adds all points in the order of the chains. Draws are AIS_FROM_CHAIN,
 * everything else AIS_FROM_PATH. */
ais_status ais_explore_stretch(ais_context *context, const ais_target *target, ais_pool *pool, ais_stretch *stretch,
                               ais_archive *archive);

#endif
