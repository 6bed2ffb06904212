/* One chain at a time: lanes are hidden units. See map/henon_small_lanes.h for the order of V's sum. */
#include "map/henon_small_lanes.h"

#ifndef AIS_REAL_IS_DOUBLE

#include <string.h>

#include "map/lattice_vector.h"
#include "nn/tanh.h"

#pragma GCC diagnostic ignored "-Wpsabi" /* everything is inlined, where there are no such vectors too */

typedef double two __attribute__((vector_size(16)));

#if defined(__AVX2__)

/* Ticks of half of the chain's state, its two coordinates four times: (x0, x1, x0, x1, ...). In one dimension x1 is 0.
 */
typedef uint32_t half __attribute__((vector_size(32)));

AIS_INLINE half pair(const int32_t *eta) {
    int64_t both;
    memcpy(&both, eta, sizeof both);
    return (half)_mm256_set1_epi64x(both);
}

AIS_INLINE ais_eight load(const float *from) {
    ais_eight value;
    memcpy(&value, from, sizeof value);
    return value;
}

AIS_INLINE ais_eight activated(bool tanh, ais_eight h) {
    if (!tanh) return _mm256_max_ps(h, _mm256_setzero_ps());
#if defined(__AVX512F__)
    return _mm512_castps512_ps256(ais_tanh(_mm512_castps256_ps512(h)));
#else
    return ais_tanh(h);
#endif
}

/* V at `stay`, in ticks: (v0, v1, v0, v1, ...), sums of the order ((0+2)+(1+3)) + ((4+6)+(5+7)). */
AIS_INLINE ais_eight value(int dim, bool tanh, const ais_henon_small *map, const ais_small_layer *layer, half stay) {
    ais_eight seen = _mm256_cvtepi32_ps((__m256i)stay), in[2], sum[2] = {{0}};
    in[0] = _mm256_moveldup_ps(seen);
    in[1] = _mm256_movehdup_ps(seen);
    for (int i = 0; i < dim; i++) sum[i] = _mm256_zextps128_ps256(_mm_load_ss(&layer->bias[i]));
    const float *block = layer->block, *end = block + (ptrdiff_t)map->blocks * (2 * dim + 1) * AIS_UNITS;
    do {
        ais_eight h = _mm256_fmadd_ps(load(block), in[0], load(block + dim * AIS_UNITS));
        if (dim > 1) h = _mm256_fmadd_ps(load(block + AIS_UNITS), in[1], h);
        h = activated(tanh, h);
        for (int i = 0; i < dim; i++) sum[i] = _mm256_fmadd_ps(load(block + (dim + 1 + i) * AIS_UNITS), h, sum[i]);
        block += (2 * dim + 1) * AIS_UNITS;
    } while (block < end);
    ais_eight both = (ais_eight)_mm256_unpacklo_ps(sum[0], sum[1]) + (ais_eight)_mm256_unpackhi_ps(sum[0], sum[1]);
    both += (ais_eight)_mm256_permute_ps(both, 0x4e);
    return both + (ais_eight)_mm256_permute2f128_ps(both, both, 1);
}

/* V(stay) - other, or 2 V(stay) - other when doubled. */
AIS_INLINE half reflected(int dim, bool tanh, const ais_henon_small *map, const ais_small_layer *layer, bool doubled,
                          half stay, half other) {
    ais_eight given = value(dim, tanh, map, layer, stay);
    return (half)_mm256_cvttps_epi32(doubled ? given + given : given) - other;
}

AIS_INLINE void pass(const ais_henon_small *map, int dim, bool tanh, ais_henon_direction direction, half *x, half *y) {
    int last = map->layers - 1;
    half next;
    for (int l = 0; direction != AIS_HENON_INVERSE && l <= last; l++) {
        const ais_small_layer *layer = &map->layer[l];
        bool both = direction == AIS_HENON_FLIP && l == last; /* see henon_many_lanes.c */
        next = reflected(dim, tanh, map, layer, both, *y, *x);
        if (both) {
            *x = next;
            break;
        }
        *x = *y + pair(layer->eta);
        *y = next;
    }
    if (direction == AIS_HENON_SWAP) next = *x, *x = *y, *y = next;
    for (int l = direction == AIS_HENON_FLIP ? last - 1 : last; direction != AIS_HENON_FORWARD && l >= 0; l--) {
        const ais_small_layer *layer = &map->layer[l];
        half stay = *x - pair(layer->eta);
        *x = reflected(dim, tanh, map, layer, false, stay, *y);
        *y = stay;
    }
}

/* As lattice_vector.h does it for many. */
AIS_INLINE half ticks_of(two number) {
    __m128i moved = _mm_srli_epi64((__m128i)(number + AIS_LATTICE_MAGIC), AIS_LATTICE_HIDDEN);
    return (half)_mm256_broadcastsi128_si256(_mm_shuffle_epi32(moved, 0x88));
}

AIS_INLINE two with_ticks(two number, half before, half after) {
    two from = _mm_cvtepi32_pd(_mm256_castsi256_si128((__m256i)before));
    two to = _mm_cvtepi32_pd(_mm256_castsi256_si128((__m256i)after));
    return number + (to - from) * AIS_TICK; /* exact */
}

AIS_INLINE void map_one(const ais_henon_small *map, int dim, bool tanh, ais_henon_direction direction, two *x, two *y) {
    const half from_x = ticks_of(*x), from_y = ticks_of(*y);
    half to_x = from_x, to_y = from_y;
    pass(map, dim, tanh, direction, &to_x, &to_y);
    *x = with_ticks(*x, from_x, to_x);
    *y = with_ticks(*y, from_y, to_y);
}

#else

/* Vectors of fewer than eight lanes would not pay: the other body, for one lane of it. */
AIS_INLINE void map_one(const ais_henon_small *map, int dim, bool tanh, ais_henon_direction direction, two *x, two *y) {
    _Alignas(64) double z[4 * AIS_LANES] = {0};
    double *second = z + dim * AIS_LANES;
    (void)tanh;
    for (int i = 0; i < dim; i++) {
        z[i * AIS_LANES] = (*x)[i];
        second[i * AIS_LANES] = (*y)[i];
    }
    AIS_ISA(ais_henon_many)(map, direction, AIS_LANES, z, second, z);
    for (int i = 0; i < dim; i++) {
        (*x)[i] = z[i * AIS_LANES];
        (*y)[i] = second[i * AIS_LANES];
    }
}

#endif

/* The coordinates of a lane, `lanes` apart. */
AIS_INLINE two gather(int dim, size_t lanes, const double *from) { return (two){from[0], dim > 1 ? from[lanes] : 0}; }

AIS_INLINE void scatter(int dim, size_t lanes, two value, double *to) {
    to[0] = value[0];
    if (dim > 1) to[lanes] = value[1];
}

AIS_INLINE ais_doubles half_square(int dim, two v) {
    ais_doubles sum = {0};
    for (int i = 0; i < dim; i++) sum = ais_fma_double(ais_spread_double(v[i]), ais_spread_double(v[i]), sum);
    return 0.5 * sum;
}

/* As propose_many of involution.c, with the same operations. */
AIS_INLINE double propose(const ais_alone_call *call, int dim, bool tanh) {
    size_t lanes = call->lanes;
    two u = gather(dim, lanes, call->u), v = gather(dim, lanes, call->v);
    for (int i = 0; i < dim; i++) v[i] = ais_lattice_rounded(ais_spread_double(v[i]))[0];
    scatter(dim, lanes, v, call->v);
    ais_doubles kinetic = half_square(dim, v);
    map_one(&call->map, dim, tanh, call->direction, &u, &v);
    scatter(dim, lanes, u, call->z);
    scatter(dim, lanes, v, call->z + (size_t)dim * lanes);
    for (int i = 0; i < dim; i++) {
        ais_doubles sum = ais_spread_double(call->mean[i]);
        for (int j = 0; j < dim; j++)
            sum = ais_fma_double(ais_spread_double(call->factor[i * dim + j]), ais_spread_double(u[j]), sum);
        call->x[(size_t)i * lanes] = sum[0];
    }
    return (kinetic - half_square(dim, v))[0];
}

double AIS_ISA(ais_henon_alone_propose)(const ais_alone_call *call) {
    const ais_henon_small *map = &call->map;
    if (map->dim == 1) return map->tanh ? propose(call, 1, true) : propose(call, 1, false);
    return map->tanh ? propose(call, 2, true) : propose(call, 2, false);
}

#endif
