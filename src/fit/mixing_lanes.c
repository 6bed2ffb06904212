#include "fit/mixing_lanes.h"

#include "simd/math.h"

static inline void angles(const ais_feature_set *set, int wave, size_t lanes, const double *x, double *angle) {
    for (size_t c = 0; c < AIS_LANES; c++) angle[c] = set->phase[wave];
    for (int i = 0; i < set->dim; i++) {
        double by = set->frequency[wave * set->dim + i];
        for (size_t c = 0; c < AIS_LANES; c++) angle[c] += by * x[(size_t)i * lanes + c];
    }
}

static inline void radii(const ais_feature_set *set, size_t lanes, const double *x, double *radius) {
    for (size_t c = 0; c < AIS_LANES; c++) radius[c] = 0;
    for (int i = 0; i < set->dim; i++)
        for (size_t c = 0; c < AIS_LANES; c++) {
            double off = x[(size_t)i * lanes + c] - set->centre[i];
            radius[c] += off * off;
        }
    for (size_t c = 0; c < AIS_LANES; c++) radius[c] = sqrt(radius[c]);
}

static void ripples(const ais_feature_set *set, size_t lanes, const double *x, double *f) {
    for (size_t first = 0; first < lanes && set->ripples > 0; first += AIS_LANES) {
        double radius[AIS_LANES];
        radii(set, lanes, x + first, radius);
        for (int k = 0; k < set->ripples; k++) {
            double *to = f + (size_t)k * lanes + first, pitch = set->pitch[k], start = set->start[k];
#pragma omp simd
            for (int c = 0; c < AIS_LANES; c++) to[c] = cos(pitch * radius[c] + start);
        }
    }
}

/* Towards the centre itself the gradient has no direction and is left out. */
static void ripples_backward(const ais_feature_set *set, size_t lanes, const double *x, const double *gradient_f,
                             double *gradient_x) {
    for (size_t first = 0; first < lanes && set->ripples > 0; first += AIS_LANES) {
        double radius[AIS_LANES], slope[AIS_LANES] = {0};
        radii(set, lanes, x + first, radius);
        for (int k = 0; k < set->ripples; k++) {
            const double *from = gradient_f + (size_t)k * lanes + first;
            double pitch = set->pitch[k], start = set->start[k];
#pragma omp simd
            for (int c = 0; c < AIS_LANES; c++) slope[c] -= pitch * sin(pitch * radius[c] + start) * from[c];
        }
        for (size_t c = 0; c < AIS_LANES; c++) slope[c] = radius[c] > 0 ? slope[c] / radius[c] : 0;
        for (size_t i = 0; i < (size_t)set->dim; i++)
            for (size_t c = 0; c < AIS_LANES; c++)
                gradient_x[i * lanes + first + c] += slope[c] * (x[i * lanes + first + c] - set->centre[i]);
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
    ripples(set, lanes, x, f + 2 * rows + (size_t)set->waves * lanes);
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
    ripples_backward(set, lanes, x, gradient_f + 2 * rows + (size_t)set->waves * lanes, gradient_x);
}
