#include "base/random.h"

#include "base/philox.h"

void ais_random_bits(const ais_stream *stream, uint32_t index, uint32_t bits[4]) {
    ais_philox(stream->seed, stream->step, stream->purpose, stream->chain, index, bits);
}

static uint64_t word(const ais_stream *stream, uint32_t index) {
    ais_stream shared = *stream;
    uint32_t bits[4], second = stream->chain & AIS_SHARED_CHAIN ? 2 : 0;
    shared.chain -= stream->chain & AIS_SHARED_CHAIN;
    ais_random_bits(&shared, index, bits);
    return (uint64_t)bits[second + 1] << 32 | bits[second];
}

double ais_random_uniform(const ais_stream *stream, uint32_t index) { return ais_unit(word(stream, index)); }

uint64_t ais_random_below(const ais_stream *stream, uint32_t index, uint64_t bound) {
    __extension__ typedef unsigned __int128 wide;
    return (uint64_t)(((wide)word(stream, index) * bound) >> 64);
}
