#include "target/gaussian_lanes.h"
#include "simd/math.h"

/* y = Q'x = x - V T' V'x, one coordinate at a time. */
static void block(const void *data, size_t stride, const double *x, double *logp) {
    const ais_gaussian *gaussian = data;
    double along[AIS_REFLECTIONS][AIS_LANES] = {{0}}, back[AIS_REFLECTIONS][AIS_LANES] = {{0}}, sum[AIS_LANES] = {0};
    for (int i = 0; i < gaussian->dim && gaussian->reflections; i++) {
        const double *row = x + (size_t)i * stride, *v = gaussian->v + (size_t)i * AIS_REFLECTIONS;
        for (int k = 0; k < AIS_REFLECTIONS; k++)
#pragma omp simd
            for (int c = 0; c < AIS_LANES; c++) along[k][c] += v[k] * row[c];
    }
    for (int k = 0; k < gaussian->reflections; k++)
        for (int l = 0; l <= k; l++)
#pragma omp simd
            for (int c = 0; c < AIS_LANES; c++) back[k][c] += gaussian->t[l][k] * along[l][c];
    for (int i = 0; i < gaussian->dim; i++) {
        const double *row = x + (size_t)i * stride, *v = gaussian->v + (size_t)i * AIS_REFLECTIONS;
        double y[AIS_LANES];
#pragma omp simd
        for (int c = 0; c < AIS_LANES; c++) y[c] = row[c];
        for (int k = 0; k < gaussian->reflections; k++)
#pragma omp simd
            for (int c = 0; c < AIS_LANES; c++) y[c] -= v[k] * back[k][c];
        double rate = gaussian->half_precision[i];
#pragma omp simd
        for (int c = 0; c < AIS_LANES; c++) sum[c] += rate * y[c] * y[c];
    }
#pragma omp simd
    for (int c = 0; c < AIS_LANES; c++) logp[c] = gaussian->constant - sum[c];
}

void AIS_ISA(ais_gaussian_block)(const void *data, size_t count, size_t stride, const double *x, double *logp) {
    for (size_t c = 0; c < count; c += AIS_LANES) block(data, stride, x + c, logp + c);
}
