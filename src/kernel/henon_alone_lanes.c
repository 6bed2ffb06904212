/* One chain at a time: lanes are hidden units. See kernel/henon_small_lanes.h for the order of V's sum. */
#include "kernel/henon_small_lanes.h"

#ifndef AIS_REAL_IS_DOUBLE

#include <string.h>

#include "base/fixed.h"
#include "kernel/lattice_vector.h"
#include "nn/tanh.h"

#if defined(__AVX2__)

typedef float four __attribute__((vector_size(16)));
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

/* ((0+4)+(2+6)) + ((1+5)+(3+7)) of both, in lanes 0 and 1. */
AIS_INLINE four totals(const ais_eight sum[2]) {
    four quarter[2];
    for (int i = 0; i < 2; i++)
        quarter[i] =
            __builtin_shufflevector(sum[i], sum[i], 0, 1, 2, 3) + __builtin_shufflevector(sum[i], sum[i], 4, 5, 6, 7);
    four both = __builtin_shufflevector(quarter[0], quarter[1], 0, 1, 4, 5) +
                __builtin_shufflevector(quarter[0], quarter[1], 2, 3, 6, 7);
    return __builtin_shufflevector(both, both, 0, 2, 0, 2) + __builtin_shufflevector(both, both, 1, 3, 1, 3);
}

/* other = times V(stay) - other; lanes 0 and 1 are the coordinates. */
AIS_INLINE ais_longs reflect(const ais_henon *henon, int dim, bool tanh, const float *weights, int times,
                             ais_longs stay, ais_longs other) {
    int hidden = henon->net.hidden, j = 0;
    const float *bias = weights + dim * hidden, *last[2] = {bias + hidden, bias + 2 * hidden};
    const float *last_bias = bias + (dim + 1) * hidden;
    ais_floats point = ais_lattice_floats(stay, (ais_longs){0});
    ais_floats in[2] = {ais_spread(point[0]), ais_spread(point[1])};
    ais_eight sum[2] = {{0}};
    for (; j + AIS_WIDTH <= hidden; j += AIS_WIDTH)
        add_units(dim, tanh, weights + dim * j, bias + j, (const float *const[2]){last[0] + j, last[1] + j}, in, sum);
    if (j < hidden)
        add_rest(dim, tanh, (size_t)(hidden - j), weights + dim * j, bias + j,
                 (const float *const[2]){last[0] + j, last[1] + j}, in, sum);
    four value = totals(sum) + (four){last_bias[0], dim > 1 ? last_bias[1] : 0};
    union {
        ais_floats whole;
        four part[AIS_WIDTH / 4];
    } wide = {.whole = {0}};
    wide.part[0] = value;
    ais_longs rounded, unused;
    ais_lattice_round(wide.whole, &rounded, &unused);
    words v = (words)rounded;
    return (ais_longs)((times == 2 ? v + v : v) - (words)other);
}

AIS_INLINE ais_longs shifted(int dim, const float *eta, bool minus, ais_longs z) {
    words by = {(uint64_t)ais_fixed_from((double)eta[0]), dim > 1 ? (uint64_t)ais_fixed_from((double)eta[1]) : 0};
    return (ais_longs)(minus ? (words)z - by : (words)z + by);
}

AIS_INLINE void pass(const ais_henon *henon, int dim, bool tanh, const float *weights, ais_henon_way way, ais_longs *x,
                     ais_longs *y) {
    int last = henon->layers - 1;
    ais_longs before;
    for (int l = 0; way != AIS_HENON_INVERSE && l <= last; l++) {
        const float *here = weights + (size_t)l * henon->layer_weights;
        bool both = way == AIS_HENON_FLIP && l == last;
        before = reflect(henon, dim, tanh, here, both ? 2 : 1, *y, *x);
        if (both) {
            *x = before;
            break;
        }
        *x = shifted(dim, here + henon->layer_weights - dim, false, *y);
        *y = before;
    }
    if (way == AIS_HENON_SWAP) before = *x, *x = *y, *y = before;
    for (int l = way == AIS_HENON_FLIP ? last - 1 : last; way != AIS_HENON_FORWARD && l >= 0; l--) {
        const float *here = weights + (size_t)l * henon->layer_weights;
        ais_longs stay = shifted(dim, here + henon->layer_weights - dim, true, *x);
        *x = reflect(henon, dim, tanh, here, 1, stay, *y);
        *y = stay;
    }
}

AIS_INLINE void run(const ais_henon *henon, int dim, bool tanh, const float *weights, ais_henon_way way, size_t lanes,
                    size_t chains, int64_t *z) {
    int64_t *up = z + (size_t)(dim - 1) * lanes, *v = z + (size_t)dim * lanes, *v_up = up + (size_t)dim * lanes;
    for (size_t c = 0; c < chains; c++) {
        ais_longs x = {z[c], up[c]}, y = {v[c], v_up[c]};
        pass(henon, dim, tanh, weights, way, &x, &y);
        z[c] = x[0];
        v[c] = y[0];
        if (dim > 1) up[c] = x[1], v_up[c] = y[1];
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
