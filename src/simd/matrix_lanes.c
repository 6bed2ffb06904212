#include "simd/matrix_lanes.h"

void AIS_ISA(ais_matrix_apply)(int n, size_t lanes, const double *matrix, const double *offset, const double *in,
                               double *out) {
    for (size_t first = 0; first < lanes; first += AIS_LANES)
        for (int i = 0; i < n; i++) {
            double sum[AIS_LANES];
            for (int c = 0; c < AIS_LANES; c++) sum[c] = offset ? offset[i] : 0;
            for (int j = 0; j < n; j++) {
                double factor = matrix[(size_t)i * (size_t)n + (size_t)j];
                if (factor == 0) continue; /* diagonal whitenings are common */
                const double *row = in + (size_t)j * lanes + first;
#pragma omp simd
                for (int c = 0; c < AIS_LANES; c++) sum[c] += factor * row[c];
            }
            for (int c = 0; c < AIS_LANES; c++) out[(size_t)i * lanes + first + (size_t)c] = sum[c];
        }
}
