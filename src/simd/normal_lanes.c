#include "simd/normal_lanes.h"
#include "simd/math.h"
#include "simd/philox_vector.h"

/* The counters of AIS_WORDS lanes; only the low 32 bits of a lane count. */
typedef struct place {
    ais_words step, chain, index;
} place;

/* start, start + by, ... */
AIS_INLINE ais_words progression(uint32_t start, uint32_t by) {
    ais_words value = {0};
    for (uint32_t k = 0; k < AIS_WORDS; k++) value[k] = start + k * by;
    return value;
}

AIS_INLINE place first_place(const ais_stream *stream, ais_counters counters) {
    return (place){progression((uint32_t)stream->step, counters.by_step), progression(stream->chain, counters.by_chain),
                   progression(counters.index, counters.by_index)};
}

AIS_INLINE void words_at(const ais_philox_key *key, ais_counters counters, place *at, ais_words word[2]) {
    ais_philox_words(key, at->step, at->chain, at->index, word);
    at->step += (uint64_t)counters.by_step * AIS_WORDS;
    at->chain += (uint64_t)counters.by_chain * AIS_WORDS;
    at->index += (uint64_t)counters.by_index * AIS_WORDS;
}

/* Box and Muller's two normals from each counter, 8 at a time. Apart from each other, because gcc joins sin and cos
 * of one argument into a call that has no vector form. */
void AIS_ISA(ais_normal_pairs)(const ais_stream *stream, size_t lanes, ais_counters counters, double *first,
                               double *second) {
    const ais_philox_key key = ais_philox_prepare(stream);
    place at = first_place(stream, counters);
    double u[AIS_HALF], angle[AIS_HALF], shifted[AIS_HALF];
    for (size_t done = 0; done < lanes; done += AIS_HALF, first += AIS_HALF, second += AIS_HALF) {
        for (int c = 0; c < AIS_HALF; c += AIS_WORDS) {
            ais_words word[2];
            words_at(&key, counters, &at, word);
            ais_store(u + c, ais_units(word[0]));
            ais_store(angle + c, 6.283185307179586 * (ais_units(word[1]) - 0.5));
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

void AIS_ISA(ais_uniforms_block)(const ais_stream *stream, size_t lanes, ais_counters counters, double *value) {
    const ais_philox_key key = ais_philox_prepare(stream);
    place at = first_place(stream, counters);
    for (size_t c = 0; c < lanes; c += AIS_WORDS) {
        ais_words word[2];
        words_at(&key, counters, &at, word);
        ais_store(value + c, ais_units(word[0]));
    }
}
