/* A few chains of a kernel: to start a population from, or to compare a learned kernel with its rivals. */
#ifndef AIS_JUDGE_SHORT_RUN_H
#define AIS_JUDGE_SHORT_RUN_H

#include "base/pool.h"
#include "kernel/kernel.h"

typedef struct ais_short_run {
    int chains, warmup, draws;
    uint64_t seed;
    const double *start; /* chains x dim, or NULL */
    double *x;           /* out: dim x chains x draws */
    double seconds;      /* out: of the draws, on one thread, summed over chains */
} ais_short_run;

/* One task per chain. */
ais_status ais_short_run_go(ais_context *context, const ais_target *target, const ais_kernel *kernel, ais_pool *pool,
                            ais_short_run *run);

#endif
