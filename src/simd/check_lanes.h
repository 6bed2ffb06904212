/* Whether all of many numbers are valid, which they nearly always are. */
#ifndef AIS_SIMD_CHECK_LANES_H
#define AIS_SIMD_CHECK_LANES_H

#include "simd/isa.h"

/* Whether all n numbers are <= limit; a NaN is not. */
AIS_DECLARE_LANES(bool, ais_all_at_most, size_t n, const double *value, double limit);

#endif
