/* The widest vectors of the instruction set a *_lanes.c file is compiled for, with the few operations
 * that C's operators on vectors lack. Everything is written out (no contraction left to the
 * compiler), so that two bodies that do the same operations give the same bits. */
#ifndef AIS_SIMD_VECTOR_H
#define AIS_SIMD_VECTOR_H

#include <stdint.h>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#if defined(__AVX512F__)
enum { AIS_WIDTH = 16 };
#elif defined(__AVX2__)
enum { AIS_WIDTH = 8 };
#else
enum { AIS_WIDTH = 4 };
#endif

#define AIS_INLINE static inline __attribute__((always_inline))

/* floats, as many 32-bit integers, and half as many 64-bit integers */
typedef float ais_floats __attribute__((vector_size(4 * AIS_WIDTH)));
typedef int32_t ais_ints __attribute__((vector_size(4 * AIS_WIDTH)));
typedef uint32_t ais_uints __attribute__((vector_size(4 * AIS_WIDTH)));
typedef int64_t ais_longs __attribute__((vector_size(4 * AIS_WIDTH)));

/* Eight floats whatever the set: what one chain's hidden units come in. */
typedef float ais_eight __attribute__((vector_size(32)));

#if defined(__AVX512F__)
AIS_INLINE ais_floats ais_spread(float value) { return _mm512_set1_ps(value); }
#elif defined(__AVX2__)
AIS_INLINE ais_floats ais_spread(float value) { return _mm256_set1_ps(value); }
#else
AIS_INLINE ais_floats ais_spread(float value) { return (ais_floats){value, value, value, value}; }
#endif

/* a b + c. max and min give b where a is not a number. */
#if defined(__AVX512F__)
AIS_INLINE ais_floats ais_fma(ais_floats a, ais_floats b, ais_floats c) { return _mm512_fmadd_ps(a, b, c); }
AIS_INLINE ais_floats ais_max(ais_floats a, ais_floats b) { return _mm512_max_ps(a, b); }
AIS_INLINE ais_floats ais_min(ais_floats a, ais_floats b) { return _mm512_min_ps(a, b); }
#elif defined(__AVX2__)
AIS_INLINE ais_floats ais_fma(ais_floats a, ais_floats b, ais_floats c) { return _mm256_fmadd_ps(a, b, c); }
AIS_INLINE ais_floats ais_max(ais_floats a, ais_floats b) { return _mm256_max_ps(a, b); }
AIS_INLINE ais_floats ais_min(ais_floats a, ais_floats b) { return _mm256_min_ps(a, b); }
#else
AIS_INLINE ais_floats ais_fma(ais_floats a, ais_floats b, ais_floats c) { return a * b + c; }
AIS_INLINE ais_floats ais_choose(ais_ints which, ais_floats yes, ais_floats no) {
    return (ais_floats)((which & (ais_ints)yes) | (~which & (ais_ints)no));
}
#if defined(__x86_64__)
AIS_INLINE ais_floats ais_max(ais_floats a, ais_floats b) { return _mm_max_ps(a, b); }
AIS_INLINE ais_floats ais_min(ais_floats a, ais_floats b) { return _mm_min_ps(a, b); }
#else
AIS_INLINE ais_floats ais_max(ais_floats a, ais_floats b) { return ais_choose(a > b, a, b); }
AIS_INLINE ais_floats ais_min(ais_floats a, ais_floats b) { return ais_choose(a < b, a, b); }
#endif
#endif

/* Toward zero; numbers that 32 bits cannot hold, and NaN, become the least integer or, not on x86, are clamped. */
AIS_INLINE ais_ints ais_whole(ais_floats a) {
#if defined(__AVX512F__)
    return (ais_ints)_mm512_cvttps_epi32(a);
#elif defined(__AVX2__)
    return (ais_ints)_mm256_cvttps_epi32(a);
#elif defined(__x86_64__)
    return (ais_ints)_mm_cvttps_epi32(a);
#else
    a = ais_min(ais_max(a, ais_spread(-0x1p31F)), ais_spread(0x1.fffffep30F));
    return __builtin_convertvector(a, ais_ints);
#endif
}

/* The low words of two vectors of 64-bit integers, and the vectors of given low and high words. The order within
 * words is the one that costs least, the same for both. */
#if defined(__AVX512F__)
AIS_INLINE ais_ints ais_low_words(ais_longs a, ais_longs b) {
    return (ais_ints)_mm512_shuffle_ps((__m512)a, (__m512)b, 0x88);
}
AIS_INLINE void ais_join(ais_ints low, ais_ints high, ais_longs *a, ais_longs *b) {
    *a = (ais_longs)_mm512_unpacklo_epi32((__m512i)low, (__m512i)high);
    *b = (ais_longs)_mm512_unpackhi_epi32((__m512i)low, (__m512i)high);
}
#elif defined(__AVX2__)
AIS_INLINE ais_ints ais_low_words(ais_longs a, ais_longs b) {
    return (ais_ints)_mm256_shuffle_ps((__m256)a, (__m256)b, 0x88);
}
AIS_INLINE void ais_join(ais_ints low, ais_ints high, ais_longs *a, ais_longs *b) {
    *a = (ais_longs)_mm256_unpacklo_epi32((__m256i)low, (__m256i)high);
    *b = (ais_longs)_mm256_unpackhi_epi32((__m256i)low, (__m256i)high);
}
#else
AIS_INLINE ais_ints ais_low_words(ais_longs a, ais_longs b) {
    return __builtin_shufflevector((ais_ints)a, (ais_ints)b, 0, 2, 4, 6);
}
AIS_INLINE void ais_join(ais_ints low, ais_ints high, ais_longs *a, ais_longs *b) {
    *a = (ais_longs)__builtin_shufflevector(low, high, 0, 4, 1, 5);
    *b = (ais_longs)__builtin_shufflevector(low, high, 2, 6, 3, 7);
}
#endif

#endif
