#include "target/regression_lanes.h"

#include "simd/doubles.h"
#include "simd/math.h"
#include <stdint.h>
#include <string.h>

enum {
    GROUP = 4, /* rows, and */
    SPAN = 2,  /* vectors of lanes whose sums are in registers at once: 8 of 16, enough to hide the latency */
};

static inline ais_doubles absolute(ais_doubles value) { return (ais_doubles)((ais_longs)value & INT64_MAX); }

/* exp(-a) for a >= 0, to about 2e-16: 2^k exp(r), |r| <= log(2)/2, by Taylor's series. What is beyond
 * 700 counts as 700, and NaN too: a weight that is not a number shows in the prior. Our own, because
 * a call of the library's would put every sum into memory. */
static inline ais_doubles exp_of_minus(ais_doubles a) {
    const double magic = 0x1.8p52;
    a = ais_pick(a < 700.0, a, ais_spread_double(700));
    ais_doubles shifted = magic - a * 1.4426950408889634; /* k in the low ais_longs */
    ais_doubles k = shifted - magic;
    ais_doubles r = -a - k * 0x1.62e42fefa0000p-1 - k * 0x1.cf79abc9e3b3ap-40; /* log(2) in two parts */
    ais_doubles r2 = r * r, r4 = r2 * r2;
    ais_doubles p0 = 1 + r, p1 = 1.0 / 2 + r * (1.0 / 6), p2 = 1.0 / 24 + r * (1.0 / 120);
    ais_doubles p3 = 1.0 / 720 + r * (1.0 / 5040), p4 = 1.0 / 40320 + r * (1.0 / 362880);
    ais_doubles p5 = 1.0 / 3628800 + r * (1.0 / 39916800), p6 = ais_spread_double(1.0 / 479001600);
    ais_doubles low = p0 + r2 * p1, middle = p2 + r2 * p3, high = p4 + r2 * (p5 + r2 * p6);
    ais_doubles value = low + r4 * (middle + r4 * high);
    return (ais_doubles)((ais_longs)value + ((ais_longs)shifted << 52));
}

/* The smaller one; b where a is NaN. */
static inline ais_doubles smaller(ais_doubles a, ais_doubles b) {
#if defined(__AVX512F__)
    return (ais_doubles)_mm512_min_pd((__m512d)a, (__m512d)b);
#elif defined(__AVX__)
    return (ais_doubles)_mm256_min_pd((__m256d)a, (__m256d)b);
#elif defined(__SSE2__)
    return (ais_doubles)_mm_min_pd((__m128d)a, (__m128d)b);
#else
    return ais_pick(a < b, a, b);
#endif
}

/* 2^-a for a >= 0, to 8e-13: 2^k 2^-q with |q| <= 1/2 by the polynomial of degree 8 with the least relative error.
 * Beside 1, what is beyond 64 counts as 64, and NaN too. The density is then right to 1e-12 of itself, and a third
 * of the arithmetic of exp_of_minus is saved. */
static inline ais_doubles power_of_half(ais_doubles a) {
    const double magic = 0x1.8p52;
    a = smaller(a, ais_spread_double(64));
    ais_doubles shifted = magic - a; /* k in the low ais_longs */
    ais_doubles q = a + (shifted - magic), q2 = q * q;
    ais_doubles even = 0.00015403851744514194 + q2 * 1.317585882142459e-06;
    ais_doubles odd = -0.0013333452062791777 + q2 * -1.5309737294734561e-05;
    even = 0.0096181285428704102 + q2 * even;
    odd = -0.05550410939341089 + q2 * odd;
    even = 0.24022650698880321 + q2 * even;
    odd = -0.69314718054651436 + q2 * odd;
    even = 0.9999999999997623 + q2 * even;
    ais_doubles value = even + q * odd;
    return (ais_doubles)((ais_longs)value + ((ais_longs)shifted << 52));
}

/* The sums of one span of lanes, in units of log 2: of z + |z| = 2 max(z, 0), and the product of 1 + 2^-|z|. */
typedef struct folded {
    ais_doubles top[SPAN], product[SPAN];
} folded;

/* Folds in GROUP rows. The unrolling lets the arrays live in registers. */
static inline void fold_group(int dim, const double *group, size_t stride, const double *w, folded *into) {
    ais_doubles z[GROUP][SPAN];
#pragma GCC unroll 8
    for (int r = 0; r < GROUP; r++)
#pragma GCC unroll 8
        for (int s = 0; s < SPAN; s++) z[r][s] = ais_spread_double(0);
    for (int i = 0; i < dim; i++, w += stride, group += GROUP)
#pragma GCC unroll 8
        for (int r = 0; r < GROUP; r++)
#pragma GCC unroll 8
            for (int s = 0; s < SPAN; s++) z[r][s] += group[r] * ais_load(w + s * AIS_WORDS);
#pragma GCC unroll 8
    for (int r = 0; r < GROUP; r++)
#pragma GCC unroll 8
        for (int s = 0; s < SPAN; s++) {
            ais_doubles a = absolute(z[r][s]);
            into->top[s] += z[r][s] + a;
            into->product[s] += into->product[s] * power_of_half(a);
        }
}

/* Folds in a tile of up to AIS_TILE_ROWS rows for AIS_LANES points. */
static void fold_tile(int dim, int rows, const double *group, size_t stride, const double *w, double *top,
                      double *product) {
    for (int c = 0; c < AIS_LANES; c += SPAN * AIS_WORDS) {
        folded sums;
#pragma GCC unroll 8
        for (int s = 0; s < SPAN; s++) {
            sums.top[s] = ais_load(top + c + s * AIS_WORDS);
            sums.product[s] = ais_load(product + c + s * AIS_WORDS);
        }
        for (int r = 0; r < rows; r += GROUP) fold_group(dim, group + (size_t)r * (size_t)dim, stride, w + c, &sums);
#pragma GCC unroll 8
        for (int s = 0; s < SPAN; s++) {
            ais_store(top + c + s * AIS_WORDS, sums.top[s]);
            ais_store(product + c + s * AIS_WORDS, sums.product[s]);
        }
    }
}

void AIS_ISA(ais_regression_block)(const void *data, size_t stride, const double *w, double *logp) {
    const ais_regression *regression = data;
    const double log_2 = 0.69314718055994530942;
    size_t dim = (size_t)regression->dim, rows = (regression->rows + GROUP - 1) / GROUP * GROUP;
    double top[AIS_LANES] = {0}, product[AIS_LANES], logs[AIS_LANES] = {0}, square[AIS_LANES] = {0};
    for (int c = 0; c < AIS_LANES; c++) product[c] = 1;
    for (size_t row = 0; row < rows; row += AIS_TILE_ROWS) {
        size_t left = rows - row, count = left < AIS_TILE_ROWS ? left : AIS_TILE_ROWS;
        fold_tile(regression->dim, (int)count, regression->by_group + row * dim, stride, w, top, product);
        if ((row + AIS_TILE_ROWS) % AIS_PRODUCT_ROWS != 0 && left > AIS_TILE_ROWS) continue;
#pragma omp simd
        for (int c = 0; c < AIS_LANES; c++) {
            logs[c] += log(product[c]);
            product[c] = 1;
        }
    }
    for (size_t i = 0; i < dim; i++)
#pragma omp simd
        for (int c = 0; c < AIS_LANES; c++) square[c] += w[i * stride + (size_t)c] * w[i * stride + (size_t)c];
    double constant = regression->constant + (double)(rows - regression->rows) * log_2;
#pragma omp simd
    for (int c = 0; c < AIS_LANES; c++)
        logp[c] = constant - regression->half_precision * square[c] - 0.5 * log_2 * top[c] - logs[c];
}

/* One point: lanes are rows. */
enum { TILE_VECTORS = AIS_TILE_ROWS / AIS_WORDS, CHUNK = 4 * AIS_TILE_ROWS };

static inline double sum_of(ais_doubles value) {
    double parts[AIS_WORDS], total = 0;
    ais_store(parts, value);
    for (int k = 0; k < AIS_WORDS; k++) total += parts[k];
    return total;
}

/* Folds in a tile of rows; chance[r] = 1 / (1 + exp(-z)), the derivative of log(1 + exp(z)). */
static inline void fold_rows(const ais_regression *regression, size_t row, const double *w, ais_doubles *top,
                             ais_doubles *product, double *chance) {
    ais_doubles z[TILE_VECTORS];
#pragma GCC unroll 16
    for (int s = 0; s < TILE_VECTORS; s++) z[s] = ais_spread_double(0);
    for (int i = 0; i < regression->dim; i++) {
        const double *column = regression->by_column + (size_t)i * regression->padded + row;
#pragma GCC unroll 16
        for (int s = 0; s < TILE_VECTORS; s++) z[s] += w[i] * ais_load(column + s * AIS_WORDS);
    }
#pragma GCC unroll 16
    for (int s = 0; s < TILE_VECTORS; s++) {
        ais_doubles a = absolute(z[s]), e = exp_of_minus(a), factor = 1 + e;
        *top += z[s] + a;
        *product *= factor;
        if (chance) ais_store(chance + s * AIS_WORDS, ais_pick(z[s] > 0.0, ais_spread_double(1), e) / factor);
    }
}

/* gradient[k] -= the products of column k with chance, for up to COLUMNS columns at once: each chance is loaded once,
 * and no sum waits for another. */
enum { COLUMNS = 4 };

static inline void subtract_products(int columns, const double *column, size_t stride, const double *chance, int count,
                                     double *gradient) {
    ais_doubles sum[COLUMNS][2];
#pragma GCC unroll 4
    for (int k = 0; k < columns; k++) sum[k][0] = sum[k][1] = ais_spread_double(0);
    for (int r = 0; r < count; r += 2 * AIS_WORDS) {
        ais_doubles first = ais_load(chance + r), second = ais_load(chance + r + AIS_WORDS);
#pragma GCC unroll 4
        for (int k = 0; k < columns; k++) {
            const double *at = column + (size_t)k * stride + r;
            sum[k][0] += ais_load(at) * first;
            sum[k][1] += ais_load(at + AIS_WORDS) * second;
        }
    }
#pragma GCC unroll 4
    for (int k = 0; k < columns; k++) gradient[k] -= sum_of(sum[k][0] + sum[k][1]);
}

double AIS_ISA(ais_regression_point)(const ais_regression *regression, const double *w, double *gradient) {
    double chance[CHUNK], padding = (double)(regression->padded - regression->rows) * 0.69314718055994530942;
    double value = regression->constant + padding;
    ais_doubles top = {0}, product = ais_spread_double(1);
    for (int i = 0; i < regression->dim; i++) {
        value -= regression->half_precision * w[i] * w[i];
        if (gradient) gradient[i] = -2 * regression->half_precision * w[i];
    }
    for (size_t row = 0; row < regression->padded; row += CHUNK) {
        size_t left = regression->padded - row;
        int count = left < CHUNK ? (int)left : CHUNK;
        for (int r = 0; r < count; r += AIS_TILE_ROWS)
            fold_rows(regression, row + (size_t)r, w, &top, &product, gradient ? chance + r : NULL);
        const double *column = regression->by_column + row;
        int i = 0;
        for (; gradient && i + COLUMNS <= regression->dim; i += COLUMNS)
            subtract_products(COLUMNS, column + (size_t)i * regression->padded, regression->padded, chance, count,
                              gradient + i);
        for (; gradient && i < regression->dim; i++)
            subtract_products(1, column + (size_t)i * regression->padded, regression->padded, chance, count,
                              gradient + i);
        if ((row + CHUNK) % AIS_PRODUCT_ROWS != 0 && left > CHUNK) continue;
        for (int k = 0; k < AIS_WORDS; k++) value -= log(product[k]);
        product = ais_spread_double(1);
    }
    return value - 0.5 * sum_of(top);
}
