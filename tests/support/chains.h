/* Draws with known laws, for tests of diagnostics, and asserts on doubles. Include after cmocka.h. */
#ifndef TESTS_CHAINS_H
#define TESTS_CHAINS_H

#include <math.h>
#include <stdlib.h>

#include "base/random.h"
#include "simd/normal.h"

static inline int is_near(double value, double truth, double tolerance) {
    if (fabs(value - truth) <= tolerance) return 1; /* false for NaN */
    print_error("%.17g is not within %g of %.17g\n", value, tolerance, truth);
    return 0;
}
#define assert_near(value, truth, tolerance) assert_true(is_near((value), (truth), (tolerance)))
#define assert_relative(value, truth, tolerance)                                                                       \
    assert_true(is_near((value), (truth), (tolerance)*fabs((double)(truth))))
#define assert_between(value, low, high) assert_true(is_near((value), 0.5 * ((low) + (high)), 0.5 * ((high) - (low))))

/* chains x draws of a stationary AR(1) with unit variance, mean 0: correlation rho^t at lag t. rho 0: independent. */
static inline double *ar1_chains(uint64_t seed, int chains, int draws, double rho) {
    double *x = malloc((size_t)chains * (size_t)draws * sizeof *x);
    assert_non_null(x);
    for (int c = 0; c < chains; c++) {
        double *chain = x + (size_t)c * (size_t)draws;
        ais_normals(&(ais_stream){.seed = seed, .chain = (uint32_t)c, .purpose = AIS_FOR_USER}, (size_t)draws, chain);
        for (int t = 1; t < draws; t++) chain[t] = rho * chain[t - 1] + sqrt(1 - rho * rho) * chain[t];
    }
    return x;
}

#endif
