/* Draws go on where the verdict would say that there are too few of them where the kernel's proposals do not come. */
#ifndef AIS_RUN_REACH_H
#define AIS_RUN_REACH_H

#include <aisampler/kernel.h>

#include "base/pool.h"
#include "sampler/kept.h"

typedef struct ais_run_reach {
    const ais_kernel *kernel;
    int threads, thin;
    int weighed;    /* draws per chain that have a weight: an evaluation of the map takes longer than an ESS */
    double *weight; /* log p - log q: weighed x chains, draw by draw */
    ais_doubt doubt;
} ais_run_reach;

/* doubt, for the sampler: NULL for kernels whose draws all are proposals, or none. */
const ais_doubt *ais_run_reach_doubt(ais_run_reach *reach, const ais_kernel *kernel, int threads, int thin);

void ais_run_reach_free(ais_run_reach *reach);

#endif
