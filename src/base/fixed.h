/* 64-bit fixed point: integers that stand for multiples of 2^-32. Addition and subtraction wrap, so
 * that each undoes the other for every pair of values: the lattice of anice. */
#ifndef AIS_BASE_FIXED_H
#define AIS_BASE_FIXED_H

#include <stdint.h>

#define AIS_FIXED_ONE 0x1p32

static inline int64_t ais_fixed_add(int64_t a, int64_t b) { return (int64_t)((uint64_t)a + (uint64_t)b); }
static inline int64_t ais_fixed_sub(int64_t a, int64_t b) { return (int64_t)((uint64_t)a - (uint64_t)b); }

/* Rounds to the nearest multiple; what is beyond +-2^30 is clamped there and NaN becomes -2^30, so
 * that the result is a function of the argument whatever it is. */
static inline int64_t ais_fixed_from(double value) {
    const double limit = 0x1p30;
    value = value > -limit ? value : -limit;
    value = value < limit ? value : limit;
    /* Adding 1.5 * 2^(52-32) leaves the rounded multiple of 2^-32 in the low bits, where integer
     * and double agree; it vectorises on every instruction set, unlike a conversion. Two parts,
     * because one mantissa cannot hold 62 bits. */
    double high = (value + 0x1.8p52) - 0x1.8p52; /* nearest integer */
    double low = (value - high) * AIS_FIXED_ONE; /* within +-2^31, exact */
    union {
        double d;
        int64_t i;
    } h = {.d = high + 0x1.8p52}, l = {.d = low + 0x1.8p52};
    int64_t bias = 0x4338000000000000; /* the bits of 1.5 * 2^52 */
    return ais_fixed_add((int64_t)((uint64_t)(h.i - bias) << 32), l.i - bias);
}

/* The nearest double. The two halves are put into mantissas, which vectorises on every instruction set, unlike a
 * conversion; only their sum rounds. */
static inline double ais_fixed_to(int64_t fixed) {
    union {
        uint64_t i;
        double d;
    } high = {.i = (uint64_t)fixed >> 32 ^ 0x4330000080000000},           /* 2^52 + 2^31 + the upper half */
        low = {.i = ((uint64_t)fixed & 0xffffffff) | 0x4130000000000000}; /* 2^20 + the lower half */
    return (high.d - (0x1p52 + 0x1p31 + 0x1p20)) + low.d;
}

#endif
