/* Haario's twisted normal: the data and the batch body. */
#ifndef AIS_TARGET_BANANA_LANES_H
#define AIS_TARGET_BANANA_LANES_H

#include "simd/isa.h"

/* x_1 ~ N(0, 100); x_2 + b (x_1^2 - 100) and the other x_i ~ N(0, 1) */
typedef struct ais_banana {
    int dim;
    double b;
    double constant; /* the largest log p */
} ais_banana;

AIS_DECLARE_LANES(void, ais_banana_block, const void *banana, size_t count, size_t stride, const double *x,
                  double *logp);

#endif
