#include "simd/matrix_lanes.h"
#include "simd/doubles.h"

enum { ROWS = 3, SPAN = 16 / AIS_WORDS < 4 ? 16 / AIS_WORDS : 4 }; /* up to 12 sums in registers */

/* Rows i to i + rows of AIS_WORDS x SPAN lanes; rows is a constant after inlining. */
AIS_INLINE void apply(int rows, int n, size_t lanes, const double *matrix, const double *offset, const double *in,
                      double *out) {
    ais_doubles sum[ROWS][SPAN];
    for (int r = 0; r < rows; r++)
        for (int s = 0; s < SPAN; s++) sum[r][s] = ais_spread_double(offset ? offset[r] : 0);
    for (int j = 0; j < n; j++) {
        bool any = false;
        for (int r = 0; r < rows; r++) any |= matrix[r * n + j] != 0;
        if (!any) continue; /* triangular and diagonal whitenings are common */
        for (int s = 0; s < SPAN; s++) {
            ais_doubles value = ais_load(in + (size_t)j * lanes + (size_t)(s * AIS_WORDS));
            for (int r = 0; r < rows; r++)
                sum[r][s] = ais_fma_double(ais_spread_double(matrix[r * n + j]), value, sum[r][s]);
        }
    }
    for (int r = 0; r < rows; r++)
        for (int s = 0; s < SPAN; s++) ais_store(out + (size_t)r * lanes + (size_t)(s * AIS_WORDS), sum[r][s]);
}

void AIS_ISA(ais_matrix_apply)(int n, size_t lanes, const double *matrix, const double *offset, const double *in,
                               double *out) {
    for (size_t first = 0; first < lanes; first += (size_t)(SPAN * AIS_WORDS)) {
        int i = 0;
        for (; i + ROWS <= n; i += ROWS)
            apply(ROWS, n, lanes, matrix + (size_t)(i * n), offset ? offset + i : NULL, in + first,
                  out + (size_t)i * lanes + first);
        for (; i < n; i++)
            apply(1, n, lanes, matrix + (size_t)(i * n), offset ? offset + i : NULL, in + first,
                  out + (size_t)i * lanes + first);
    }
}
