/* The lattice that Henon maps live on, math.md (7): multiples of 2^-32 of the whitened scale from -2^11 up to 2^11, as
 * doubles. A map changes whole ticks of a lattice number, the 32-bit integer floor(number / 2^-20), with sums that
 * wrap; the lowest bits, hidden from it, stay with the number. So each layer permutes the lattice, whatever V is.
 *
 * In arrays of n, a multiple of AIS_LANES and aligned. Within a vector ticks may stand in another order than the
 * numbers, always the same one. */
#ifndef AIS_MAP_LATTICE_LANES_H
#define AIS_MAP_LATTICE_LANES_H

#include <stdint.h>

#include "nn/real.h"
#include "simd/isa.h"

enum { AIS_LATTICE_HIDDEN = 12 };
#define AIS_TICK        0x1p-20
#define AIS_LATTICE_END 0x1p11

/* The nearest lattice numbers; what is beyond the ends is put there. */
AIS_DECLARE_LANES(void, ais_lattice_round, size_t n, const double *from, double *to);

AIS_DECLARE_LANES(void, ais_ticks_of, size_t n, const double *number, int32_t *ticks);
/* to = from with other ticks */
AIS_DECLARE_LANES(void, ais_ticks_put, size_t n, const double *from, const int32_t *ticks, double *to);

/* What V sees: real = ticks, in whitened units. */
AIS_DECLARE_LANES(void, ais_ticks_to_real, size_t n, const int32_t *ticks, ais_real *real);
/* ticks = times real - ticks, times 1 or 2. What 32 bits cannot hold, and NaN, counts as ais_whole says. */
AIS_DECLARE_LANES(void, ais_ticks_reflect, size_t n, const ais_real *real, int times, int32_t *ticks);

#endif
