/* Normal and uniform numbers for many chains at once (base/random.h has the streams). */
#ifndef AIS_SIMD_NORMAL_H
#define AIS_SIMD_NORMAL_H

#include "base/random.h"

/* value[k] is normal k of the stream, k < count. */
void ais_normals(const ais_stream *stream, size_t count, double *value);

/* For `lanes` consecutive chains from stream->chain on: value[k * lanes + c] is normal k of chain
 * c's stream, the number that ais_normals gives it. lanes is a multiple of AIS_LANES. */
void ais_normals_lanes(const ais_stream *stream, size_t count, size_t lanes, double *value);

/* The same of the first `chains` of them, and in uniform[c] a number of the same stream that is independent of them,
 * for the test of a step: a call of the generator leaves enough bits for it. What the other lanes get is not said. */
void ais_numbers_first(const ais_stream *stream, size_t count, size_t lanes, size_t chains, double *value,
                       double *uniform);

/* value[c] is ais_random_uniform(stream of chain c, index). */
void ais_uniforms_lanes(const ais_stream *stream, uint32_t index, size_t lanes, double *value);

/* Of one chain those numbers of AIS_HALF consecutive steps from stream->step on, which is a multiple of AIS_HALF:
 * value[k * AIS_HALF + s] is normal k of step s. */
void ais_numbers_steps(const ais_stream *stream, size_t count, double *value, double *uniform);

#endif
