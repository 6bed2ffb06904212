#include "simd/normal_lanes.h"
#include "base/philox.h"
#include "simd/math.h"

/* Box and Muller's two normals from each of AIS_LANES counters. Apart from each other, because gcc
 * joins sin and cos of one argument into a call that has no vector form. */
void AIS_ISA(ais_normal_pairs)(const ais_stream *stream, const uint32_t *chain, const uint32_t *index, double *first,
                               double *second) {
    double u[AIS_LANES], angle[AIS_LANES], shifted[AIS_LANES];
#pragma omp simd
    for (int c = 0; c < AIS_LANES; c++) {
        uint32_t bits[4];
        ais_philox(stream->seed, stream->step, stream->purpose, chain[c], index[c], bits);
        u[c] = ais_unit((uint64_t)bits[1] << 32 | bits[0]);
        angle[c] = 6.283185307179586 * (ais_unit((uint64_t)bits[3] << 32 | bits[2]) - 0.5);
    }
#pragma omp simd
    for (int c = 0; c < AIS_LANES; c++) {
        u[c] = sqrt(-2 * log(u[c]));
        /* sin by a quarter turn: the value is wanted, not the last bit. */
        shifted[c] = angle[c] < 0 ? angle[c] + 1.5707963267948966 : 1.5707963267948966 - angle[c];
    }
#pragma omp simd
    for (int c = 0; c < AIS_LANES; c++) first[c] = u[c] * sin(angle[c]);
#pragma omp simd
    for (int c = 0; c < AIS_LANES; c++) second[c] = u[c] * sin(shifted[c]);
}

void AIS_ISA(ais_uniforms_block)(const ais_stream *stream, uint32_t index, double *value) {
#pragma omp simd
    for (int c = 0; c < AIS_LANES; c++) {
        uint32_t bits[4];
        ais_philox(stream->seed, stream->step, stream->purpose, stream->chain + (uint32_t)c, index, bits);
        value[c] = ais_unit((uint64_t)bits[1] << 32 | bits[0]);
    }
}
