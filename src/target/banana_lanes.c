#include "target/banana_lanes.h"
#include "simd/math.h"

static void block(const void *data, size_t stride, const double *x, double *logp) {
    const ais_banana *banana = data;
    double sum[AIS_LANES], b = banana->b;
#pragma omp simd
    for (int c = 0; c < AIS_LANES; c++) {
        double first = x[c], straight = x[stride + (size_t)c] + b * (first * first - 100);
        sum[c] = 0.01 * first * first + straight * straight;
    }
    for (int i = 2; i < banana->dim; i++) {
        const double *row = x + (size_t)i * stride;
#pragma omp simd
        for (int c = 0; c < AIS_LANES; c++) sum[c] += row[c] * row[c];
    }
#pragma omp simd
    for (int c = 0; c < AIS_LANES; c++) logp[c] = banana->constant - 0.5 * sum[c];
}

void AIS_ISA(ais_banana_block)(const void *data, size_t count, size_t stride, const double *x, double *logp) {
    for (size_t c = 0; c < count; c += AIS_LANES) block(data, stride, x + c, logp + c);
}
