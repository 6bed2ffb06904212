#include "map/feature_lanes.h"

static const ais_real linear = (ais_real)ais_linear_feature, quadratic_centre = (ais_real)ais_quadratic_feature;

void AIS_ISA(ais_flow_features)(bool quadratic, int kept, const int *index, size_t lanes, const double *z,
                                ais_real *feature) {
    ais_real scale = quadratic ? linear : 1, *to = feature + (size_t)kept * lanes;
    for (int i = 0; i < kept; i++) {
        const double *from = z + (size_t)index[i] * lanes;
        ais_real *scaled = feature + (size_t)i * lanes;
#pragma omp simd
        for (size_t c = 0; c < lanes; c++) scaled[c] = scale * (ais_real)from[c];
    }
    for (int i = 0; i < kept && quadratic; i++)
        for (int j = i; j < kept; j++, to += lanes) {
            const ais_real *a = feature + (size_t)i * lanes, *b = feature + (size_t)j * lanes;
            ais_real centre = i == j ? quadratic_centre : 0;
#pragma omp simd
            for (size_t c = 0; c < lanes; c++) to[c] = a[c] * b[c] - centre;
        }
}

void AIS_ISA(ais_flow_features_backward)(bool quadratic, int kept, const int *index, size_t lanes,
                                         const ais_real *feature, const ais_real *gradient_feature, double *gradient) {
    ais_real scale = quadratic ? linear : 1;
    const ais_real *from = gradient_feature + (size_t)kept * lanes;
    for (int i = 0; i < kept; i++) {
        double *to = gradient + (size_t)index[i] * lanes;
#pragma omp simd
        for (size_t c = 0; c < lanes; c++) to[c] += (double)(scale * gradient_feature[(size_t)i * lanes + c]);
    }
    for (int i = 0; i < kept && quadratic; i++)
        for (int j = i; j < kept; j++, from += lanes) {
            double *to_i = gradient + (size_t)index[i] * lanes, *to_j = gradient + (size_t)index[j] * lanes;
            const ais_real *a = feature + (size_t)i * lanes, *b = feature + (size_t)j * lanes;
            for (size_t c = 0; c < lanes; c++) { /* to_i and to_j are one when i = j */
                to_i[c] += (double)(linear * from[c] * b[c]);
                to_j[c] += (double)(linear * from[c] * a[c]);
            }
        }
}
