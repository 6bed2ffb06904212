#include "target/mixture_lanes.h"
#include "simd/math.h"

/* log sum_k exp(term_k), the largest term taken out; -inf when all are. */
void AIS_ISA(ais_mixture_block)(const void *data, size_t stride, const double *x, double *logp) {
    const ais_mixture *mixture = data;
    double term[AIS_MIXTURE_MOST][AIS_LANES], top[AIS_LANES], sum[AIS_LANES];
    for (int c = 0; c < AIS_LANES; c++) top[c] = -INFINITY;
    for (int k = 0; k < mixture->components; k++) {
        const double *centre = mixture->centre + (size_t)k * (size_t)mixture->dim;
        double square[AIS_LANES] = {0};
        for (int i = 0; i < mixture->dim; i++) {
            const double *row = x + (size_t)i * stride;
#pragma omp simd
            for (int c = 0; c < AIS_LANES; c++) square[c] += (row[c] - centre[i]) * (row[c] - centre[i]);
        }
#pragma omp simd
        for (int c = 0; c < AIS_LANES; c++) {
            term[k][c] = mixture->constant[k] - mixture->half_precision[k] * square[c];
            top[c] = term[k][c] > top[c] ? term[k][c] : top[c];
        }
    }
#pragma omp simd
    for (int c = 0; c < AIS_LANES; c++) {
        top[c] = top[c] >= -1e308 ? top[c] : 0;
        sum[c] = 0;
    }
    for (int k = 0; k < mixture->components; k++) {
#pragma omp simd
        for (int c = 0; c < AIS_LANES; c++) sum[c] += exp(term[k][c] - top[c]);
    }
#pragma omp simd
    for (int c = 0; c < AIS_LANES; c++) logp[c] = top[c] + log(sum[c]);
}
