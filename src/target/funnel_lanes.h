/* Neal's funnel: the batch body. data is the dimension, an int. */
#ifndef AIS_TARGET_FUNNEL_LANES_H
#define AIS_TARGET_FUNNEL_LANES_H

#include "simd/isa.h"

AIS_DECLARE_LANES(void, ais_funnel_block, const void *dim, size_t count, size_t stride, const double *x, double *logp);

#endif
