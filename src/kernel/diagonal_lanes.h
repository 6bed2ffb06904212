/* A diagonal matrix applied to many points, in time linear in the dimension: to the bit what simd/matrix_lanes.h makes
 * of it, for finite numbers. */
#ifndef AIS_KERNEL_DIAGONAL_LANES_H
#define AIS_KERNEL_DIAGONAL_LANES_H

#include "simd/isa.h"

/* out = M in + offset in the first `count` lanes. M is n x n, row-major, of which only the diagonal is read. */
AIS_DECLARE_LANES(void, ais_diagonal_apply, int n, size_t lanes, size_t count, const double *matrix,
                  const double *offset, const double *in, double *out);

#endif
