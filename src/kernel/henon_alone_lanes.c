/* One chain at a time: lanes are hidden units. See kernel/henon_small_lanes.h for the order of V's sum. */
#include "kernel/henon_small_lanes.h"

#ifndef AIS_REAL_IS_DOUBLE

#include <string.h>

#include "kernel/lattice_vector.h"
#include "nn/tanh.h"

/* Half of the chain's state: each coordinate in all lanes, which saves the way from one lane to all. */
typedef struct half {
    ais_words at[2];
} half;

#if defined(__AVX2__)

AIS_INLINE ais_eight load(const float *from) {
    ais_eight value;
    memcpy(&value, from, sizeof value);
    return value;
}

AIS_INLINE ais_eight tanh_of_eight(ais_eight x) {
#if defined(__AVX512F__)
    return _mm512_castps512_ps256(ais_tanh(_mm512_castps256_ps512(x)));
#else
    return ais_tanh(x);
#endif
}

/* A block of units: sum[i] += last_i h. */
AIS_INLINE void add_block(int dim, bool tanh, const float *block, const ais_eight in[2], ais_eight sum[2]) {
    ais_eight h = _mm256_fmadd_ps(load(block), in[0], load(block + dim * AIS_UNITS));
    if (dim > 1) h = _mm256_fmadd_ps(load(block + AIS_UNITS), in[1], h);
    h = tanh ? tanh_of_eight(h) : (ais_eight)_mm256_max_ps(h, _mm256_setzero_ps());
    for (int i = 0; i < dim; i++) sum[i] = _mm256_fmadd_ps(load(block + (dim + 1 + i) * AIS_UNITS), h, sum[i]);
}

/* ((0+4)+(2+6)) + ((1+5)+(3+7)) in all lanes. */
AIS_INLINE ais_floats total(ais_eight sum) {
    sum += __builtin_shufflevector(sum, sum, 4, 5, 6, 7, 0, 1, 2, 3);
    sum += __builtin_shufflevector(sum, sum, 2, 3, 0, 1, 6, 7, 4, 5);
    sum += __builtin_shufflevector(sum, sum, 1, 0, 3, 2, 5, 4, 7, 6);
#if defined(__AVX512F__)
    return _mm512_broadcast_f32x8(sum);
#else
    return sum;
#endif
}

AIS_INLINE ais_eight seen(ais_words at) {
#if defined(__AVX512F__)
    return _mm512_castps512_ps256(ais_lattice_seen(at, at));
#else
    return ais_lattice_seen(at, at);
#endif
}

/* V(stay) - other, or 2 V(stay) - other when doubled. */
AIS_INLINE half reflected(const ais_henon_small *map, int dim, bool tanh, const ais_small_layer *layer, bool doubled,
                          half stay, half other) {
    ais_eight in[2] = {{0}}, sum[2];
    for (int i = 0; i < dim; i++) {
        in[i] = seen(stay.at[i]);
        sum[i] = _mm256_zextps128_ps256(_mm_load_ss(&layer->bias[i]));
    }
    const float *block = layer->block;
    for (int b = 0; b < map->blocks; b++, block += (2 * dim + 1) * AIS_UNITS) add_block(dim, tanh, block, in, sum);
    for (int i = 0; i < dim; i++) {
        ais_floats v = total(sum[i]);
        ais_words value, same;
        ais_lattice_given(doubled ? v + v : v, &value, &same);
        other.at[i] = value - other.at[i];
    }
    return other;
}

AIS_INLINE half shifted(int dim, const uint64_t *eta, bool minus, half z) {
    for (int i = 0; i < dim; i++) z.at[i] += minus ? 0 - eta[i] : eta[i];
    return z;
}

AIS_INLINE void pass(const ais_henon_small *map, int dim, bool tanh, ais_henon_way way, half *x, half *y) {
    int last = map->layers - 1;
    half next;
    for (int l = 0; way != AIS_HENON_INVERSE && l <= last; l++) {
        bool both = way == AIS_HENON_FLIP && l == last; /* see henon_many_lanes.c */
        next = reflected(map, dim, tanh, &map->layer[l], both, *y, *x);
        if (both) {
            *x = next;
            break;
        }
        *x = shifted(dim, map->layer[l].eta, false, *y);
        *y = next;
    }
    if (way == AIS_HENON_SWAP) next = *x, *x = *y, *y = next;
    for (int l = way == AIS_HENON_FLIP ? last - 1 : last; way != AIS_HENON_FORWARD && l >= 0; l--) {
        half stay = shifted(dim, map->layer[l].eta, true, *x);
        *x = reflected(map, dim, tanh, &map->layer[l], false, stay, *y);
        *y = stay;
    }
}

#else

/* Vectors of fewer than eight lanes would not pay: the other body, for one lane of it. */
AIS_INLINE void pass(const ais_henon_small *map, int dim, bool tanh, ais_henon_way way, half *x, half *y) {
    _Alignas(64) int64_t z[4 * AIS_LANES] = {0};
    (void)tanh;
    for (int i = 0; i < dim; i++) {
        z[i * AIS_LANES] = (int64_t)x->at[i][0];
        z[(dim + i) * AIS_LANES] = (int64_t)y->at[i][0];
    }
    AIS_ISA(ais_henon_many)(map, way, AIS_LANES, z);
    *x = *y = (half){0};
    for (int i = 0; i < dim; i++) {
        x->at[i] += (uint64_t)z[i * AIS_LANES];
        y->at[i] += (uint64_t)z[(dim + i) * AIS_LANES];
    }
}

#endif

AIS_INLINE void run(const ais_henon_small *map, int dim, bool tanh, ais_henon_way way, size_t lanes, size_t chains,
                    int64_t *z) {
    size_t rows = (size_t)dim * lanes;
    for (size_t c = 0; c < chains; c++) {
        half x = {0}, y = {0};
        for (int i = 0; i < dim; i++) {
            x.at[i] += (uint64_t)z[(size_t)i * lanes + c];
            y.at[i] += (uint64_t)z[rows + (size_t)i * lanes + c];
        }
        pass(map, dim, tanh, way, &x, &y);
        for (int i = 0; i < dim; i++) {
            z[(size_t)i * lanes + c] = (int64_t)x.at[i][0];
            z[rows + (size_t)i * lanes + c] = (int64_t)y.at[i][0];
        }
    }
}

void AIS_ISA(ais_henon_alone)(const ais_henon_small *map, ais_henon_way way, size_t lanes, size_t chains, int64_t *z) {
    if (map->dim == 1 && map->tanh) run(map, 1, true, way, lanes, chains, z);
    if (map->dim == 1 && !map->tanh) run(map, 1, false, way, lanes, chains, z);
    if (map->dim == 2 && map->tanh) run(map, 2, true, way, lanes, chains, z);
    if (map->dim == 2 && !map->tanh) run(map, 2, false, way, lanes, chains, z);
}

AIS_INLINE double propose(const ais_alone_call *call, int dim, bool tanh) {
    half x = {0}, y = {0};
    ais_doubles u[2], kinetic = {0};
    for (int i = 0; i < dim; i++) {
        ais_doubles v = ais_spread_double(call->v[(size_t)i * call->lanes]);
        x.at[i] += (uint64_t)call->lattice[(size_t)i * call->lanes];
        y.at[i] = ais_lattice_rounded(&v);
        kinetic = ais_fma_double(0.5 * v, v, kinetic);
    }
    pass(call->map, dim, tanh, call->way, &x, &y);
    for (int i = 0; i < dim; i++) {
        ais_doubles v = ais_lattice_doubles(y.at[i]);
        call->image[(size_t)i * call->lanes] = (int64_t)x.at[i][0];
        call->image[(size_t)(dim + i) * call->lanes] = (int64_t)y.at[i][0];
        kinetic = ais_fma_double(-0.5 * v, v, kinetic);
        u[i] = ais_lattice_doubles(x.at[i]);
    }
    for (int i = 0; i < dim; i++) {
        ais_doubles sum = ais_spread_double(call->mean[i]);
        for (int j = 0; j < dim; j++) sum = ais_fma_double(ais_spread_double(call->factor[i * dim + j]), u[j], sum);
        call->x[(size_t)i * call->lanes] = sum[0];
    }
    return kinetic[0];
}

double AIS_ISA(ais_henon_alone_propose)(const ais_alone_call *call) {
    const ais_henon_small *map = call->map;
    if (map->dim == 1) return map->tanh ? propose(call, 1, true) : propose(call, 1, false);
    return map->tanh ? propose(call, 2, true) : propose(call, 2, false);
}

#endif
