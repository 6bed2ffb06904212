#include "target/mixture_lanes.h"
#include "simd/doubles.h"
#include "simd/math.h"

enum { VECTORS = AIS_HALF / AIS_WORDS };

/* log sum_k exp(term_k) of AIS_HALF points, the largest term taken out; -inf when all are. */
AIS_INLINE void block(const ais_mixture *mixture, int dim, size_t stride, const double *x, double *logp) {
    ais_doubles term[AIS_MIXTURE_MOST][VECTORS], top[VECTORS];
    double sums[AIS_HALF], tops[AIS_HALF];
    for (int v = 0; v < VECTORS; v++) top[v] = ais_spread_double(-INFINITY);
    for (int k = 0; k < mixture->components; k++) {
        const double *centre = mixture->centre + (size_t)k * (size_t)dim;
        for (int v = 0; v < VECTORS; v++) {
            ais_doubles square = {0};
            for (int i = 0; i < dim; i++) {
                ais_doubles away = ais_load(x + (size_t)i * stride + (size_t)(v * AIS_WORDS)) - centre[i];
                square = ais_fma_double(away, away, square);
            }
            term[k][v] = mixture->constant[k] - mixture->half_precision[k] * square;
            top[v] = ais_max_double(term[k][v], top[v]);
        }
    }
    for (int v = 0; v < VECTORS; v++) {
        ais_words finite = (ais_words)(top[v] >= ais_spread_double(-1e308));
        top[v] = (ais_doubles)((ais_words)top[v] & finite);
        ais_doubles sum = {0};
        for (int k = 0; k < mixture->components; k++) sum += ais_exp_below(term[k][v] - top[v]);
        ais_store(sums + v * AIS_WORDS, sum);
        ais_store(tops + v * AIS_WORDS, top[v]);
    }
#pragma omp simd
    for (int c = 0; c < AIS_HALF; c++) logp[c] = tops[c] + log(sums[c]);
}

void AIS_ISA(ais_mixture_block)(const void *data, size_t stride, const double *x, double *logp) {
    const ais_mixture *mixture = data;
    if (mixture->dim == 2)
        block(mixture, 2, stride, x, logp);
    else
        block(mixture, mixture->dim, stride, x, logp);
}
