/* The accept test of a learned kernel's step in the first `chains` lanes. */
#ifndef AIS_KERNEL_TEST_LANES_H
#define AIS_KERNEL_TEST_LANES_H

#include <stdint.h>

#include "simd/isa.h"

/* In the first `count` lanes: where x (dim x lanes) is not finite round_trip becomes infinite; where round_trip is
 * above tolerance, x becomes the present point. */
AIS_DECLARE_LANES(void, ais_mask, int dim, size_t lanes, size_t count, double tolerance, const double *present,
                  double *x, double *round_trip);

/* log N(image) - log N(v) of dim x lanes. */
AIS_DECLARE_LANES(void, ais_kinetic, int dim, size_t lanes, const double *v, const double *image, double *kinetic);

typedef struct ais_test_call {
    size_t chains;
    bool barker; /* else Metropolis */
    double tolerance;
    const double *round_trip, *logp, *next_logp, *kinetic, *log_det, *uniform;
} ais_test_call;

/* chance: the probability of acceptance, 0 where the round trip misses or the ratio is not a number; taken: -1 where
 * the uniform is below it, else 0. Lanes past `chains` that share a vector with one get what their numbers say. */
AIS_DECLARE_LANES(void, ais_test_lanes, const ais_test_call *call, double *chance, int64_t *taken);

/* to = from in the lanes that were taken; rows x lanes of 64-bit things. */
AIS_DECLARE_LANES(void, ais_take, int rows, size_t lanes, size_t chains, const int64_t *taken, const void *from,
                  void *to);

#endif
