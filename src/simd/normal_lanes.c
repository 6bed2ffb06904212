#include "simd/normal_lanes.h"
#include "simd/philox_vector.h"

enum { VECTORS = AIS_HALF / AIS_WORDS };

/* start, start + by, ...; only the low 32 bits of a lane count */
AIS_INLINE ais_words progression(uint32_t start, uint32_t by) {
    static const uint64_t ordinal[] = {0, 1, 2, 3, 4, 5, 6, 7};
    ais_words place, zero = {0};
    memcpy(&place, ordinal, sizeof place);
    return ais_multiply_low(place, zero + by) + start;
}

AIS_INLINE void first_places(const ais_stream *stream, ais_counters counters, ais_place place[VECTORS]) {
    for (uint32_t p = 0, k = 0; p < VECTORS; p++, k += AIS_WORDS)
        place[p] = (ais_place){progression((uint32_t)stream->step + k * counters.by_step, counters.by_step),
                               progression(stream->chain + k * counters.by_chain, counters.by_chain),
                               progression(counters.index + k * counters.by_index, counters.by_index)};
}

/* The words of AIS_HALF lanes, and the next places. */
AIS_INLINE void words_at(const ais_philox_key *key, ais_counters counters, ais_place at[VECTORS],
                         ais_words word[VECTORS][2]) {
    ais_philox_words(key, VECTORS, at, word);
    for (int p = 0; p < VECTORS; p++) {
        at[p].step += (uint64_t)counters.by_step * AIS_HALF;
        at[p].chain += (uint64_t)counters.by_chain * AIS_HALF;
        at[p].index += (uint64_t)counters.by_index * AIS_HALF;
    }
}

/* sum factor[k] x^k */
AIS_INLINE ais_doubles polynomial(const double *factor, int count, ais_doubles x) {
    ais_doubles sum = ais_spread_double(factor[count - 1]);
    for (int k = count - 2; k >= 0; k--) sum = ais_fma_double(sum, x, ais_spread_double(factor[k]));
    return sum;
}

/* sin and cos of an angle between -pi/4 and pi/4, u in 0 to 1, to 1e-14. */
AIS_INLINE void sine_cosine(ais_doubles u, ais_doubles *sine, ais_doubles *cosine) {
    static const double odd[] = {0x1.921fb54442cfap+0,  -0x1.4abbce6257a2ap-1, 0x1.466bc67123fa1p-4,
                                 -0x1.32d2c644adc0bp-8, 0x1.5071ce4b47930p-13, -0x1.dd54805f3f706p-19};
    static const double even[] = {0x1p+0,
                                  -0x1.3bd3cc9be458bp+0,
                                  0x1.03c1f081b0780p-2,
                                  -0x1.55d3c7dbfd139p-6,
                                  0x1.e1f4fb60281f6p-11,
                                  -0x1.a6c9c1be9eb49p-16,
                                  0x1.f3dbcea61b1a4p-22};
    ais_doubles quarter = u - 0.5, square = quarter * quarter;
    *sine = quarter * polynomial(odd, 6, square);
    *cosine = polynomial(even, 7, square);
}

/* Box and Muller's two normals from two words. The first one's upper 52 bits are for the distance, the second one's
 * upper 40 for the angle, which lies in one quarter of the circle, and its last two say in which. */
AIS_INLINE void pair(const ais_words word[2], double *first, double *second) {
    ais_doubles away = ais_sqrt_double(-2 * ais_log_normal(ais_units(word[0]))), sine, cosine;
    sine_cosine(ais_units((word[1] & ~(uint64_t)0xffffff) | 0x800000), &sine, &cosine); /* the middle of its cell */
    cosine = (ais_doubles)((ais_words)cosine ^ word[1] << 63);
    ais_longs swapped = (ais_longs)(word[1] << 62) < 0;
    ais_store(first, away * ais_pick(swapped, cosine, sine));
    ais_store(second, away * ais_pick(swapped, sine, cosine));
}

/* From the 12 and 22 bits that `pair` leaves: the middle of one of 2^34 equal cells of (0, 1). */
AIS_INLINE ais_doubles rest(const ais_words word[2]) {
    return ais_units(word[0] << 52 | (word[1] & 0xfffffc) << 28 | 0x20000000);
}

/* Words first, normals then: each is a long chain of operations that wait for one another, and the processor sees more
 * of the next ones when they are of one kind. */
void AIS_ISA(ais_normal_pairs)(const ais_stream *stream, size_t lanes, ais_counters counters, double *first,
                               double *second, double *uniform) {
    enum { AT_ONCE = 64 };
    const ais_philox_key key = ais_philox_prepare(stream);
    ais_place at[VECTORS];
    ais_words word[AT_ONCE / AIS_WORDS][2];
    first_places(stream, counters, at);
    for (size_t done = 0; done < lanes; done += AT_ONCE) {
        size_t count = lanes - done < AT_ONCE ? lanes - done : AT_ONCE;
        for (size_t c = 0; c < count; c += AIS_HALF) words_at(&key, counters, at, word + c / AIS_WORDS);
        for (size_t c = 0; c < count; c += AIS_WORDS) pair(word[c / AIS_WORDS], first + done + c, second + done + c);
        for (size_t c = 0; uniform && c < count; c += AIS_WORDS)
            ais_store(uniform + done + c, rest(word[c / AIS_WORDS]));
    }
}

void AIS_ISA(ais_uniforms_block)(const ais_stream *stream, size_t lanes, uint32_t index, double *value) {
    const ais_counters counters = {.by_chain = 1, .index = index};
    const ais_philox_key key = ais_philox_prepare(stream);
    const uint64_t shared = AIS_SHARED_CHAIN;
    ais_place at[VECTORS];
    first_places(stream, counters, at);
    /* From a multiple of 16 on the second half of what one eight gets is the next eight's. */
    bool pairs = stream->chain % AIS_LANES == 0;
    size_t done = 0;
    for (; done + AIS_LANES <= lanes && pairs; done += AIS_LANES, value += AIS_LANES) {
        ais_words word[VECTORS][2];
        words_at(&key, counters, at, word);
        for (int p = 0; p < VECTORS; p++) at[p].chain += AIS_HALF;
        for (int k = 0; k < 2; k++)
            for (int p = 0; p < VECTORS; p++) ais_store(value + k * AIS_HALF + p * AIS_WORDS, ais_units(word[p][k]));
    }
    for (; done < lanes; done += AIS_HALF) {
        ais_words word[VECTORS][2];
        ais_longs second[VECTORS];
        for (int p = 0; p < VECTORS; p++) {
            second[p] = (at[p].chain & shared) != 0;
            at[p].chain -= at[p].chain & shared;
        }
        words_at(&key, counters, at, word);
        for (int p = 0; p < VECTORS; p++, value += AIS_WORDS) {
            at[p].chain += (ais_words)second[p] & shared;
            ais_store(value, ais_pick(second[p], ais_units(word[p][1]), ais_units(word[p][0])));
        }
    }
}
