#include "simd/normal.h"

#include "simd/normal_lanes.h"

void ais_normals(const ais_stream *stream, size_t count, double *value) {
    double pair[2][AIS_LANES];
    for (size_t base = 0; base < count; base += 2 * AIS_LANES) {
        size_t lanes = count - base <= 2 * AIS_HALF ? AIS_HALF : AIS_LANES;
        AIS_CHOOSE(ais_normal_pairs)
        (stream, lanes, (ais_counters){.index = (uint32_t)(base / 2), .by_index = 1}, pair[0], pair[1], NULL);
        for (size_t k = base; k < count && k < base + 2 * AIS_LANES; k++) value[k] = pair[k & 1][(k - base) / 2];
    }
}

void ais_numbers_first(const ais_stream *stream, size_t count, size_t lanes, size_t chains, double *value,
                       double *uniform) {
    size_t k = 0;
    for (; k + 1 < count; k += 2) AIS_CHOOSE(ais_normal_pairs)
    (stream, ais_halves(chains), (ais_counters){.by_chain = 1, .index = (uint32_t)(k / 2)}, value + k * lanes,
     value + (k + 1) * lanes, k == 0 ? uniform : NULL);
    for (size_t c = 0; k < count && c < chains; c += AIS_HALF) { /* an odd one: its partner is thrown away */
        double spare[AIS_HALF];
        ais_stream block = *stream;
        block.chain += (uint32_t)c;
        AIS_CHOOSE(ais_normal_pairs)
        (&block, AIS_HALF, (ais_counters){.by_chain = 1, .index = (uint32_t)(k / 2)}, value + k * lanes + c, spare,
         k == 0 && uniform ? uniform + c : NULL);
    }
}

void ais_normals_lanes(const ais_stream *stream, size_t count, size_t lanes, double *value) {
    ais_numbers_first(stream, count, lanes, lanes, value, NULL);
}

void ais_uniforms_lanes(const ais_stream *stream, uint32_t index, size_t lanes, double *value) {
    AIS_CHOOSE(ais_uniforms_block)(stream, lanes, index, value);
}

void ais_numbers_steps(const ais_stream *stream, size_t count, double *value, double *uniform) {
    double spare[AIS_HALF];
    for (size_t k = 0; k < count; k += 2) AIS_CHOOSE(ais_normal_pairs)
    (stream, AIS_HALF, (ais_counters){.by_step = 1, .index = (uint32_t)(k / 2)}, value + k * AIS_HALF,
     k + 1 < count ? value + (k + 1) * AIS_HALF : spare, k == 0 ? uniform : NULL);
}
