/* How well a kernel mixes, judged on fresh chains: what snapshots are chosen by. */
#ifndef AIS_JUDGE_FRESH_H
#define AIS_JUDGE_FRESH_H

#include "explore/population.h"

typedef struct ais_fresh_result {
    double worst_ess;  /* ais_worst_ess as a share of the draws */
    double acceptance; /* mean */
} ais_fresh_result;

/* `chains` chains (rounded up to whole blocks) that start at points of the population and take `draws`
 * steps of the kernel alone. Nothing of the target's reference is used. The population is not moved. */
ais_status ais_fresh_chains(ais_context *context, const ais_population *population, const ais_kernel *kernel,
                            uint64_t seed, int chains, int draws, ais_fresh_result *result);

/* The same chains, left to the caller to judge: x (dim x chains x draws) is his; chains must be whole blocks. */
ais_status ais_fresh_draws(ais_context *context, const ais_population *population, const ais_kernel *kernel,
                           uint64_t seed, int chains, int draws, double *x, double *acceptance);

#endif
