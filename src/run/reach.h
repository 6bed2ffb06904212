/* Drawing continues where the verdict would say that too few draws lie where the kernel's proposals do not reach. */
#ifndef AIS_RUN_REACH_H
#define AIS_RUN_REACH_H

#include <aisampler/kernel.h>

#include "base/pool.h"
#include "sampler/kept.h"

typedef struct ais_run_reach {
    const ais_kernel *kernel;
    int threads, thin;
    int chains, weighed; /* draws per chain that have a weight: evaluating the map takes longer than an ESS */
    double *weight;      /* log p - log q: weighed x chains, draw by draw */
    ais_doubt doubt;
} ais_run_reach;

/* doubt, for the sampler: NULL for kernels without proposals of a known density. */
const ais_doubt *ais_run_reach_doubt(ais_run_reach *reach, const ais_kernel *kernel, int threads, int thin);

/* The weights of all draws, chain by chain as in ais_draws, for the caller to free: the verdict need not weigh them
 * again. NULL where some have none yet, or memory is out. */
double *ais_run_reach_weights(const ais_run_reach *reach, const ais_draws *draws);

void ais_run_reach_free(ais_run_reach *reach);

#endif
