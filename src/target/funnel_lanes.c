#include "target/funnel_lanes.h"

#include <float.h>

#include "base/constants.h"
#include "simd/math.h"

/* -v^2/18 - (dim-1) v/2 is kept as one product, and both factors of square exp(-v) are kept finite,
 * so that no corner gives inf - inf or 0 inf. */
static void block(const void *data, size_t stride, const double *x, double *logp) {
    int dim = *(const int *)data;
    double square[AIS_LANES] = {0}, half = 0.5 * (dim - 1);
    double constant = -0.5 * dim * AIS_LOG_2PI - 1.0986122886681098; /* log 3 */
    for (int i = 1; i < dim; i++) {
        const double *row = x + (size_t)i * stride;
#pragma omp simd
        for (int c = 0; c < AIS_LANES; c++) square[c] += row[c] * row[c];
    }
#pragma omp simd
    for (int c = 0; c < AIS_LANES; c++) {
        double v = x[c], bound = v > -709 ? -v : 709;
        square[c] = square[c] > DBL_MAX ? DBL_MAX : square[c];
        logp[c] = constant - v * (v / 18 + half) - 0.5 * square[c] * exp(bound);
    }
}

void AIS_ISA(ais_funnel_block)(const void *data, size_t count, size_t stride, const double *x, double *logp) {
    for (size_t c = 0; c < count; c += AIS_LANES) block(data, stride, x + c, logp + c);
}
