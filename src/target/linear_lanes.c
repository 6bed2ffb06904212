#include "target/linear_lanes.h"
#include "simd/math.h"

static void block(const ais_linear *linear, size_t stride, const double *x, double *logp) {
    int columns = linear->columns;
    double square[AIS_LANES], prior[AIS_LANES] = {0};
    const double *log_sigma = x + (size_t)columns * stride;
    for (int c = 0; c < AIS_LANES; c++) square[c] = linear->rest;
    for (int i = 0; i < columns; i++) {
        const double *factor = linear->factor + (size_t)i * (size_t)columns, *own = x + (size_t)i * stride;
        double sum[AIS_LANES], rate = linear->half_precision[i], goal = linear->goal[i];
#pragma omp simd
        for (int c = 0; c < AIS_LANES; c++) sum[c] = -goal;
        for (int j = i; j < columns; j++) {
            const double *weight = x + (size_t)j * stride;
            double entry = factor[j];
#pragma omp simd
            for (int c = 0; c < AIS_LANES; c++) sum[c] += entry * weight[c];
        }
#pragma omp simd
        for (int c = 0; c < AIS_LANES; c++) {
            square[c] += sum[c] * sum[c];
            prior[c] += rate * own[c] * own[c];
        }
    }
#pragma omp simd
    for (int c = 0; c < AIS_LANES; c++) {
        double sigma = exp(log_sigma[c]);
        logp[c] =
            linear->constant - prior[c] + (1 - linear->rows) * log_sigma[c] - sigma - 0.5 * square[c] / (sigma * sigma);
    }
}

void AIS_ISA(ais_linear_block)(const void *data, size_t count, size_t stride, const double *x, double *logp) {
    for (size_t c = 0; c < count; c += AIS_LANES) block(data, stride, x + c, logp + c);
}
