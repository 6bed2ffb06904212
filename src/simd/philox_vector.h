/* Philox4x32-10 with a chain per 64-bit lane, for *_lanes.c: the product of two 32-bit numbers is one
 * instruction there, and what lies above the low 32 bits of a lane never matters until the end. Constants of
 * Salmon et al. 2011; the counters are base/philox.h's. */
#ifndef AIS_SIMD_PHILOX_VECTOR_H
#define AIS_SIMD_PHILOX_VECTOR_H

#include "base/random.h"
#include "simd/doubles.h"

/* The product of the low halves. */
AIS_INLINE ais_words ais_multiply_low(ais_words a, ais_words b) {
#if defined(__AVX512F__)
    return (ais_words)_mm512_mul_epu32((__m512i)a, (__m512i)b);
#elif defined(__AVX2__)
    return (ais_words)_mm256_mul_epu32((__m256i)a, (__m256i)b);
#elif defined(__x86_64__)
    return (ais_words)_mm_mul_epu32((__m128i)a, (__m128i)b);
#else
    return (a & 0xffffffff) * (b & 0xffffffff);
#endif
}

typedef struct ais_philox_key {
    uint64_t round[10][2];
    uint64_t purpose; /* and the upper part of the step: the counter's second word */
} ais_philox_key;

AIS_INLINE ais_philox_key ais_philox_prepare(const ais_stream *stream) {
    ais_philox_key key = {.purpose = stream->purpose << 24 | (uint32_t)(stream->step >> 32)};
    uint32_t first = (uint32_t)stream->seed, second = (uint32_t)(stream->seed >> 32);
    for (int r = 0; r < 10; r++) {
        key.round[r][0] = first;
        key.round[r][1] = second;
        first += 0x9E3779B9;
        second += 0xBB67AE85;
    }
    return key;
}

/* Where AIS_WORDS numbers stand in their streams: steps (their low words), chains and indices. */
typedef struct ais_place {
    ais_words step, chain, index;
} ais_place;

/* The numbers at `count` places, as two 64-bit words each; count is a constant after inlining. Several places at once,
 * because a round waits for the one before. */
AIS_INLINE void ais_philox_words(const ais_philox_key *key, int count, const ais_place *place, ais_words (*word)[2]) {
    const ais_words zero = {0}, factor[2] = {zero + 0xD2511F53, zero + 0xCD9E8D57};
    ais_words c[AIS_HALF / AIS_WORDS][4];
    for (int p = 0; p < count; p++) {
        c[p][0] = place[p].index;
        c[p][1] = zero + key->purpose;
        c[p][2] = place[p].step;
        c[p][3] = place[p].chain;
    }
#pragma GCC unroll 10
    for (int r = 0; r < 10; r++)
        for (int p = 0; p < count; p++) {
            ais_words first = ais_multiply_low(c[p][0], factor[0]), second = ais_multiply_low(c[p][2], factor[1]);
            /* what is known already first: a round waits for its products alone */
            c[p][0] = (c[p][1] ^ (zero + key->round[r][0])) ^ (second >> 32);
            c[p][2] = (c[p][3] ^ (zero + key->round[r][1])) ^ (first >> 32);
            c[p][1] = second;
            c[p][3] = first;
        }
    for (int p = 0; p < count; p++)
        for (int k = 0; k < 2; k++) word[p][k] = c[p][2 * k + 1] << 32 | (c[p][2 * k] & 0xffffffff);
}

/* ais_unit of base/philox.h: the upper 52 bits as the mantissa of a number above 2^52. */
AIS_INLINE ais_doubles ais_units(ais_words word) {
    return ((ais_doubles)(word >> 12 | 0x4330000000000000) - (0x1p52 - 0.5)) * 0x1p-52;
}

#endif
