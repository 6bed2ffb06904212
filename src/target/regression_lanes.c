#include "target/regression_lanes.h"

#include <stdint.h>
#include <string.h>
#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include "simd/math.h"

/* Vectors as wide as the instruction set's: wider ones compile to something very slow. */
#if defined(__AVX512F__)
enum { WIDTH = 8 };
#elif defined(__AVX__)
enum { WIDTH = 4 };
#else
enum { WIDTH = 2 };
#endif
typedef double vector __attribute__((vector_size(WIDTH * sizeof(double))));
typedef int64_t bits __attribute__((vector_size(WIDTH * sizeof(int64_t))));

enum {
    GROUP = 4, /* rows, and */
    SPAN = 2,  /* vectors of lanes whose sums are in registers at once: 8 of 16, enough to hide the latency */
};

static inline vector load(const double *from) {
    vector value;
    memcpy(&value, from, sizeof value);
    return value;
}
static inline void store(double *to, vector value) { memcpy(to, &value, sizeof value); }
static inline vector all(double value) { return value - (vector){0}; }
static inline vector absolute(vector value) { return (vector)((bits)value & INT64_MAX); }
static inline vector choose(bits mask, vector yes, vector no) {
    return (vector)(((bits)yes & mask) | ((bits)no & ~mask));
}

/* exp(-a) for a >= 0, to about 2e-16: 2^k exp(r), |r| <= log(2)/2, by Taylor's series. What is beyond
 * 700 counts as 700, and NaN too: a weight that is not a number shows in the prior. Our own, because
 * a call of the library's would put every sum into memory. */
static inline vector exp_of_minus(vector a) {
    const double magic = 0x1.8p52;
    a = choose(a < 700.0, a, all(700));
    vector shifted = magic - a * 1.4426950408889634; /* k in the low bits */
    vector k = shifted - magic;
    vector r = -a - k * 0x1.62e42fefa0000p-1 - k * 0x1.cf79abc9e3b3ap-40; /* log(2) in two parts */
    vector r2 = r * r, r4 = r2 * r2;
    vector p0 = 1 + r, p1 = 1.0 / 2 + r * (1.0 / 6), p2 = 1.0 / 24 + r * (1.0 / 120);
    vector p3 = 1.0 / 720 + r * (1.0 / 5040), p4 = 1.0 / 40320 + r * (1.0 / 362880);
    vector p5 = 1.0 / 3628800 + r * (1.0 / 39916800), p6 = all(1.0 / 479001600);
    vector low = p0 + r2 * p1, middle = p2 + r2 * p3, high = p4 + r2 * (p5 + r2 * p6);
    vector value = low + r4 * (middle + r4 * high);
    return (vector)((bits)value + ((bits)shifted << 52));
}

/* The smaller one; b where a is NaN. */
static inline vector smaller(vector a, vector b) {
#if defined(__AVX512F__)
    return (vector)_mm512_min_pd((__m512d)a, (__m512d)b);
#elif defined(__AVX__)
    return (vector)_mm256_min_pd((__m256d)a, (__m256d)b);
#elif defined(__SSE2__)
    return (vector)_mm_min_pd((__m128d)a, (__m128d)b);
#else
    return choose(a < b, a, b);
#endif
}

/* 2^-a for a >= 0, to 8e-13: 2^k 2^-q with |q| <= 1/2 by the polynomial of degree 8 with the least relative error.
 * Beside 1, what is beyond 64 counts as 64, and NaN too. The density is then right to 1e-12 of itself, and a third
 * of the arithmetic of exp_of_minus is saved. */
static inline vector power_of_half(vector a) {
    const double magic = 0x1.8p52;
    a = smaller(a, all(64));
    vector shifted = magic - a; /* k in the low bits */
    vector q = a + (shifted - magic), q2 = q * q;
    vector even = 0.00015403851744514194 + q2 * 1.317585882142459e-06;
    vector odd = -0.0013333452062791777 + q2 * -1.5309737294734561e-05;
    even = 0.0096181285428704102 + q2 * even;
    odd = -0.05550410939341089 + q2 * odd;
    even = 0.24022650698880321 + q2 * even;
    odd = -0.69314718054651436 + q2 * odd;
    even = 0.9999999999997623 + q2 * even;
    vector value = even + q * odd;
    return (vector)((bits)value + ((bits)shifted << 52));
}

/* The sums of one span of lanes, in units of log 2: of z + |z| = 2 max(z, 0), and the product of 1 + 2^-|z|. */
typedef struct folded {
    vector top[SPAN], product[SPAN];
} folded;

/* Folds in GROUP rows. The unrolling lets the arrays live in registers. */
static inline void fold_group(int dim, const double *group, size_t stride, const double *w, folded *into) {
    vector z[GROUP][SPAN];
#pragma GCC unroll 8
    for (int r = 0; r < GROUP; r++)
#pragma GCC unroll 8
        for (int s = 0; s < SPAN; s++) z[r][s] = all(0);
    for (int i = 0; i < dim; i++, w += stride, group += GROUP)
#pragma GCC unroll 8
        for (int r = 0; r < GROUP; r++)
#pragma GCC unroll 8
            for (int s = 0; s < SPAN; s++) z[r][s] += group[r] * load(w + s * WIDTH);
#pragma GCC unroll 8
    for (int r = 0; r < GROUP; r++)
#pragma GCC unroll 8
        for (int s = 0; s < SPAN; s++) {
            vector a = absolute(z[r][s]);
            into->top[s] += z[r][s] + a;
            into->product[s] += into->product[s] * power_of_half(a);
        }
}

/* Folds in a tile of up to AIS_TILE_ROWS rows for AIS_LANES points. */
static void fold_tile(int dim, int rows, const double *group, size_t stride, const double *w, double *top,
                      double *product) {
    for (int c = 0; c < AIS_LANES; c += SPAN * WIDTH) {
        folded sums;
#pragma GCC unroll 8
        for (int s = 0; s < SPAN; s++) {
            sums.top[s] = load(top + c + s * WIDTH);
            sums.product[s] = load(product + c + s * WIDTH);
        }
        for (int r = 0; r < rows; r += GROUP) fold_group(dim, group + (size_t)r * (size_t)dim, stride, w + c, &sums);
#pragma GCC unroll 8
        for (int s = 0; s < SPAN; s++) {
            store(top + c + s * WIDTH, sums.top[s]);
            store(product + c + s * WIDTH, sums.product[s]);
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
enum { TILE_VECTORS = AIS_TILE_ROWS / WIDTH, CHUNK = 4 * AIS_TILE_ROWS };

static inline double sum_of(vector value) {
    double parts[WIDTH], total = 0;
    store(parts, value);
    for (int k = 0; k < WIDTH; k++) total += parts[k];
    return total;
}

/* Folds in a tile of rows; chance[r] = 1 / (1 + exp(-z)), the derivative of log(1 + exp(z)). */
static inline void fold_rows(const ais_regression *regression, size_t row, const double *w, vector *top,
                             vector *product, double *chance) {
    vector z[TILE_VECTORS];
#pragma GCC unroll 16
    for (int s = 0; s < TILE_VECTORS; s++) z[s] = all(0);
    for (int i = 0; i < regression->dim; i++) {
        const double *column = regression->by_column + (size_t)i * regression->padded + row;
#pragma GCC unroll 16
        for (int s = 0; s < TILE_VECTORS; s++) z[s] += w[i] * load(column + s * WIDTH);
    }
#pragma GCC unroll 16
    for (int s = 0; s < TILE_VECTORS; s++) {
        vector a = absolute(z[s]), e = exp_of_minus(a), factor = 1 + e;
        *top += z[s] + a;
        *product *= factor;
        if (chance) store(chance + s * WIDTH, choose(z[s] > 0.0, all(1), e) / factor);
    }
}

static inline double dot(const double *a, const double *b, int count) {
    vector sum[2] = {{0}};
    for (int k = 0; k < count; k += 2 * WIDTH) {
        sum[0] += load(a + k) * load(b + k);
        sum[1] += load(a + k + WIDTH) * load(b + k + WIDTH);
    }
    return sum_of(sum[0] + sum[1]);
}

double AIS_ISA(ais_regression_point)(const ais_regression *regression, const double *w, double *gradient) {
    double chance[CHUNK], padding = (double)(regression->padded - regression->rows) * 0.69314718055994530942;
    double value = regression->constant + padding;
    vector top = {0}, product = all(1);
    for (int i = 0; i < regression->dim; i++) {
        value -= regression->half_precision * w[i] * w[i];
        if (gradient) gradient[i] = -2 * regression->half_precision * w[i];
    }
    for (size_t row = 0; row < regression->padded; row += CHUNK) {
        size_t left = regression->padded - row;
        int count = left < CHUNK ? (int)left : CHUNK;
        for (int r = 0; r < count; r += AIS_TILE_ROWS)
            fold_rows(regression, row + (size_t)r, w, &top, &product, gradient ? chance + r : NULL);
        for (int i = 0; i < regression->dim && gradient; i++)
            gradient[i] -= dot(regression->by_column + (size_t)i * regression->padded + row, chance, count);
        if ((row + CHUNK) % AIS_PRODUCT_ROWS != 0 && left > CHUNK) continue;
        for (int k = 0; k < WIDTH; k++) value -= log(product[k]);
        product = all(1);
    }
    return value - 0.5 * sum_of(top);
}
