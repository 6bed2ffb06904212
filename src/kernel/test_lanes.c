#include "kernel/test_lanes.h"

#include <math.h>

#include "simd/doubles.h"

void AIS_ISA(ais_mask)(int dim, size_t lanes, size_t count, double tolerance, const double *present, double *x,
                       double *round_trip) {
    for (size_t i = 0; i < (size_t)dim; i++) {
#pragma omp simd
        for (size_t c = 0; c < count; c++)
            round_trip[c] = fabs(x[i * lanes + c]) <= 0x1.fffffffffffffp1023 ? round_trip[c] : (double)INFINITY;
    }
    for (size_t i = 0; i < (size_t)dim; i++) {
#pragma omp simd
        for (size_t c = 0; c < count; c++)
            x[i * lanes + c] = round_trip[c] <= tolerance ? x[i * lanes + c] : present[i * lanes + c];
    }
}

/* The contribution of v to the joint density, math.md (1): 1/2 |v|^2 before and after. */
void AIS_ISA(ais_kinetic)(int dim, size_t lanes, const double *v, const double *image, double *kinetic) {
    for (size_t c = 0; c < lanes; c += AIS_WORDS) {
        ais_doubles sum[2] = {{0}};
        for (size_t i = c; i < (size_t)dim * lanes; i += lanes) {
            ais_doubles before = ais_load(v + i), after = ais_load(image + i);
            sum[0] = ais_fma_double(before, before, sum[0]);
            sum[1] = ais_fma_double(after, after, sum[1]);
        }
        ais_store(kinetic + c, 0.5 * sum[0] - 0.5 * sum[1]);
    }
}

/* `vectors` of chains at once, because each of their powers is a long chain of operations that wait for one another.
 */
AIS_INLINE void test(const ais_test_call *call, int vectors, size_t c, double *chance, int64_t *taken) {
    enum { MOST = AIS_LANES / AIS_WORDS };
    const ais_doubles one = ais_spread_double(1), zero = {0}, tolerance = ais_spread_double(call->tolerance);
    const ais_doubles least = ais_spread_double(-700), log2_e = ais_spread_double(0x1.71547652b82fep+0);
    ais_doubles ratio[MOST], odds[MOST]; /* odds of the less likely of the two */
    for (int k = 0; k < vectors; k++) {
        size_t at = c + (size_t)(k * AIS_WORDS);
        ratio[k] = ais_load(call->next_logp + at) - ais_load(call->logp + at);
        ratio[k] = ratio[k] + ais_load(call->kinetic + at) + ais_load(call->log_det + at);
        odds[k] = log2_e * ais_pick(ratio[k] > zero, -ratio[k], ratio[k]);
    }
    ais_powers_below(vectors, odds);
    for (int k = 0; k < vectors; k++) {
        size_t at = c + (size_t)(k * AIS_WORDS);
        ais_doubles value = ais_pick(ratio[k] > zero, one, odds[k]);
        if (call->barker) value = value / (one + odds[k]);
        /* nor where the ratio is no number */
        ais_words possible = (ais_words)(ratio[k] >= least) & (ais_words)(ais_load(call->round_trip + at) <= tolerance);
        value = (ais_doubles)((ais_words)value & possible);
        ais_words below = (ais_words)(ais_load(call->uniform + at) < value);
        ais_store(chance + at, value);
        memcpy(taken + at, &below, sizeof below);
    }
}

/* math.md (3) and (4). */
void AIS_ISA(ais_test_lanes)(const ais_test_call *call, double *chance, int64_t *taken) {
    if (call->chains <= AIS_WORDS)
        test(call, 1, 0, chance, taken);
    else
        for (size_t c = 0; c < call->chains; c += AIS_LANES) test(call, AIS_LANES / AIS_WORDS, c, chance, taken);
}

void AIS_ISA(ais_take)(int rows, size_t lanes, size_t chains, const int64_t *taken, const void *from, void *to) {
    const size_t size = sizeof(ais_doubles);
    for (size_t row = 0; row < (size_t)rows; row++) {
        const char *source = (const char *)from + row * lanes * sizeof(int64_t), *which = (const char *)taken;
        char *target = (char *)to + row * lanes * sizeof(int64_t);
#pragma GCC unroll 4
        for (size_t at = 0; at < chains * sizeof(int64_t); at += size) {
            ais_doubles old, new;
            ais_longs mask;
            memcpy(&old, target + at, size);
            memcpy(&new, source + at, size);
            memcpy(&mask, which + at, size);
            old = ais_pick(mask, new, old);
            memcpy(target + at, &old, size);
        }
    }
}
