/* Small dense matrices in double applied to many points: out (rows x lanes) = M in + offset. */
#ifndef AIS_SIMD_MATRIX_LANES_H
#define AIS_SIMD_MATRIX_LANES_H

#include "simd/isa.h"

/* Of the first `count` lanes. M is n x n, row-major; offset (n) may be NULL. in and out do not overlap. */
AIS_DECLARE_LANES(void, ais_matrix_apply, int n, size_t lanes, size_t count, const double *matrix, const double *offset,
                  const double *in, double *out);

#endif
