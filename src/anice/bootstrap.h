/* Chains whose draws A-NICE-MC trains on: of HMC at first, of the kernel itself later. All start from N(0,
 * start_scale^2). */
#ifndef AIS_ANICE_BOOTSTRAP_H
#define AIS_ANICE_BOOTSTRAP_H

#include "base/pool.h"
#include "kernel/kernel.h"

typedef struct ais_bootstrap {
    int chains, burn_in, draws;
    uint64_t seed;
    double *x;         /* out: dim x chains x draws */
    double acceptance; /* out: of the kernel's own chains */
} ais_bootstrap;

/* HMC of 10 leapfrogs tuned for an acceptance of 0.65, as the authors have it; a random walk without gradient. */
ais_status ais_bootstrap_first(ais_context *context, const ais_target *target, ais_pool *pool, ais_bootstrap *run);

ais_status ais_bootstrap_own(ais_context *context, const ais_target *target, const ais_kernel *kernel,
                             ais_bootstrap *run);

#endif
