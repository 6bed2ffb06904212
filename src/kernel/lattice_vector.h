/* Lattice numbers (kernel/lattice_lanes.h) and their ticks in whole vectors. For *_lanes.c. */
#ifndef AIS_KERNEL_LATTICE_VECTOR_H
#define AIS_KERNEL_LATTICE_VECTOR_H

#include "kernel/lattice_lanes.h"
#include "simd/doubles.h"

/* In the sum of this and a lattice number the multiples of 2^-32 are the last bits. */
#define AIS_LATTICE_MAGIC 0x1.8p20

AIS_INLINE ais_doubles ais_lattice_rounded(ais_doubles value) {
    const ais_doubles most = ais_spread_double(AIS_LATTICE_END), magic = ais_spread_double(AIS_LATTICE_MAGIC);
    return (ais_min_double(ais_max_double(value, -most), most) + magic) - magic;
}

/* The ticks of two vectors, in the order of ais_low_words. */
AIS_INLINE ais_uints ais_ticks(ais_doubles a, ais_doubles b) {
    const ais_doubles magic = ais_spread_double(AIS_LATTICE_MAGIC);
    ais_words first = (ais_words)(a + magic) >> AIS_LATTICE_HIDDEN,
              second = (ais_words)(b + magic) >> AIS_LATTICE_HIDDEN;
    return (ais_uints)ais_low_words((ais_longs)first, (ais_longs)second);
}

/* a and b, whose ticks are `before`, with the ticks `after` in their place. Exact: 2^52 + 2^31 + n is put together from
 * words for both, and what is left of the difference is a multiple of 2^-32 below 2^20. */
AIS_INLINE void ais_ticks_replace(ais_uints before, ais_uints after, ais_doubles *a, ais_doubles *b) {
    const ais_ints high = (ais_ints){0} + 0x43300000; /* the upper half of 2^52 */
    const ais_doubles tick = ais_spread_double(AIS_TICK);
    ais_longs from[2], to[2];
    ais_join((ais_ints)(before ^ 0x80000000), high, &from[0], &from[1]);
    ais_join((ais_ints)(after ^ 0x80000000), high, &to[0], &to[1]);
    *a = ais_fma_double((ais_doubles)to[0] - (ais_doubles)from[0], tick, *a);
    *b = ais_fma_double((ais_doubles)to[1] - (ais_doubles)from[1], tick, *b);
}

#endif
