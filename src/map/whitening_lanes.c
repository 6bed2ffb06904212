#include "map/whitening_lanes.h"

#include "simd/doubles.h"

/* A tile of ROWS rows by up to SPAN vectors of sums stays in registers over COLUMNS columns. More columns would not
 * stay in the first cache: rows of in lie a power of two of bytes apart, and share the few places that such addresses
 * have. */
enum { ROWS = 3, SPAN = 16 / AIS_WORDS < 4 ? 16 / AIS_WORDS : 4, COLUMNS = 32 };

void AIS_ISA(ais_diagonal_apply)(int n, size_t lanes, size_t count, const double *matrix, const double *offset,
                                 const double *in, double *out) {
    for (size_t i = 0; i < (size_t)n; i++, in += lanes, out += lanes) {
        ais_doubles factor = ais_spread_double(matrix[i * (size_t)n + i]), shift = ais_spread_double(offset[i]);
        for (size_t c = 0; c < count; c += AIS_WORDS)
            ais_store(out + c, ais_fma_double(factor, ais_load(in + c), shift));
    }
}

/* Columns first to end of some rows, added to what out has, or to the offset when nothing came before. rows and span
 * are constants after inlining. */
AIS_INLINE void add_columns(int rows, int span, int n, int first, int end, size_t lanes, const double *matrix,
                            const double *offset, const double *in, double *out) {
    ais_doubles sum[ROWS][SPAN];
    for (int r = 0; r < rows; r++)
        for (int s = 0; s < span; s++)
            sum[r][s] =
                first ? ais_load(out + (size_t)r * lanes + (size_t)(s * AIS_WORDS)) : ais_spread_double(offset[r]);
    for (int j = first; j < end; j++)
        for (int s = 0; s < span; s++) {
            ais_doubles value = ais_load(in + (size_t)j * lanes + (size_t)(s * AIS_WORDS));
            for (int r = 0; r < rows; r++)
                sum[r][s] = ais_fma_double(ais_spread_double(matrix[r * n + j]), value, sum[r][s]);
        }
    for (int r = 0; r < rows; r++)
        for (int s = 0; s < span; s++) ais_store(out + (size_t)r * lanes + (size_t)(s * AIS_WORDS), sum[r][s]);
}

AIS_INLINE void add_tile(int rows, int span, int n, bool lower, int first, int row, size_t lanes, const double *matrix,
                         const double *offset, const double *in, double *out) {
    int end = first + COLUMNS < n ? first + COLUMNS : n;
    if (lower && end > row + rows) end = row + rows;
    if (first < end)
        add_columns(rows, span, n, first, end, lanes, matrix + (size_t)row * (size_t)n, offset + row, in,
                    out + (size_t)row * lanes);
}

AIS_INLINE void apply(int span, int n, bool lower, size_t lanes, const double *matrix, const double *offset,
                      const double *in, double *out) {
    for (int first = 0; first < n; first += COLUMNS) {
        int row = 0;
        for (; row + ROWS <= n; row += ROWS) add_tile(ROWS, span, n, lower, first, row, lanes, matrix, offset, in, out);
        for (; row < n; row++) add_tile(1, span, n, lower, first, row, lanes, matrix, offset, in, out);
    }
}

void AIS_ISA(ais_dense_apply)(int n, bool lower, size_t lanes, size_t count, const double *matrix, const double *offset,
                              const double *in, double *out) {
    size_t c = 0;
    for (; c + SPAN * AIS_WORDS <= count; c += SPAN * AIS_WORDS)
        apply(SPAN, n, lower, lanes, matrix, offset, in + c, out + c);
    for (; c < count; c += AIS_WORDS) apply(1, n, lower, lanes, matrix, offset, in + c, out + c);
}

void AIS_ISA(ais_point_apply)(int n, int before, int after, const double *matrix, const double *offset,
                              const double *in, double *out) {
    enum { TOGETHER = 8 }; /* rows, whose sums need not wait for one another */
    for (int row = 0; row < n; row += TOGETHER) {
        int rows = n - row < TOGETHER ? n - row : TOGETHER;
        int first = row > before ? row - before : 0, end = n - row - rows > after ? row + rows + after : n;
        double sum[TOGETHER];
        for (int r = 0; r < rows; r++) sum[r] = offset[row + r];
        if (rows == TOGETHER)
            for (int j = first; j < end; j++)
                for (int r = 0; r < TOGETHER; r++)
                    sum[r] = ais_fma_one(matrix[(size_t)(row + r) * (size_t)n + (size_t)j], in[j], sum[r]);
        else
            for (int j = first; j < end; j++)
                for (int r = 0; r < rows; r++)
                    sum[r] = ais_fma_one(matrix[(size_t)(row + r) * (size_t)n + (size_t)j], in[j], sum[r]);
        for (int r = 0; r < rows; r++) out[row + r] = sum[r];
    }
}

/* By rows of M, which lie as they are read. */
void AIS_ISA(ais_point_transposed)(int n, int before, int after, const double *matrix, const double *in, double *out) {
    memset(out, 0, (size_t)n * sizeof *out);
    for (int i = 0; i < n; i++, matrix += n) {
        int first = i > before ? i - before : 0, end = n - i - 1 > after ? i + 1 + after : n;
#pragma omp simd
        for (int j = first; j < end; j++) out[j] += matrix[j] * in[i];
    }
}
