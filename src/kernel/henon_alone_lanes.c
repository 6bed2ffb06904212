/* One chain at a time: lanes are hidden units. See kernel/henon_small_lanes.h for the order of V's sum. */
#include "kernel/henon_small_lanes.h"

#ifndef AIS_REAL_IS_DOUBLE

#include <string.h>

#include "base/fixed.h"
#include "kernel/lattice_vector.h"
#include "nn/tanh.h"

#if defined(__AVX2__)

typedef uint64_t words __attribute__((vector_size(4 * AIS_WIDTH)));

AIS_INLINE ais_floats load(const float *from) {
    ais_floats value;
    memcpy(&value, from, sizeof value);
    return value;
}

/* Unit j + k's weight of input i in lane k; weights are units x dim. */
AIS_INLINE void load_inputs(int dim, const float *weights, ais_floats weight[2]) {
    weight[0] = load(weights);
    if (dim == 1) return;
    ais_floats next = load(weights + AIS_WIDTH), fore = weight[0];
#if defined(__AVX512F__)
    weight[0] = __builtin_shufflevector(fore, next, 0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30);
    weight[1] = __builtin_shufflevector(fore, next, 1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23, 25, 27, 29, 31);
#else
    weight[0] = __builtin_shufflevector(fore, next, 0, 2, 4, 6, 8, 10, 12, 14);
    weight[1] = __builtin_shufflevector(fore, next, 1, 3, 5, 7, 9, 11, 13, 15);
#endif
}

AIS_INLINE ais_eight add_product(ais_floats a, ais_floats b, ais_eight sum) {
#if defined(__AVX512F__)
    sum = _mm256_fmadd_ps(_mm512_castps512_ps256(a), _mm512_castps512_ps256(b), sum);
    return _mm256_fmadd_ps(_mm512_extractf32x8_ps(a, 1), _mm512_extractf32x8_ps(b, 1), sum);
#else
    return _mm256_fmadd_ps(a, b, sum);
#endif
}

/* AIS_WIDTH units: sum[i] += last_i h. */
AIS_INLINE void add_units(int dim, bool tanh, const float *weights, const float *bias, const float *const last[2],
                          const ais_floats in[2], ais_eight sum[2]) {
    ais_floats weight[2];
    load_inputs(dim, weights, weight);
    ais_floats h = ais_fma(weight[0], in[0], load(bias));
    if (dim > 1) h = ais_fma(weight[1], in[1], h);
    h = tanh ? ais_tanh(h) : ais_max(h, ais_spread(0));
    for (int i = 0; i < dim; i++) sum[i] = add_product(load(last[i]), h, sum[i]);
}

/* The last units, fewer than AIS_WIDTH: the missing ones have weights of zero. */
AIS_INLINE void add_rest(int dim, bool tanh, size_t left, const float *weights, const float *bias,
                         const float *const last[2], const ais_floats in[2], ais_eight sum[2]) {
    float inputs[2 * AIS_WIDTH] = {0}, biases[AIS_WIDTH] = {0}, outputs[2][AIS_WIDTH] = {{0}};
    const float *const rest[2] = {outputs[0], outputs[1]};
    memcpy(inputs, weights, (size_t)dim * left * sizeof(float));
    memcpy(biases, bias, left * sizeof(float));
    for (int i = 0; i < dim; i++) memcpy(outputs[i], last[i], left * sizeof(float));
    add_units(dim, tanh, inputs, biases, rest, in, sum);
}

/* ((0+4)+(2+6)) + ((1+5)+(3+7)) + bias in all lanes. */
AIS_INLINE ais_floats total(ais_eight sum, float bias) {
    sum += __builtin_shufflevector(sum, sum, 4, 5, 6, 7, 0, 1, 2, 3);
    sum += __builtin_shufflevector(sum, sum, 2, 3, 0, 1, 6, 7, 4, 5);
    sum += __builtin_shufflevector(sum, sum, 1, 0, 3, 2, 5, 4, 7, 6);
    sum += _mm256_set1_ps(bias);
#if defined(__AVX512F__)
    return _mm512_broadcast_f32x8(sum);
#else
    return sum;
#endif
}

/* Half of the chain's state: each coordinate in all lanes, which saves the way from one lane to all. */
typedef struct half {
    words at[2];
} half;

/* V(stay) - other, or 2 V(stay) - other when doubled. */
AIS_INLINE half reflected(const ais_henon *henon, int dim, bool tanh, const float *weights, bool doubled, half stay,
                          half other) {
    int hidden = henon->net.hidden, j = 0;
    const float *bias = weights + dim * hidden, *last[2] = {bias + hidden, bias + 2 * hidden};
    const float *last_bias = bias + (dim + 1) * hidden;
    ais_floats in[2] = {{0}};
    ais_eight sum[2] = {{0}};
    for (int i = 0; i < dim; i++) in[i] = ais_lattice_floats((ais_longs)stay.at[i], (ais_longs)stay.at[i]);
    for (; j + AIS_WIDTH <= hidden; j += AIS_WIDTH)
        add_units(dim, tanh, weights + dim * j, bias + j, (const float *const[2]){last[0] + j, last[1] + j}, in, sum);
    if (j < hidden)
        add_rest(dim, tanh, (size_t)(hidden - j), weights + dim * j, bias + j,
                 (const float *const[2]){last[0] + j, last[1] + j}, in, sum);
    for (int i = 0; i < dim; i++) {
        ais_longs value, same;
        ais_lattice_round(total(sum[i], last_bias[i]), &value, &same);
        other.at[i] = (doubled ? (words)value + (words)value : (words)value) - other.at[i];
    }
    return other;
}

AIS_INLINE half shifted(int dim, const float *eta, bool minus, half z) {
    for (int i = 0; i < dim; i++) {
        uint64_t by = (uint64_t)ais_fixed_from((double)eta[i]);
        z.at[i] += minus ? 0 - by : by;
    }
    return z;
}

AIS_INLINE void pass(const ais_henon *henon, int dim, bool tanh, const float *weights, ais_henon_way way, half *x,
                     half *y) {
    int last = henon->layers - 1;
    half next;
    for (int l = 0; way != AIS_HENON_INVERSE && l <= last; l++) {
        const float *here = weights + (size_t)l * henon->layer_weights;
        bool both = way == AIS_HENON_FLIP && l == last; /* see henon_small_lanes.c */
        next = reflected(henon, dim, tanh, here, both, *y, *x);
        if (both) {
            *x = next;
            break;
        }
        *x = shifted(dim, here + henon->layer_weights - dim, false, *y);
        *y = next;
    }
    if (way == AIS_HENON_SWAP) next = *x, *x = *y, *y = next;
    for (int l = way == AIS_HENON_FLIP ? last - 1 : last; way != AIS_HENON_FORWARD && l >= 0; l--) {
        const float *here = weights + (size_t)l * henon->layer_weights;
        half stay = shifted(dim, here + henon->layer_weights - dim, true, *x);
        *x = reflected(henon, dim, tanh, here, false, stay, *y);
        *y = stay;
    }
}

AIS_INLINE void run(const ais_henon *henon, int dim, bool tanh, const float *weights, ais_henon_way way, size_t lanes,
                    size_t chains, int64_t *z) {
    size_t rows = (size_t)dim * lanes;
    for (size_t c = 0; c < chains; c++) {
        half x = {0}, y = {0};
        for (int i = 0; i < dim; i++) {
            x.at[i] += (uint64_t)z[(size_t)i * lanes + c];
            y.at[i] += (uint64_t)z[rows + (size_t)i * lanes + c];
        }
        pass(henon, dim, tanh, weights, way, &x, &y);
        for (int i = 0; i < dim; i++) {
            z[(size_t)i * lanes + c] = (int64_t)x.at[i][0];
            z[rows + (size_t)i * lanes + c] = (int64_t)y.at[i][0];
        }
    }
}

void AIS_ISA(ais_henon_alone)(const ais_henon *henon, const ais_real *weights, ais_henon_way way, size_t lanes,
                              size_t chains, int64_t *z) {
    bool tanh = henon->net.tanh;
    if (henon->dim == 1 && tanh) run(henon, 1, true, weights, way, lanes, chains, z);
    if (henon->dim == 1 && !tanh) run(henon, 1, false, weights, way, lanes, chains, z);
    if (henon->dim == 2 && tanh) run(henon, 2, true, weights, way, lanes, chains, z);
    if (henon->dim == 2 && !tanh) run(henon, 2, false, weights, way, lanes, chains, z);
}

#else

/* Vectors of fewer than eight lanes would not pay. */
void AIS_ISA(ais_henon_alone)(const ais_henon *henon, const ais_real *weights, ais_henon_way way, size_t lanes,
                              size_t chains, int64_t *z) {
    (void)chains;
    AIS_ISA(ais_henon_small)(henon, weights, way, lanes, z);
}

#endif
#endif
