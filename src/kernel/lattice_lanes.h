/* Between lattice points and network numbers, n of them, a multiple of AIS_LANES and aligned. Within a vector the
 * network's numbers may stand in another order, the same there and back. */
#ifndef AIS_KERNEL_LATTICE_LANES_H
#define AIS_KERNEL_LATTICE_LANES_H

#include <stdint.h>

#include "nn/real.h"
#include "simd/isa.h"

/* V sees all but the lowest bits of a lattice number, as a number of these units: kernel/lattice_vector.h. */
enum { AIS_LATTICE_HIDDEN = 12 };
#define AIS_LATTICE_UNIT 0x1p-20F

/* real = fixed */
AIS_DECLARE_LANES(void, ais_lattice_to_real, size_t n, const int64_t *fixed, ais_real *real);
/* fixed = times real - fixed, times 1 or 2 */
AIS_DECLARE_LANES(void, ais_lattice_reflect, size_t n, const ais_real *real, int times, int64_t *fixed);
/* fixed = round(value), value = nearest of fixed */
AIS_DECLARE_LANES(void, ais_lattice_from_double, size_t n, const double *value, int64_t *fixed);
AIS_DECLARE_LANES(void, ais_lattice_to_double, size_t n, const int64_t *fixed, double *value);

/* Of a proposal, in the first `chains` lanes: v (dim x lanes) put on the lattice, kinetic = 1/2 |v|^2 of what it became
 * there; and the image (2 dim x lanes) taken off it, 1/2 |v'|^2 subtracted. */
AIS_DECLARE_LANES(void, ais_lattice_depart, int dim, size_t lanes, size_t chains, const double *v, int64_t *fixed,
                  double *kinetic);
AIS_DECLARE_LANES(void, ais_lattice_arrive, int dim, size_t lanes, size_t chains, const int64_t *fixed, double *value,
                  double *kinetic);

#endif
