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

/* What v gives to the joint density, math.md (1): 1/2 |v|^2 before and after. */
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

/* math.md (3) and (4). */
void AIS_ISA(ais_test_lanes)(const ais_test_call *call, double *chance, int64_t *taken) {
    const ais_doubles one = ais_spread_double(1), zero = {0}, tolerance = ais_spread_double(call->tolerance);
    for (size_t c = 0; c < call->chains; c += AIS_WORDS) {
        ais_doubles ratio = ais_load(call->next_logp + c) - ais_load(call->logp + c);
        ratio = ratio + ais_load(call->kinetic + c) + ais_load(call->log_det + c);
        ais_longs positive = ratio > zero;
        ais_doubles odds = ais_exp_below(ais_pick(positive, -ratio, ratio)); /* of the less likely of the two */
        ais_doubles value = ais_pick(positive, one, odds);
        if (call->barker) value = value / (one + odds);
        ais_words whole = (ais_words)(ratio == ratio) & (ais_words)(ais_load(call->round_trip + c) <= tolerance);
        value = (ais_doubles)((ais_words)value & whole);
        ais_words below = (ais_words)(ais_load(call->uniform + c) < value);
        ais_store(chance + c, value);
        memcpy(taken + c, &below, sizeof below);
    }
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
