/* Between lattice numbers and floats or doubles in whole vectors. V sees and gives 32 bits of a lattice number,
 * multiples of 2^-20 of the whitened scale up to 2^11; beyond, what it sees wraps and what it gives is -2^11. Any
 * function would keep M an involution; only that it is always the same one matters. For *_lanes.c. */
#ifndef AIS_KERNEL_LATTICE_VECTOR_H
#define AIS_KERNEL_LATTICE_VECTOR_H

#include "kernel/lattice_lanes.h"
#include "simd/doubles.h"

typedef uint32_t ais_lattice_ints __attribute__((vector_size(4 * AIS_WIDTH)));

/* What V sees, in units of AIS_LATTICE_UNIT and in the order of ais_low_words. */
AIS_INLINE ais_floats ais_lattice_seen(ais_words a, ais_words b) {
    ais_longs first = (ais_longs)(a >> AIS_LATTICE_HIDDEN), second = (ais_longs)(b >> AIS_LATTICE_HIDDEN);
    return __builtin_convertvector(ais_low_words(first, second), ais_floats);
}

/* The lattice numbers of what V gives, in those units and in that order. */
AIS_INLINE void ais_lattice_given(ais_floats value, ais_words *a, ais_words *b) {
    ais_ints whole = ais_whole(value);
    ais_ints low = (ais_ints)((ais_lattice_ints)whole << AIS_LATTICE_HIDDEN), high = whole >> (32 - AIS_LATTICE_HIDDEN);
    ais_join(low, high, (ais_longs *)a, (ais_longs *)b);
}

/* The nearest doubles: ais_fixed_to of base/fixed.h. */
AIS_INLINE ais_doubles ais_lattice_doubles(ais_words fixed) {
    ais_doubles high = (ais_doubles)(fixed >> 32 ^ 0x4330000080000000);         /* 2^52 + 2^31 + the upper half */
    ais_doubles low = (ais_doubles)((fixed & 0xffffffff) | 0x4130000000000000); /* 2^20 + the lower half */
    return (high - (0x1p52 + 0x1p31 + 0x1p20)) + low;
}

/* Rounds to the lattice what lies within +-2^18, beyond which it is taken for that: the multiples of 2^-32 are the last
 * bits of a number near 2^20. value becomes what the lattice has for it. */
AIS_INLINE ais_words ais_lattice_rounded(ais_doubles *value) {
    const ais_doubles most = ais_spread_double(0x1p18), magic = ais_spread_double(0x1.8p20);
    ais_doubles moved = ais_min_double(ais_max_double(*value, -most), most) + magic;
    *value = moved - magic;
    return (ais_words)moved - (ais_words)magic;
}

#endif
