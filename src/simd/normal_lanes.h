/* The bodies behind simd/normal.h, one block of AIS_LANES counters at a time. */
#ifndef AIS_SIMD_NORMAL_LANES_H
#define AIS_SIMD_NORMAL_LANES_H

#include "base/random.h"
#include "simd/isa.h"

AIS_DECLARE_LANES(void, ais_normal_pairs, const ais_stream *stream, const uint32_t *chain, const uint32_t *index,
                  double *first, double *second);
AIS_DECLARE_LANES(void, ais_uniforms_block, const ais_stream *stream, uint32_t index, double *value);

#endif
