#include "target/mixture_lanes.h"

#include <math.h>

#include "simd/doubles.h"

enum { VECTORS = AIS_HALF / AIS_WORDS, MOST = 2 * VECTORS };

/* Of a sum below this the powers of 2 may have lost what counts. */
#define LEAST 0x1p-900

/* Component k's density at `vectors` vectors of points, as a power of 2; -inf when there is no such component. */
AIS_INLINE void terms(const ais_mixture *mixture, int dim, int vectors, int k, size_t stride, const double *x,
                      ais_doubles *term) {
    const double *centre = mixture->centre + (size_t)k * (size_t)dim;
    for (int v = 0; v < vectors; v++) {
        term[v] = ais_spread_double(-INFINITY);
        if (k >= mixture->components) continue;
        ais_doubles square = {0};
        for (int i = 0; i < dim; i++) {
            ais_doubles away = ais_load(x + (size_t)i * stride + (size_t)(v * AIS_WORDS)) - centre[i];
            square = ais_fma_double(away, away, square);
        }
        term[v] = ais_fma_double(ais_spread_double(mixture->factor[k]), square, ais_spread_double(mixture->power[k]));
    }
}

/* sum_k 2^(term_k - base), base 0 when NULL. Two components at a time, so that enough is under way. */
AIS_INLINE void sums(const ais_mixture *mixture, int dim, int vectors, size_t stride, const double *x,
                     const ais_doubles *base, ais_doubles *sum) {
    for (int v = 0; v < vectors; v++) sum[v] = (ais_doubles){0};
#pragma GCC unroll 1
    for (int k = 0; k < mixture->components; k += 2) {
        ais_doubles power[2 * MOST];
        terms(mixture, dim, vectors, k, stride, x, power);
        terms(mixture, dim, vectors, k + 1, stride, x, power + vectors);
        for (int v = 0; v < 2 * vectors && base; v++) power[v] -= base[v % vectors];
        ais_powers_below(2 * vectors, power);
        for (int v = 0; v < vectors; v++) sum[v] = (sum[v] + power[v]) + power[vectors + v];
    }
}

/* Where the sum of all densities is 0, or not a number: with the largest taken out of it. -inf when all are. */
AIS_INLINE void far_points(const ais_mixture *mixture, int dim, int vectors, size_t stride, const double *x,
                           ais_doubles *logp) {
    ais_doubles top[MOST], base[MOST], sum[MOST], term[MOST];
    for (int v = 0; v < vectors; v++) top[v] = ais_spread_double(-INFINITY);
    for (int k = 0; k < mixture->components; k++) {
        terms(mixture, dim, vectors, k, stride, x, term);
        for (int v = 0; v < vectors; v++) top[v] = ais_max_double(term[v], top[v]);
    }
    for (int v = 0; v < vectors; v++)
        base[v] = (ais_doubles)((ais_longs)top[v] & (top[v] >= ais_spread_double(-1e308)));
    sums(mixture, dim, vectors, stride, x, base, sum);
    for (int v = 0; v < vectors; v++) { /* NaN stays */
        ais_doubles log_sum = ais_log_normal(sum[v]) + (sum[v] - sum[v]);
        logp[v] = ais_fma_double(top[v], ais_spread_double(0.69314718055994530942), log_sum);
    }
}

AIS_INLINE void block(const ais_mixture *mixture, int dim, int vectors, size_t stride, const double *x, double *logp) {
    ais_doubles sum[MOST], value[MOST];
    ais_longs near[MOST], all = {0};
    all = ~all;
    sums(mixture, dim, vectors, stride, x, NULL, sum);
    for (int v = 0; v < vectors; v++) {
        near[v] = sum[v] >= ais_spread_double(mixture->direct ? LEAST : INFINITY);
        value[v] = ais_log_normal(sum[v]);
        all &= near[v];
    }
    if (!ais_all(all)) { /* each point by its own: what it gets does not depend on the others */
        ais_doubles other[MOST];
        far_points(mixture, dim, vectors, stride, x, other);
        for (int v = 0; v < vectors; v++) value[v] = ais_pick(near[v], value[v], other[v]);
    }
    for (int v = 0; v < vectors; v++) ais_store(logp + v * AIS_WORDS, value[v]);
}

void AIS_ISA(ais_mixture_block)(const void *data, size_t count, size_t stride, const double *x, double *logp) {
    const ais_mixture *mixture = data;
    size_t c = 0;
    for (; c + 2 * AIS_HALF <= count && mixture->dim == 2; c += 2 * AIS_HALF)
        block(mixture, 2, 2 * VECTORS, stride, x + c, logp + c);
    for (; c < count; c += AIS_HALF) block(mixture, mixture->dim, VECTORS, stride, x + c, logp + c);
}

/* Lanes are components, those that there are not having the power -inf; the operations of a near point are block's. */
double AIS_ISA(ais_mixture_plane)(const ais_mixture *mixture, const double *x) {
    enum { PARTS = AIS_MIXTURE_MOST / AIS_WORDS };
    const ais_doubles first = ais_spread_double(x[0]), second = ais_spread_double(x[1]);
    ais_doubles term[PARTS];
    double value[AIS_MIXTURE_MOST], sum = 0;
    for (int p = 0; p < PARTS; p++) {
        ais_doubles away[2] = {first - ais_load(mixture->plane[0] + p * AIS_WORDS),
                               second - ais_load(mixture->plane[1] + p * AIS_WORDS)};
        ais_doubles square = ais_fma_double(away[1], away[1], away[0] * away[0]);
        term[p] =
            ais_fma_double(ais_load(mixture->factor + p * AIS_WORDS), square, ais_load(mixture->power + p * AIS_WORDS));
    }
    ais_powers_below(PARTS, term);
    for (int p = 0; p < PARTS; p++) ais_store(value + p * AIS_WORDS, term[p]);
    for (int k = 0; k < mixture->components; k++) sum += value[k];
    if (mixture->direct && sum >= LEAST) return ais_log_normal(ais_spread_double(sum))[0];
    double points[2 * AIS_HALF], logp[AIS_HALF];
    for (int c = 0; c < AIS_HALF; c++) {
        points[c] = x[0];
        points[AIS_HALF + c] = x[1];
    }
    block(mixture, 2, VECTORS, AIS_HALF, points, logp);
    return logp[0];
}
