/* The bodies behind simd/normal.h; lanes is a multiple of AIS_HALF. */
#ifndef AIS_SIMD_NORMAL_LANES_H
#define AIS_SIMD_NORMAL_LANES_H

#include "base/random.h"
#include "simd/isa.h"

/* How counters differ from lane to lane: lane c's is that of step stream->step + c * by_step (without a carry out of
 * its low 32 bits), chain stream->chain + c * by_chain and index + c * by_index. */
typedef struct ais_counters {
    uint32_t by_step, by_chain, index, by_index;
} ais_counters;

/* Two normals for each lane, and, unless it is NULL, a uniform number of 34 bits from what they leave of their words.
 */
AIS_DECLARE_LANES(void, ais_normal_pairs, const ais_stream *stream, size_t lanes, ais_counters counters, double *first,
                  double *second, double *uniform);
/* ais_random_uniform of consecutive chains from stream->chain on. */
AIS_DECLARE_LANES(void, ais_uniforms_block, const ais_stream *stream, size_t lanes, uint32_t index, double *value);

#endif
