#include "simd/normal_lanes.h"
#include "simd/math.h"
#include "simd/philox_vector.h"

/* start, start + by, ...; only the low 32 bits of a lane count. */
AIS_INLINE ais_words progression(uint32_t start, uint32_t by) {
    ais_words value = {0};
    for (uint32_t k = 0; k < AIS_WORDS; k++) value[k] = start + k * by;
    return value;
}

/* Box and Muller's two normals from each counter, 8 at a time. Apart from each other, because gcc joins sin and cos
 * of one argument into a call that has no vector form. */
void AIS_ISA(ais_normal_pairs)(const ais_stream *stream, size_t lanes, uint32_t by_chain, uint32_t index,
                               uint32_t by_index, double *first, double *second) {
    const ais_philox_key key = ais_philox_prepare(stream);
    ais_words chain = progression(stream->chain, by_chain), at = progression(index, by_index);
    double u[AIS_HALF], angle[AIS_HALF], shifted[AIS_HALF];
    for (size_t done = 0; done < lanes; done += AIS_HALF, first += AIS_HALF, second += AIS_HALF) {
        for (int c = 0; c < AIS_HALF; c += AIS_WORDS) {
            ais_words word[2];
            ais_philox_words(&key, chain, at, word);
            ais_store(u + c, ais_units(word[0]));
            ais_store(angle + c, 6.283185307179586 * (ais_units(word[1]) - 0.5));
            chain += (uint64_t)by_chain * AIS_WORDS;
            at += (uint64_t)by_index * AIS_WORDS;
        }
#pragma omp simd
        for (int c = 0; c < AIS_HALF; c++) {
            u[c] = sqrt(-2 * log(u[c]));
            /* sin by a quarter turn: the value is wanted, not the last bit. */
            shifted[c] = angle[c] < 0 ? angle[c] + 1.5707963267948966 : 1.5707963267948966 - angle[c];
        }
#pragma omp simd
        for (int c = 0; c < AIS_HALF; c++) first[c] = u[c] * sin(angle[c]);
#pragma omp simd
        for (int c = 0; c < AIS_HALF; c++) second[c] = u[c] * sin(shifted[c]);
    }
}

void AIS_ISA(ais_uniforms_block)(const ais_stream *stream, uint32_t index, size_t lanes, double *value) {
    const ais_philox_key key = ais_philox_prepare(stream);
    ais_words chain = progression(stream->chain, 1), at = progression(index, 0);
    for (size_t c = 0; c < lanes; c += AIS_WORDS) {
        ais_words word[2];
        ais_philox_words(&key, chain, at, word);
        ais_store(value + c, ais_units(word[0]));
        chain += AIS_WORDS;
    }
}
