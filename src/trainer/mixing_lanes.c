#include "trainer/mixing_lanes.h"

#include "simd/math.h"

static inline void angles(const ais_feature_set *set, int wave, size_t lanes, const double *x, double *angle) {
    for (size_t c = 0; c < AIS_LANES; c++) angle[c] = set->phase[wave];
    for (int i = 0; i < set->dim; i++) {
        double by = set->frequency[wave * set->dim + i];
        for (size_t c = 0; c < AIS_LANES; c++) angle[c] += by * x[(size_t)i * lanes + c];
    }
}

void AIS_ISA(ais_features)(const ais_feature_set *set, size_t lanes, const double *x, double *f) {
    size_t rows = (size_t)set->dim * lanes;
    for (size_t i = 0; i < rows; i++) {
        f[i] = x[i];
        f[rows + i] = x[i] * x[i];
    }
    for (int wave = 0; wave < set->waves; wave++)
        for (size_t first = 0; first < lanes; first += AIS_LANES) {
            double angle[AIS_LANES], *to = f + 2 * rows + (size_t)wave * lanes + first;
            angles(set, wave, lanes, x + first, angle);
#pragma omp simd
            for (int c = 0; c < AIS_LANES; c++) to[c] = cos(angle[c]);
        }
}

void AIS_ISA(ais_features_backward)(const ais_feature_set *set, size_t lanes, const double *x, const double *gradient_f,
                                    double *gradient_x) {
    size_t rows = (size_t)set->dim * lanes;
    for (size_t i = 0; i < rows; i++) gradient_x[i] += gradient_f[i] + 2 * x[i] * gradient_f[rows + i];
    for (int wave = 0; wave < set->waves; wave++)
        for (size_t first = 0; first < lanes; first += AIS_LANES) {
            double angle[AIS_LANES];
            const double *from = gradient_f + 2 * rows + (size_t)wave * lanes + first;
            angles(set, wave, lanes, x + first, angle);
#pragma omp simd
            for (int c = 0; c < AIS_LANES; c++) angle[c] = -sin(angle[c]) * from[c];
            for (int i = 0; i < set->dim; i++) {
                double by = set->frequency[wave * set->dim + i], *to = gradient_x + (size_t)i * lanes + first;
                for (size_t c = 0; c < AIS_LANES; c++) to[c] += by * angle[c];
            }
        }
}
