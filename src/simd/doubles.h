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

/* a b + c; the larger, the smaller: b where either is not a number; the square root. */
#if defined(__AVX512F__)
AIS_INLINE ais_doubles ais_spread_double(double value) { return _mm512_set1_pd(value); }
AIS_INLINE ais_doubles ais_fma_double(ais_doubles a, ais_doubles b, ais_doubles c) { return _mm512_fmadd_pd(a, b, c); }
AIS_INLINE ais_doubles ais_max_double(ais_doubles a, ais_doubles b) { return _mm512_max_pd(a, b); }
AIS_INLINE ais_doubles ais_min_double(ais_doubles a, ais_doubles b) { return _mm512_min_pd(a, b); }
AIS_INLINE ais_doubles ais_sqrt_double(ais_doubles a) { return _mm512_sqrt_pd(a); }
#elif defined(__AVX2__)
AIS_INLINE ais_doubles ais_spread_double(double value) { return _mm256_set1_pd(value); }
AIS_INLINE ais_doubles ais_fma_double(ais_doubles a, ais_doubles b, ais_doubles c) { return _mm256_fmadd_pd(a, b, c); }
AIS_INLINE ais_doubles ais_max_double(ais_doubles a, ais_doubles b) { return _mm256_max_pd(a, b); }
AIS_INLINE ais_doubles ais_min_double(ais_doubles a, ais_doubles b) { return _mm256_min_pd(a, b); }
AIS_INLINE ais_doubles ais_sqrt_double(ais_doubles a) { return _mm256_sqrt_pd(a); }
#else
AIS_INLINE ais_doubles ais_spread_double(double value) { return (ais_doubles){value, value}; }
AIS_INLINE ais_doubles ais_fma_double(ais_doubles a, ais_doubles b, ais_doubles c) { return a * b + c; }
AIS_INLINE ais_doubles ais_max_double(ais_doubles a, ais_doubles b) { return ais_pick(a > b, a, b); }
AIS_INLINE ais_doubles ais_min_double(ais_doubles a, ais_doubles b) { return ais_pick(a < b, a, b); }
#if defined(__x86_64__)
AIS_INLINE ais_doubles ais_sqrt_double(ais_doubles a) { return _mm_sqrt_pd(a); }
#else
AIS_INLINE ais_doubles ais_sqrt_double(ais_doubles a) {
    return (ais_doubles){__builtin_sqrt(a[0]), __builtin_sqrt(a[1])};
}
#endif
#endif

/* Whether all lanes of a comparison hold. */
AIS_INLINE bool ais_all(ais_longs which) {
#if defined(__AVX512F__)
    return _mm512_movepi64_mask((__m512i)which) == 0xff;
#elif defined(__AVX2__)
    return _mm256_movemask_pd((__m256d)which) == 0xf;
#else
    return which[0] && which[1];
#endif
}

/* 2^x of `count` vectors, at most 32 numbers up to 1000, in place, to 3e-16; 2^-1021 below -1021, a NaN
 * passes. With n = round(x), 2^n times the polynomial of degree 10 in x - n. Several vectors share the factors, and one
 * is worked on while another waits; count is a constant after inlining. */
AIS_INLINE void ais_powers_below(int count, ais_doubles *x) {
    static const double factor[] = {0x1p+0,
                                    0x1.62e42fefa3a19p-1,
                                    0x1.ebfbdff82c598p-3,
                                    0x1.c6b08d703ce49p-5,
                                    0x1.3b2ab6fba1ddap-7,
                                    0x1.5d87fe9d7a584p-10,
                                    0x1.430913096fd9fp-13,
                                    0x1.ffcb54062e698p-17,
                                    0x1.62bfd47773353p-20,
                                    0x1.b675bca4eeebbp-24,
                                    0x1.e6063f7217bc6p-28};
    enum { MOST = 32 / AIS_WORDS };
    const ais_doubles magic = ais_spread_double(0x1.8p52), least = ais_spread_double(-1021);
    ais_doubles shifted[MOST], q[MOST], sum[MOST];
    for (int k = 0; k < count; k++) {
        x[k] = ais_max_double(least, x[k]);
        shifted[k] = x[k] + magic;
        q[k] = x[k] - (shifted[k] - magic);
        sum[k] = ais_fma_double(ais_spread_double(factor[10]), q[k], ais_spread_double(factor[9]));
    }
#pragma GCC unroll 9
    for (int f = 8; f >= 0; f--)
        for (int k = 0; k < count; k++) sum[k] = ais_fma_double(sum[k], q[k], ais_spread_double(factor[f]));
    for (int k = 0; k < count; k++) x[k] = (ais_doubles)((ais_words)sum[k] + ((ais_words)shifted[k] << 52));
}

/* a b + c of one number, rounded as a lane is whatever the compiler makes of a product and a sum. */
AIS_INLINE double ais_fma_one(double a, double b, double c) {
#if defined(__FMA__)
    return __builtin_fma(a, b, c);
#else
    return a * b + c;
#endif
}

/* log(x) of positive numbers that are neither infinite nor subnormal, to 1e-15; anything of others. x = 2^n m, m
 * between sqrt(1/2) and sqrt(2); log(m) = 2 atanh(s), s = (m - 1) / (m + 1), by a polynomial in s^2. */
AIS_INLINE ais_doubles ais_log_normal(ais_doubles x) {
    static const double factor[] = {0x1.0000000000001p+1, 0x1.5555555552d43p-1, 0x1.999999a437ca8p-2,
                                    0x1.249240b6add8fp-2, 0x1.c722cdefdf9b3p-3, 0x1.7322ff4d521e3p-3,
                                    0x1.58d770f9b4f48p-3};
    const uint64_t least = 0x3fe6a09e00000000, one = 0x3ff0000000000000; /* sqrt(1/2) */
    ais_words bits = (ais_words)x + (one - least);
    ais_doubles n = (ais_doubles)(bits >> 52 | 0x4330000000000000) - (0x1p52 + 1023);
    ais_doubles m = (ais_doubles)((bits & 0x000fffffffffffff) + least), s = (m - 1) / (m + 1), square = s * s;
    ais_doubles sum = ais_spread_double(factor[6]);
    for (int k = 5; k >= 0; k--) sum = ais_fma_double(sum, square, ais_spread_double(factor[k]));
    return ais_fma_double(n, ais_spread_double(0.69314718055994530942), s * sum);
}

#endif
