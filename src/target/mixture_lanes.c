#include "target/mixture_lanes.h"

#include <math.h>

#include "simd/doubles.h"

enum { VECTORS = AIS_HALF / AIS_WORDS, MOST = 2 * VECTORS };

/* log sum_k 2^term_k of `vectors` vectors of points, the largest term taken out if it is finite; -inf when all are. */
AIS_INLINE void block(const ais_mixture *mixture, int dim, int vectors, size_t stride, const double *x, double *logp) {
    const ais_doubles log_2 = ais_spread_double(0.69314718055994530942), none = ais_spread_double(-INFINITY);
    ais_doubles term[AIS_MIXTURE_MOST][MOST], top[MOST], base[MOST], sum[MOST];
    for (int v = 0; v < vectors; v++) top[v] = none;
#pragma GCC unroll 1
    for (int k = 0; k < mixture->components; k++) {
        const double *centre = mixture->centre + (size_t)k * (size_t)dim;
        for (int v = 0; v < vectors; v++) {
            ais_doubles square = {0};
            for (int i = 0; i < dim; i++) {
                ais_doubles away = ais_load(x + (size_t)i * stride + (size_t)(v * AIS_WORDS)) - centre[i];
                square = ais_fma_double(away, away, square);
            }
            term[k][v] =
                ais_fma_double(ais_spread_double(mixture->factor[k]), square, ais_spread_double(mixture->power[k]));
            top[v] = ais_max_double(term[k][v], top[v]);
        }
    }
    for (int v = 0; v < vectors; v++) {
        if (mixture->components & 1) term[mixture->components][v] = none; /* the last one's partner */
        base[v] = (ais_doubles)((ais_longs)top[v] & (top[v] >= ais_spread_double(-1e308)));
        sum[v] = (ais_doubles){0};
    }
#pragma GCC unroll 1
    for (int k = 0; k < mixture->components; k += 2) { /* two, so that enough is under way */
        ais_doubles power[2 * MOST];
        for (int v = 0; v < vectors; v++) {
            power[v] = term[k][v] - base[v];
            power[vectors + v] = term[k + 1][v] - base[v];
        }
        ais_powers_below(2 * vectors, power);
        for (int v = 0; v < vectors; v++) sum[v] += power[v];
        for (int v = 0; v < vectors; v++) sum[v] += power[vectors + v];
    }
    for (int v = 0; v < vectors; v++) { /* NaN stays */
        ais_doubles value = ais_fma_double(top[v], log_2, ais_log_normal(sum[v])) + (sum[v] - sum[v]);
        ais_store(logp + v * AIS_WORDS, value);
    }
}

void AIS_ISA(ais_mixture_block)(const void *data, size_t count, size_t stride, const double *x, double *logp) {
    const ais_mixture *mixture = data;
    size_t c = 0;
    for (; c + 2 * AIS_HALF <= count && mixture->dim == 2; c += 2 * AIS_HALF)
        block(mixture, 2, 2 * VECTORS, stride, x + c, logp + c);
    for (; c < count; c += AIS_HALF) block(mixture, mixture->dim, VECTORS, stride, x + c, logp + c);
}

/* Lanes are components, those that there are not having the power -inf; the operations of a point are block's. */
double AIS_ISA(ais_mixture_plane)(const ais_mixture *mixture, const double *x) {
    enum { PARTS = AIS_MIXTURE_MOST / AIS_WORDS };
    const ais_doubles first = ais_spread_double(x[0]), second = ais_spread_double(x[1]);
    ais_doubles term[PARTS], highest = ais_spread_double(-INFINITY);
    double value[AIS_MIXTURE_MOST], sum = 0;
    for (int p = 0; p < PARTS; p++) {
        ais_doubles away[2] = {first - ais_load(mixture->plane[0] + p * AIS_WORDS),
                               second - ais_load(mixture->plane[1] + p * AIS_WORDS)};
        ais_doubles square = ais_fma_double(away[1], away[1], away[0] * away[0]);
        term[p] =
            ais_fma_double(ais_load(mixture->factor + p * AIS_WORDS), square, ais_load(mixture->power + p * AIS_WORDS));
        highest = ais_max_double(term[p], highest);
    }
    double top = ais_highest(highest);
    bool finite = top >= -1e308;
    for (int p = 0; p < PARTS; p++) term[p] -= ais_spread_double(finite ? top : 0);
    ais_powers_below(PARTS, term);
    for (int p = 0; p < PARTS; p++) ais_store(value + p * AIS_WORDS, term[p]);
    for (int k = 0; k < mixture->components; k++) sum += value[k];
    ais_doubles logp = ais_fma_double(ais_spread_double(top), ais_spread_double(0.69314718055994530942),
                                      ais_log_normal(ais_spread_double(sum)));
    return logp[0] + (sum - sum);
}
