#include "simd/normal.h"

#include "simd/normal_lanes.h"

void ais_normals(const ais_stream *stream, size_t count, double *value) {
    uint32_t chain[AIS_LANES], index[AIS_LANES];
    double pair[2][AIS_LANES];
    for (size_t base = 0; base < count; base += 2 * AIS_LANES) {
        for (uint32_t j = 0; j < AIS_LANES; j++) {
            chain[j] = stream->chain;
            index[j] = (uint32_t)(base / 2) + j;
        }
        AIS_CHOOSE(ais_normal_pairs)(stream, chain, index, pair[0], pair[1]);
        for (size_t k = base; k < count && k < base + 2 * AIS_LANES; k++) value[k] = pair[k & 1][(k - base) / 2];
    }
}

void ais_normals_lanes(const ais_stream *stream, size_t count, size_t lanes, double *value) {
    uint32_t chain[AIS_LANES], index[AIS_LANES];
    double spare[AIS_LANES] = {0};
    for (size_t c = 0; c < lanes; c += AIS_LANES)
        for (size_t k = 0; k < count; k += 2) {
            for (uint32_t j = 0; j < AIS_LANES; j++) {
                chain[j] = stream->chain + (uint32_t)c + j;
                index[j] = (uint32_t)(k / 2);
            }
            double *second = k + 1 < count ? value + (k + 1) * lanes + c : spare;
            AIS_CHOOSE(ais_normal_pairs)(stream, chain, index, value + k * lanes + c, second);
        }
}

void ais_uniforms_lanes(const ais_stream *stream, uint32_t index, size_t lanes, double *value) {
    for (size_t c = 0; c < lanes; c += AIS_LANES) {
        ais_stream block = *stream;
        block.chain += (uint32_t)c;
        AIS_CHOOSE(ais_uniforms_block)(&block, index, value + c);
    }
}
