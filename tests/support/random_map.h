/* Maps with weights at random: whatever was learned, laws must hold. */
#ifndef AIS_TEST_RANDOM_MAP_H
#define AIS_TEST_RANDOM_MAP_H

#include "support.h"

/* Weights within +-scale, and a whitening that is none, neither diagonal nor triangular. */
static inline ais_kernel *random_map(ais_shape shape, double scale, int dim) {
    enum { MOST = 16 };
    ais_context context = {0};
    ais_kernel *kernel;
    assert_true(dim <= MOST);
    shape.dim = dim;
    assert_ok(context, ais_kernel_learned(&context, &shape, 1, &kernel));
    size_t count;
    float *weights = ais_kernel_weights(kernel, &count);
    for (size_t i = 0; i < count; i++) weights[i] = (float)(scale * odd(7, i, -1, 1));
    double mean[MOST], factor[MOST * MOST];
    for (int i = 0; i < dim; i++) mean[i] = odd(8, (uint64_t)i, 0.2, 0.6);
    for (int i = 0; i < dim * dim; i++) factor[i] = odd(9, (uint64_t)i, -0.3, 0.3) + (i % (dim + 1) == 0 ? 1.1 : 0);
    assert_ok(context, ais_kernel_whiten(&context, kernel, mean, factor));
    return kernel;
}

#endif
