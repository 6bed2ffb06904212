/* Vectors of doubles and of 64-bit words, for *_lanes.c, beside simd/vector.h. */
#ifndef AIS_SIMD_DOUBLES_H
#define AIS_SIMD_DOUBLES_H

#include <string.h>

#include "simd/vector.h"

enum { AIS_WORDS = AIS_WIDTH / 2 };
typedef uint64_t ais_words __attribute__((vector_size(4 * AIS_WIDTH)));
typedef double ais_doubles __attribute__((vector_size(4 * AIS_WIDTH)));

AIS_INLINE ais_doubles ais_load(const double *from) {
    ais_doubles value;
    memcpy(&value, from, sizeof value);
    return value;
}

AIS_INLINE void ais_store(double *to, ais_doubles value) { memcpy(to, &value, sizeof value); }

/* yes where `which`, of a comparison, is all ones, no where it is 0. */
AIS_INLINE ais_doubles ais_pick(ais_longs which, ais_doubles yes, ais_doubles no) {
#if defined(__AVX2__) && !defined(__AVX512F__)
    return _mm256_blendv_pd(no, yes, (ais_doubles)which);
#else
    return (ais_doubles)(((ais_longs)yes & which) | ((ais_longs)no & ~which));
#endif
}

/* a b + c; the larger, b where either is not a number. */
#if defined(__AVX512F__)
AIS_INLINE ais_doubles ais_spread_double(double value) { return _mm512_set1_pd(value); }
AIS_INLINE ais_doubles ais_fma_double(ais_doubles a, ais_doubles b, ais_doubles c) { return _mm512_fmadd_pd(a, b, c); }
AIS_INLINE ais_doubles ais_max_double(ais_doubles a, ais_doubles b) { return _mm512_max_pd(a, b); }
#elif defined(__AVX2__)
AIS_INLINE ais_doubles ais_spread_double(double value) { return _mm256_set1_pd(value); }
AIS_INLINE ais_doubles ais_fma_double(ais_doubles a, ais_doubles b, ais_doubles c) { return _mm256_fmadd_pd(a, b, c); }
AIS_INLINE ais_doubles ais_max_double(ais_doubles a, ais_doubles b) { return _mm256_max_pd(a, b); }
#else
AIS_INLINE ais_doubles ais_spread_double(double value) { return (ais_doubles){value, value}; }
AIS_INLINE ais_doubles ais_fma_double(ais_doubles a, ais_doubles b, ais_doubles c) { return a * b + c; }
AIS_INLINE ais_doubles ais_max_double(ais_doubles a, ais_doubles b) { return ais_pick(a > b, a, b); }
#endif

/* exp of numbers that are not positive, to 2 units in the last place; 0 below -708, a NaN passes. Half the time of
 * libmvec's, which is called and takes any argument. With n = round(x / ln 2), r = x - n ln 2, |r| <= ln 2 / 2:
 * 2^n times the Taylor polynomial of exp(r) to r^12 / 12!, whose rest is below 2^-55. */
AIS_INLINE ais_doubles ais_exp_below(ais_doubles x) {
    const ais_doubles magic = ais_spread_double(0x1.8p52);
    ais_doubles bounded = ais_max_double(ais_spread_double(-708), x);
    ais_doubles shifted = ais_fma_double(bounded, ais_spread_double(0x1.71547652b82fep+0), magic), n = shifted - magic;
    ais_doubles r = ais_fma_double(n, ais_spread_double(-0x1.62e42fefa3800p-1), bounded);
    r = ais_fma_double(n, ais_spread_double(-0x1.ef35793c76730p-45), r);
    /* 1 / k!, k = 0 to 12; taken in pairs, pairs of pairs and so on: a chain alone waits for the last of them */
    static const double factor[] = {
        1,          1,           1.0 / 2,      1.0 / 6,       1.0 / 24,       1.0 / 120,      1.0 / 720,
        1.0 / 5040, 1.0 / 40320, 1.0 / 362880, 1.0 / 3628800, 1.0 / 39916800, 1.0 / 479001600};
    ais_doubles square = r * r, fourth = square * square, pair[6];
    for (int k = 0; k < 6; k++)
        pair[k] = ais_fma_double(ais_spread_double(factor[2 * k + 1]), r, ais_spread_double(factor[2 * k]));
    for (int k = 0; k < 6; k += 2) pair[k] = ais_fma_double(pair[k + 1], square, pair[k]);
    pair[0] = ais_fma_double(pair[2], fourth, pair[0]);
    pair[4] = ais_fma_double(ais_spread_double(factor[12]), fourth, pair[4]);
    ais_doubles sum = ais_fma_double(pair[4], fourth * fourth, pair[0]);
    ais_words power = (ais_words)shifted << 52; /* n, in the low bits of shifted, into the exponent */
    ais_words result = (ais_words)sum + power, under = (ais_words)(x < ais_spread_double(-708));
    return (ais_doubles)(result & ~under);
}

#endif
