#include "target/poisson_lanes.h"
#include "simd/math.h"

static void block(const ais_poisson *poisson, size_t stride, const double *w, double *logp) {
    double sum[AIS_LANES] = {0}, rate[AIS_LANES] = {0};
    for (int i = 0; i < poisson->dim; i++) {
        const double *weight = w + (size_t)i * stride;
        double total = poisson->total[i], half = poisson->half_precision[i];
#pragma omp simd
        for (int c = 0; c < AIS_LANES; c++) sum[c] += total * weight[c] - half * weight[c] * weight[c];
    }
    for (size_t row = 0; row < poisson->rows; row++) {
        const double *covariate = poisson->covariate + row * (size_t)poisson->dim;
        double z[AIS_LANES] = {0};
        for (int i = 0; i < poisson->dim; i++) {
            const double *weight = w + (size_t)i * stride;
            double value = covariate[i];
#pragma omp simd
            for (int c = 0; c < AIS_LANES; c++) z[c] += value * weight[c];
        }
#pragma omp simd
        for (int c = 0; c < AIS_LANES; c++) rate[c] += exp(z[c]);
    }
#pragma omp simd
    for (int c = 0; c < AIS_LANES; c++) logp[c] = poisson->constant + sum[c] - rate[c];
}

void AIS_ISA(ais_poisson_block)(const void *data, size_t count, size_t stride, const double *w, double *logp) {
    for (size_t c = 0; c < count; c += AIS_LANES) block(data, stride, w + c, logp + c);
}

/* Rows in chunks, whose exponentials are taken at once. */
double AIS_ISA(ais_poisson_point)(const ais_poisson *poisson, const double *w, double *gradient) {
    enum { CHUNK = 64 };
    size_t dim = (size_t)poisson->dim;
    double value = poisson->constant, rate[CHUNK];
    for (size_t i = 0; i < dim; i++) {
        value += poisson->total[i] * w[i] - poisson->half_precision[i] * w[i] * w[i];
        if (gradient) gradient[i] = poisson->total[i] - 2 * poisson->half_precision[i] * w[i];
    }
    for (size_t row = 0; row < poisson->rows; row += CHUNK) {
        size_t left = poisson->rows - row, count = left < CHUNK ? left : CHUNK;
        const double *covariate = poisson->covariate + row * dim;
        for (size_t r = 0; r < count; r++) {
            double z = 0;
            for (size_t i = 0; i < dim; i++) z += covariate[r * dim + i] * w[i];
            rate[r] = z;
        }
#pragma omp simd
        for (size_t r = 0; r < count; r++) rate[r] = exp(rate[r]);
        for (size_t r = 0; r < count; r++) {
            value -= rate[r];
            if (!gradient) continue;
#pragma omp simd
            for (size_t i = 0; i < dim; i++) gradient[i] -= rate[r] * covariate[r * dim + i];
        }
    }
    return value;
}
