/* Between lattice numbers and floats in whole vectors, cheaper than through double: what a float can tell of
 * a lattice number, and the lattice number next to a float. Any function would keep M an involution; only
 * that it is always the same one matters. For *_lanes.c. */
#ifndef AIS_KERNEL_LATTICE_VECTOR_H
#define AIS_KERNEL_LATTICE_VECTOR_H

#include "simd/vector.h"

typedef uint32_t ais_lattice_words __attribute__((vector_size(4 * AIS_WIDTH)));

/* high + low 2^-32, of low the upper 24 bits; in ais_split's order. */
AIS_INLINE ais_floats ais_lattice_floats(ais_longs a, ais_longs b) {
    ais_ints low, high;
    ais_split(a, b, &low, &high);
    ais_ints upper = (ais_ints)((ais_lattice_words)low >> 8);
    return ais_fma(__builtin_convertvector(upper, ais_floats), ais_spread(0x1p-24F),
                   __builtin_convertvector(high, ais_floats));
}

/* Down to a multiple of 2^-31, clamped to +-2^30, NaN becoming -2^30. */
AIS_INLINE void ais_lattice_round(ais_floats value, ais_longs *a, ais_longs *b) {
    value = ais_min(ais_max(value, ais_spread(-0x1p30F)), ais_spread(0x1p30F));
    ais_floats whole = ais_floor(value);
    /* value - whole rounds to 1 for small negative values */
    ais_floats rest = ais_min((value - whole) * 0x1p31F, ais_spread(0x1.fffffep30F));
    ais_lattice_words low = (ais_lattice_words) __builtin_convertvector(rest, ais_ints);
    ais_join((ais_ints)(low + low), __builtin_convertvector(whole, ais_ints), a, b);
}

#endif
