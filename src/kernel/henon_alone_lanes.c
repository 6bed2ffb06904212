/* One chain at a time: lanes are hidden units. See kernel/henon_small_lanes.h for the order of V's sum. */
#include "kernel/henon_small_lanes.h"

#ifndef AIS_REAL_IS_DOUBLE

#include <string.h>

#include "kernel/lattice_vector.h"
#include "nn/tanh.h"

#pragma GCC diagnostic ignored "-Wpsabi" /* everything is inlined, where there are no such vectors too */

/* Half of the chain's state, its two coordinates twice: (x0, x1, x0, x1). In one dimension x1 is 0. */
typedef uint64_t half __attribute__((vector_size(32)));

AIS_INLINE half pair(uint64_t first, uint64_t second) { return (half){first, second, first, second}; }

#if defined(__AVX2__)

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

/* V at `stay`, in AIS_LATTICE_UNIT: (v0, v1, v0, v1, ...), sums of the order ((0+2)+(1+3)) + ((4+6)+(5+7)). */
AIS_INLINE ais_eight value(int dim, bool tanh, const ais_henon_small *map, const ais_small_layer *layer, half stay) {
    ais_eight seen = (ais_eight)(stay >> AIS_LATTICE_HIDDEN), in[2], sum[2] = {{0}};
    in[0] = _mm256_cvtepi32_ps((__m256i)_mm256_shuffle_ps(seen, seen, 0x00));
    in[1] = _mm256_cvtepi32_ps((__m256i)_mm256_shuffle_ps(seen, seen, 0xaa));
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
    __m256i whole = _mm256_cvttps_epi32(doubled ? given + given : given);
    __m256i low = _mm256_slli_epi32(whole, AIS_LATTICE_HIDDEN),
            high = _mm256_srai_epi32(whole, 32 - AIS_LATTICE_HIDDEN);
    return (half)_mm256_unpacklo_epi32(low, high) - other;
}

AIS_INLINE void pass(const ais_henon_small *map, int dim, bool tanh, ais_henon_way way, half *x, half *y) {
    int last = map->layers - 1;
    half next;
    for (int l = 0; way != AIS_HENON_INVERSE && l <= last; l++) {
        const ais_small_layer *layer = &map->layer[l];
        bool both = way == AIS_HENON_FLIP && l == last; /* see henon_many_lanes.c */
        next = reflected(dim, tanh, map, layer, both, *y, *x);
        if (both) {
            *x = next;
            break;
        }
        *x = *y + pair(layer->eta[0], layer->eta[1]);
        *y = next;
    }
    if (way == AIS_HENON_SWAP) next = *x, *x = *y, *y = next;
    for (int l = way == AIS_HENON_FLIP ? last - 1 : last; way != AIS_HENON_FORWARD && l >= 0; l--) {
        const ais_small_layer *layer = &map->layer[l];
        half stay = *x - pair(layer->eta[0], layer->eta[1]);
        *x = reflected(dim, tanh, map, layer, false, stay, *y);
        *y = stay;
    }
}

#else

/* Vectors of fewer than eight lanes would not pay: the other body, for one lane of it. */
AIS_INLINE void pass(const ais_henon_small *map, int dim, bool tanh, ais_henon_way way, half *x, half *y) {
    _Alignas(64) int64_t z[4 * AIS_LANES] = {0};
    (void)tanh;
    for (int i = 0; i < dim; i++) {
        z[i * AIS_LANES] = (int64_t)(*x)[i];
        z[(dim + i) * AIS_LANES] = (int64_t)(*y)[i];
    }
    AIS_ISA(ais_henon_many)(map, way, AIS_LANES, z);
    for (int i = 0; i < dim; i++) {
        (*x)[i] = (uint64_t)z[i * AIS_LANES];
        (*y)[i] = (uint64_t)z[(dim + i) * AIS_LANES];
    }
}

#endif

/* The two coordinates in the first two lanes. */
AIS_INLINE ais_words words_of(half value) {
#if defined(__AVX512F__)
    return (ais_words)_mm512_castsi256_si512((__m256i)value);
#elif defined(__AVX2__)
    return value;
#else
    return (ais_words){value[0], value[1]};
#endif
}

/* The coordinates of a lane, `lanes` apart. */
AIS_INLINE half gather(int dim, size_t lanes, const int64_t *from) {
    return pair((uint64_t)from[0], dim > 1 ? (uint64_t)from[lanes] : 0);
}

AIS_INLINE void scatter(int dim, size_t lanes, half value, int64_t *to) {
    to[0] = (int64_t)value[0];
    if (dim > 1) to[lanes] = (int64_t)value[1];
}

AIS_INLINE void run(const ais_henon_small *map, int dim, bool tanh, ais_henon_way way, size_t lanes, size_t chains,
                    int64_t *z) {
    for (size_t c = 0; c < chains; c++) {
        int64_t *first = z + c, *second = first + (size_t)dim * lanes;
        half x = gather(dim, lanes, first), y = gather(dim, lanes, second);
        pass(map, dim, tanh, way, &x, &y);
        scatter(dim, lanes, x, first);
        scatter(dim, lanes, y, second);
    }
}

void AIS_ISA(ais_henon_alone)(const ais_henon_small *map, ais_henon_way way, size_t lanes, size_t chains, int64_t *z) {
    if (map->dim == 1 && map->tanh) run(map, 1, true, way, lanes, chains, z);
    if (map->dim == 1 && !map->tanh) run(map, 1, false, way, lanes, chains, z);
    if (map->dim == 2 && map->tanh) run(map, 2, true, way, lanes, chains, z);
    if (map->dim == 2 && !map->tanh) run(map, 2, false, way, lanes, chains, z);
}

/* As lattice_lanes.c and whitening_lanes.c do it for many, with the same operations. */
AIS_INLINE double propose(const ais_alone_call *call, int dim, bool tanh) {
    size_t lanes = call->lanes;
    half x = gather(dim, lanes, call->lattice), y = {0};
    ais_doubles u[2], kinetic = {0};
    for (int i = 0; i < dim; i++) {
        ais_doubles v = ais_spread_double(call->v[(size_t)i * lanes]);
        y[i] = y[2 + i] = ais_lattice_rounded(&v)[0];
        kinetic = ais_fma_double(0.5 * v, v, kinetic);
    }
    pass(&call->map, dim, tanh, call->way, &x, &y);
    scatter(dim, lanes, x, call->image);
    scatter(dim, lanes, y, call->image + (size_t)dim * lanes);
    const ais_doubles all_u = ais_lattice_doubles(words_of(x)), all_v = ais_lattice_doubles(words_of(y));
    for (int i = 0; i < dim; i++) {
        ais_doubles v = ais_spread_double(all_v[i]);
        u[i] = ais_spread_double(all_u[i]);
        kinetic = ais_fma_double(-0.5 * v, v, kinetic);
    }
    for (int i = 0; i < dim; i++) {
        ais_doubles sum = ais_spread_double(call->mean[i]);
        for (int j = 0; j < dim; j++) sum = ais_fma_double(ais_spread_double(call->factor[i * dim + j]), u[j], sum);
        call->x[(size_t)i * lanes] = sum[0];
    }
    return kinetic[0];
}

double AIS_ISA(ais_henon_alone_propose)(const ais_alone_call *call) {
    const ais_henon_small *map = &call->map;
    if (map->dim == 1) return map->tanh ? propose(call, 1, true) : propose(call, 1, false);
    return map->tanh ? propose(call, 2, true) : propose(call, 2, false);
}

#endif
