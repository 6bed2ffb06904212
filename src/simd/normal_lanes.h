/* The bodies behind simd/normal.h; lanes is a multiple of AIS_HALF. */
#ifndef AIS_SIMD_NORMAL_LANES_H
#define AIS_SIMD_NORMAL_LANES_H

#include "base/random.h"
#include "simd/isa.h"

/* Two normals for each lane; lane c's counter is chain stream->chain + c * by_chain, index + c * by_index. */
AIS_DECLARE_LANES(void, ais_normal_pairs, const ais_stream *stream, size_t lanes, uint32_t by_chain, uint32_t index,
                  uint32_t by_index, double *first, double *second);
AIS_DECLARE_LANES(void, ais_uniforms_block, const ais_stream *stream, uint32_t index, size_t lanes, double *value);

#endif
