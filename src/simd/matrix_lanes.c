#include "simd/matrix_lanes.h"
#include "simd/doubles.h"

enum { ROWS = 3, SPAN = 16 / AIS_WORDS < 4 ? 16 / AIS_WORDS : 4 }; /* up to 12 sums in registers */

/* Some rows of AIS_WORDS x span lanes; rows and span are constants after inlining. */
AIS_INLINE void apply(int rows, int span, int n, size_t lanes, const double *matrix, const double *offset,
                      const double *in, double *out) {
    ais_doubles sum[ROWS][SPAN];
    for (int r = 0; r < rows; r++)
        for (int s = 0; s < span; s++) sum[r][s] = ais_spread_double(offset ? offset[r] : 0);
    for (int j = 0; j < n; j++) {
        bool any = false;
        for (int r = 0; r < rows; r++) any |= matrix[r * n + j] != 0;
        if (!any) continue; /* triangular and diagonal whitenings are common */
        for (int s = 0; s < span; s++) {
            ais_doubles value = ais_load(in + (size_t)j * lanes + (size_t)(s * AIS_WORDS));
            for (int r = 0; r < rows; r++)
                sum[r][s] = ais_fma_double(ais_spread_double(matrix[r * n + j]), value, sum[r][s]);
        }
    }
    for (int r = 0; r < rows; r++)
        for (int s = 0; s < span; s++) ais_store(out + (size_t)r * lanes + (size_t)(s * AIS_WORDS), sum[r][s]);
}

AIS_INLINE void apply_all(int span, int n, size_t lanes, const double *matrix, const double *offset, const double *in,
                          double *out) {
    int i = 0;
    for (; i + ROWS <= n; i += ROWS)
        apply(ROWS, span, n, lanes, matrix + (size_t)(i * n), offset ? offset + i : NULL, in, out + (size_t)i * lanes);
    for (; i < n; i++)
        apply(1, span, n, lanes, matrix + (size_t)(i * n), offset ? offset + i : NULL, in, out + (size_t)i * lanes);
}

void AIS_ISA(ais_matrix_apply)(int n, size_t lanes, size_t count, const double *matrix, const double *offset,
                               const double *in, double *out) {
    size_t c = 0;
    for (; c + SPAN * AIS_WORDS <= count; c += SPAN * AIS_WORDS)
        apply_all(SPAN, n, lanes, matrix, offset, in + c, out + c);
    for (; c < count; c += AIS_WORDS) apply_all(1, n, lanes, matrix, offset, in + c, out + c);
}
