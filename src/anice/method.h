/* A-NICE-MC as a method of the training loop: a step is five of the critic and one of the kernel, a judgement is a
 * bootstrap, whose draws are trained on from there on. */
#ifndef AIS_ANICE_METHOD_H
#define AIS_ANICE_METHOD_H

#include <aisampler/anice.h>

#include "anice/objective.h"
#include "anice/reservoir.h"
#include "base/pool.h"
#include "fit/loop.h"
#include "learned/nice.h"

typedef struct ais_anice_fit {
    /* filled in by the caller */
    const ais_target *target;
    ais_anice_options options; /* no field 0 that means a default */
    ais_nice_kernel *kernel;
    ais_pool *pool;
    ais_training *training;
    ais_reservoir reservoir;
    double began;
    /* the method's */
    ais_anice_objective objective;
    ais_real *critic, *critic_gradient, *gradient;
    double *normals, *draws; /* of one step of a batch; dim x chains x draws of a bootstrap */
    uint64_t step;           /* of either network */
    double worst, mean;      /* smallest ESS of the last judgement as a share of the draws: over x and x^2, over x */
} ais_anice_fit;

extern const ais_method ais_anice_method;

/* Random numbers of this step, apart from those of chains. */
ais_stream ais_anice_stream(const ais_anice_fit *fit, uint32_t part, uint32_t purpose);

#endif
