/* Lattice numbers (map/lattice_lanes.h) and their ticks in whole vectors. For *_lanes.c. */
#ifndef AIS_MAP_LATTICE_VECTOR_H
#define AIS_MAP_LATTICE_VECTOR_H

#include "map/lattice_lanes.h"
#include "simd/doubles.h"

/* In the sum of this and a lattice number the multiples of 2^-32 are the last bits. */
#define AIS_LATTICE_MAGIC 0x1.8p20

AIS_INLINE ais_doubles ais_lattice_rounded(ais_doubles value) {
    const ais_doubles most = ais_spread_double(AIS_LATTICE_END), magic = ais_spread_double(AIS_LATTICE_MAGIC);
    return (ais_min_double(ais_max_double(value, -most), most) + magic) - magic;
}

/* The ticks of the AIS_WIDTH numbers from `number` on, in the order of ais_low_words. */
AIS_INLINE ais_uints ais_ticks(const double *number) {
    const ais_doubles magic = ais_spread_double(AIS_LATTICE_MAGIC);
    ais_words first = (ais_words)(ais_load(number) + magic) >> AIS_LATTICE_HIDDEN,
              second = (ais_words)(ais_load(number + AIS_WORDS) + magic) >> AIS_LATTICE_HIDDEN;
    return (ais_uints)ais_low_words((ais_longs)first, (ais_longs)second);
}

/* to = from with these ticks in place of its own. Exact: 2^52 + 2^31 + n is put together from words for both, and what
 * is left of the difference is a multiple of 2^-32 below 2^12. */
AIS_INLINE void ais_ticks_replace(const double *from, ais_uints ticks, double *to) {
    const ais_ints high = (ais_ints){0} + 0x43300000; /* the upper half of 2^52 */
    const ais_doubles tick = ais_spread_double(AIS_TICK);
    ais_longs before[2], after[2];
    ais_join((ais_ints)(ais_ticks(from) ^ 0x80000000), high, &before[0], &before[1]);
    ais_join((ais_ints)(ticks ^ 0x80000000), high, &after[0], &after[1]);
    for (int k = 0; k < 2; k++) {
        ais_doubles moved = (ais_doubles)after[k] - (ais_doubles)before[k], number = ais_load(from + k * AIS_WORDS);
        ais_store(to + k * AIS_WORDS, ais_fma_double(moved, tick, number));
    }
}

#endif
