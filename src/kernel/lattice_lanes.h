/* Between lattice points and network numbers, n of them, element by element. */
#ifndef AIS_KERNEL_LATTICE_LANES_H
#define AIS_KERNEL_LATTICE_LANES_H

#include <stdint.h>

#include "nn/real.h"
#include "simd/isa.h"

/* real = nearest of fixed */
AIS_DECLARE_LANES(void, ais_lattice_to_real, size_t n, const int64_t *fixed, ais_real *real);
/* fixed = times round(real) - fixed */
AIS_DECLARE_LANES(void, ais_lattice_reflect, size_t n, const ais_real *real, int times, int64_t *fixed);
/* fixed = round(value), value = nearest of fixed */
AIS_DECLARE_LANES(void, ais_lattice_from_double, size_t n, const double *value, int64_t *fixed);
AIS_DECLARE_LANES(void, ais_lattice_to_double, size_t n, const int64_t *fixed, double *value);

#endif
