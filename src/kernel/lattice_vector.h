/* Between lattice numbers and floats in whole vectors. V sees and gives 32 bits of a lattice number: multiples of
 * 2^-20 of the whitened scale, which is finer than V's single precision beyond 16, up to 2^11, where they wrap or are
 * clamped. Any function would keep M an involution; only that it is always the same one matters. For *_lanes.c. */
#ifndef AIS_KERNEL_LATTICE_VECTOR_H
#define AIS_KERNEL_LATTICE_VECTOR_H

#include "kernel/lattice_lanes.h"
#include "simd/vector.h"

typedef uint32_t ais_lattice_ints __attribute__((vector_size(4 * AIS_WIDTH)));
typedef uint64_t ais_lattice_words __attribute__((vector_size(4 * AIS_WIDTH)));

/* What V sees, in units of AIS_LATTICE_UNIT and in the order of ais_low_words. */
AIS_INLINE ais_floats ais_lattice_seen(ais_lattice_words a, ais_lattice_words b) {
    ais_longs first = (ais_longs)(a >> AIS_LATTICE_HIDDEN), second = (ais_longs)(b >> AIS_LATTICE_HIDDEN);
    return __builtin_convertvector(ais_low_words(first, second), ais_floats);
}

/* The lattice numbers of what V gives, in those units and in that order; not a number: the least of them. */
AIS_INLINE void ais_lattice_given(ais_floats value, ais_lattice_words *a, ais_lattice_words *b) {
    value = ais_min(ais_max(value, ais_spread(-0x1p31F)), ais_spread(0x1.fffffep30F));
    ais_ints whole = __builtin_convertvector(value, ais_ints);
    ais_ints low = (ais_ints)((ais_lattice_ints)whole << AIS_LATTICE_HIDDEN), high = whole >> (32 - AIS_LATTICE_HIDDEN);
    ais_join(low, high, (ais_longs *)a, (ais_longs *)b);
}

#endif
