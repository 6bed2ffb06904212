#include "target/regression_lanes.h"

#include <string.h>

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

enum {
    GROUP = 4, /* rows, and */
    SPAN = 2,  /* vectors of lanes whose sums are in registers at once: 8 of 16, enough to hide the latency */
    TILE = AIS_TILE_ROWS * AIS_LANES,
};

static inline vector load(const double *from) {
    vector value;
    memcpy(&value, from, sizeof value);
    return value;
}
static inline void store(double *to, vector value) { memcpy(to, &value, sizeof value); }

/* z of GROUP rows for SPAN vectors of lanes. */
static inline void multiply(int dim, const double *group, size_t stride, const double *w, double *z) {
    vector sum[GROUP][SPAN] = {{{0}}};
    for (int i = 0; i < dim; i++) {
        vector here[SPAN];
        for (int s = 0; s < SPAN; s++) here[s] = load(w + (size_t)i * stride + s * WIDTH);
        for (int r = 0; r < GROUP; r++)
            for (int s = 0; s < SPAN; s++) sum[r][s] += group[i * GROUP + r] * here[s];
    }
    for (int r = 0; r < GROUP; r++)
        for (int s = 0; s < SPAN; s++) store(z + r * AIS_LANES + s * WIDTH, sum[r][s]);
}

/* Folds a tile of z into top = sum max(z, 0) and product of 1 + exp(-|z|). */
static void fold_tile(const double *z, double *top, double *product) {
    double factor[TILE];
#pragma omp simd
    for (int k = 0; k < TILE; k++) factor[k] = 1 + exp(-fabs(z[k]));
    for (int c = 0; c < AIS_LANES; c += WIDTH) {
        vector p = load(product + c);
        for (int r = 0; r < AIS_TILE_ROWS; r++) p *= load(factor + r * AIS_LANES + c);
        store(product + c, p);
    }
    for (int r = 0; r < AIS_TILE_ROWS; r++)
#pragma omp simd
        for (int c = 0; c < AIS_LANES; c++) top[c] += z[r * AIS_LANES + c] > 0 ? z[r * AIS_LANES + c] : 0;
}

void AIS_ISA(ais_regression_block)(const void *data, size_t stride, const double *w, double *logp) {
    const ais_regression *regression = data;
    int dim = regression->dim;
    double z[TILE], top[AIS_LANES] = {0}, product[AIS_LANES], logs[AIS_LANES] = {0}, square[AIS_LANES] = {0};
    for (int c = 0; c < AIS_LANES; c++) product[c] = 1;
    const double *group = regression->by_group;
    for (size_t row = 0; row < regression->padded; row += AIS_TILE_ROWS) {
        for (int r = 0; r < AIS_TILE_ROWS; r += GROUP, group += (size_t)dim * GROUP)
            for (int c = 0; c < AIS_LANES; c += SPAN * WIDTH)
                multiply(dim, group, stride, w + c, z + r * AIS_LANES + c);
        fold_tile(z, top, product);
        if ((row + AIS_TILE_ROWS) % AIS_PRODUCT_ROWS != 0 && row + AIS_TILE_ROWS < regression->padded) continue;
#pragma omp simd
        for (int c = 0; c < AIS_LANES; c++) {
            logs[c] += log(product[c]);
            product[c] = 1;
        }
    }
    for (int i = 0; i < dim; i++)
#pragma omp simd
        for (int c = 0; c < AIS_LANES; c++) square[c] += w[(size_t)i * stride + c] * w[(size_t)i * stride + c];
#pragma omp simd
    for (int c = 0; c < AIS_LANES; c++)
        logp[c] = regression->constant - regression->half_precision * square[c] - top[c] - logs[c];
}

enum { TILE_VECTORS = AIS_TILE_ROWS / WIDTH, CHUNK = 4 * AIS_TILE_ROWS };

/* z of a tile of rows for one point. */
static inline void multiply_rows(const ais_regression *regression, size_t row, const double *w, double *z) {
    vector sum[TILE_VECTORS] = {{0}};
    for (int i = 0; i < regression->dim; i++) {
        const double *column = regression->by_column + (size_t)i * regression->padded + row;
        for (int s = 0; s < TILE_VECTORS; s++) sum[s] += w[i] * load(column + s * WIDTH);
    }
    for (int s = 0; s < TILE_VECTORS; s++) store(z + s * WIDTH, sum[s]);
}

static inline double dot(const double *a, const double *b, int count) {
    vector sum[2] = {{0}};
    double parts[WIDTH], total = 0;
    for (int k = 0; k < count; k += 2 * WIDTH) {
        sum[0] += load(a + k) * load(b + k);
        sum[1] += load(a + k + WIDTH) * load(b + k + WIDTH);
    }
    store(parts, sum[0] + sum[1]);
    for (int k = 0; k < WIDTH; k++) total += parts[k];
    return total;
}

double AIS_ISA(ais_regression_point)(const ais_regression *regression, const double *w, double *gradient) {
    double z[CHUNK], factor[CHUNK], chance[CHUNK], value = regression->constant, product = 1;
    for (int i = 0; i < regression->dim; i++) {
        value -= regression->half_precision * w[i] * w[i];
        if (gradient) gradient[i] = -2 * regression->half_precision * w[i];
    }
    for (size_t row = 0; row < regression->padded; row += CHUNK) {
        size_t left = regression->padded - row;
        int count = left < CHUNK ? (int)left : CHUNK;
        double top = 0;
        for (int r = 0; r < count; r += AIS_TILE_ROWS) multiply_rows(regression, row + (size_t)r, w, z + r);
#pragma omp simd
        for (int r = 0; r < count; r++) {
            double e = exp(-fabs(z[r]));
            factor[r] = 1 + e;
            chance[r] = (z[r] > 0 ? 1 : e) / (1 + e);
        }
#pragma omp simd reduction(+ : top) reduction(* : product)
        for (int r = 0; r < count; r++) {
            top += z[r] > 0 ? z[r] : 0;
            product *= factor[r];
        }
        value -= top;
        if ((row + CHUNK) % AIS_PRODUCT_ROWS == 0 || left <= CHUNK) {
            value -= log(product);
            product = 1;
        }
        for (int i = 0; i < regression->dim && gradient; i++)
            gradient[i] -= dot(regression->by_column + (size_t)i * regression->padded + row, chance, count);
    }
    return value;
}
