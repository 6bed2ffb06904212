/* out = M in + offset in the first `count` lanes for two kinds of n x n matrices (row-major), with the same bits where
 * M is of both kinds and numbers are finite. in and out do not overlap. */
#ifndef AIS_MAP_WHITENING_LANES_H
#define AIS_MAP_WHITENING_LANES_H

#include "simd/isa.h"

/* Of a diagonal one, in time linear in n. */
AIS_DECLARE_LANES(void, ais_diagonal_apply, int n, size_t lanes, size_t count, const double *matrix,
                  const double *offset, const double *in, double *out);

/* Of any one. `lower`: all above the diagonal is zero and not looked at. */
AIS_DECLARE_LANES(void, ais_dense_apply, int n, bool lower, size_t lanes, size_t count, const double *matrix,
                  const double *offset, const double *in, double *out);

/* For one point that need not pay for lanes, with the same bits. Row i of M may have numbers that are not zero in the
 * columns i - before to i + after. */
AIS_DECLARE_LANES(void, ais_point_apply, int n, int before, int after, const double *matrix, const double *offset,
                  const double *in, double *out);

/* out = M' in of one point. */
AIS_DECLARE_LANES(void, ais_point_transposed, int n, int before, int after, const double *matrix, const double *in,
                  double *out);

#endif
