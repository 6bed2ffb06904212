#include "target/mixture_lanes.h"

#include <math.h>

#include "simd/doubles.h"

enum { VECTORS = AIS_HALF / AIS_WORDS, AT_ONCE = 4 / VECTORS < 1 ? 1 : 4 / VECTORS };

/* Of some components (a constant after inlining) from k on: the sum of 2^(term - top) is added. */
AIS_INLINE void add_powers(int components, int vectors, const ais_doubles (*term)[VECTORS], const ais_doubles *top,
                           ais_doubles *sum) {
    ais_doubles power[AT_ONCE * VECTORS];
    for (int k = 0; k < components; k++)
        for (int v = 0; v < vectors; v++) power[k * vectors + v] = term[k][v] - top[v];
    ais_powers_below(components * vectors, power);
    for (int k = 0; k < components; k++)
        for (int v = 0; v < vectors; v++) sum[v] += power[k * vectors + v];
}

/* log sum_k 2^term_k of `vectors` vectors of points, the largest term taken out; -inf when all are. */
AIS_INLINE void block(const ais_mixture *mixture, int dim, int vectors, size_t stride, const double *x, double *logp) {
    const ais_doubles log_2 = ais_spread_double(0.69314718055994530942), none = ais_spread_double(-INFINITY);
    ais_doubles term[AIS_MIXTURE_MOST][VECTORS], top[VECTORS], sum[VECTORS];
    ais_longs finite[VECTORS];
    for (int v = 0; v < vectors; v++) top[v] = none;
    for (int k = 0; k < mixture->components; k++) {
        const double *centre = mixture->centre + (size_t)k * (size_t)dim;
        for (int v = 0; v < vectors; v++) {
            ais_doubles square = {0};
            for (int i = 0; i < dim; i++) {
                ais_doubles away = ais_load(x + (size_t)i * stride + (size_t)(v * AIS_WORDS)) - centre[i];
                square = ais_fma_double(away, away, square);
            }
            term[k][v] =
                ais_fma_double(ais_spread_double(-mixture->factor[k]), square, ais_spread_double(mixture->power[k]));
            top[v] = ais_max_double(term[k][v], top[v]);
        }
    }
    for (int v = 0; v < vectors; v++) {
        finite[v] = top[v] >= ais_spread_double(-1e308);
        top[v] = (ais_doubles)((ais_longs)top[v] & finite[v]);
        sum[v] = (ais_doubles){0};
    }
    int k = 0;
    for (; k + AT_ONCE <= mixture->components; k += AT_ONCE)
        add_powers(AT_ONCE, vectors, (const ais_doubles(*)[VECTORS]) & term[k], top, sum);
    for (; k < mixture->components; k++) add_powers(1, vectors, (const ais_doubles(*)[VECTORS]) & term[k], top, sum);
    for (int v = 0; v < vectors; v++) {
        ais_doubles value = ais_fma_double(top[v], log_2, ais_log_normal(sum[v])) + (sum[v] - sum[v]); /* NaN stays */
        ais_store(logp + v * AIS_WORDS, ais_pick(finite[v] | (sum[v] != sum[v]), value, none));
    }
}

void AIS_ISA(ais_mixture_block)(const void *data, size_t stride, const double *x, double *logp) {
    const ais_mixture *mixture = data;
    if (mixture->dim == 2)
        block(mixture, 2, VECTORS, stride, x, logp);
    else
        block(mixture, mixture->dim, VECTORS, stride, x, logp);
}

double AIS_ISA(ais_mixture_plane)(const ais_mixture *mixture, const double *x) {
    double spread[2][AIS_WORDS], logp[AIS_WORDS];
    for (int i = 0; i < 2; i++) ais_store(spread[i], ais_spread_double(x[i]));
    block(mixture, 2, 1, AIS_WORDS, spread[0], logp);
    return logp[0];
}
