/* Climbing a ladder (learned/ladder.h): ladders in parallel, in rounds, between which everything that makes a ladder
 * fast is fitted to what the round before has shown: step sizes, rungs of equal rejection and as many as the barrier
 * needs, and the base. After the last round all of it stays fixed: it is a kernel then. */
#ifndef AIS_EXPLORE_CLIMB_H
#define AIS_EXPLORE_CLIMB_H

#include <signal.h>

#include "base/pool.h"
#include "learned/ladder.h"

/* A mode with a twentieth of p is among this many independent points 96 times in 100, one with a tenth 999 times in
 * 1,000. */
enum { AIS_CLIMBERS = 16, AIS_ENOUGH_ARRIVED = 64 };

typedef struct ais_climb {
    const ais_target *target;
    ais_pool *pool;
    uint64_t seed;
    ais_kernel *map; /* the base; owned by the climb */
    int rungs, leapfrogs;
    double beta[AIS_MOST_RUNGS], scale[AIS_MOST_RUNGS];
    int round;       /* so far: other random numbers for each */
    double *x;       /* AIS_CLIMBERS x AIS_MOST_RUNGS x dim: where the replicas are */
    long most;       /* evaluations of a round, about; 0: no limit */
    double deadline; /* by ais_now(); 0: none */
    const volatile sig_atomic_t *stop;
    void (*tick)(void *data, long evaluations); /* between pieces of a round, or NULL */
    void *tick_data;
    long before; /* evaluations before the round, for tick */
    /* out, of the last round */
    int steps;
    double *draws;    /* dim x AIS_CLIMBERS x steps: the tops; freed by ais_climb_free */
    double *recorded; /* AIS_CLIMBERS x records x recorded_rungs x dim: replicas in the later half of a tuned round */
    int records, recorded_rungs;
    double rejection[AIS_MOST_RUNGS], accepted[AIS_MOST_RUNGS];
    long arrived[AIS_MOST_RUNGS]; /* replicas that came up to a rung from the bottom; 0 at the bottom itself */
    double barrier;               /* the sum of the rejections */
    double log_z, log_z_error;
    long trips;
    double worst_ess; /* of draws, if it is computed */
    long densities, gradients;
    bool cut_short; /* by the limit, the deadline or the caller: draws has fewer steps */
} ais_climb;

/* A ladder of some rungs from the map, which the climb owns from here on, even if this fails; replicas begin at
 * draws of the map, those at the top at the `count` points of `inside` (count x dim) in turn, which lie in the support;
 * where the density is zero at a draw, its replica begins at the top's. */
ais_status ais_climb_begin(ais_context *context, ais_climb *climb, const ais_target *target, ais_pool *pool,
                           uint64_t seed, ais_kernel *map, int rungs, int count, const double *inside);
void ais_climb_free(ais_climb *climb);

/* A round of `steps` steps of every ladder. Step sizes are tuned in pieces of it, if `tune`. */
ais_status ais_climb_round(ais_context *context, ais_climb *climb, int steps, bool tune);

/* Rungs of equal rejection, as many as the barrier of the last round needs. */
void ais_climb_respace(ais_climb *climb);

/* An affine base, fitted to the highest rung of the last round, a tuned one, that enough replicas came up to from the
 * bottom: AIS_ENOUGH_ARRIVED at the top, b of them at b, but four at the least. The base stays where there
 * is none. Before respacing, which changes b. */
ais_status ais_climb_refit(ais_context *context, ais_climb *climb);

/* The later half of the last round's tops, as rows; *n of them, released by free(). NULL: no memory. */
double *ais_climb_tops(const ais_climb *climb, size_t *n);

/* Another base, which the climb owns. */
void ais_climb_rebase(ais_climb *climb, ais_kernel *map);

/* The ladder as a kernel of its own. */
ais_status ais_climb_kernel(ais_context *context, const ais_climb *climb, ais_kernel **kernel);

#endif
