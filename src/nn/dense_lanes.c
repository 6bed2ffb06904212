/* Register tiles: a tile of T outputs by V vectors of lanes stays in registers while the loop runs
 * over the inputs, each weight being broadcast once for V vectors. A lane's sum is taken over the
 * inputs in order whatever the tile, so tiling never changes a result. */
#include "nn/dense_lanes.h"

#include "nn/tanh.h"
#include "simd/math.h"

#if defined(__AVX512F__)
enum { VECTOR_BYTES = 64, TILE = 6 };
#elif defined(__AVX2__)
enum { VECTOR_BYTES = 32, TILE = 3 };
#else
enum { VECTOR_BYTES = 16, TILE = 3 };
#endif
enum { WIDTH = VECTOR_BYTES / (int)sizeof(ais_real), VECTORS = 4 };
typedef ais_real vector __attribute__((vector_size(VECTOR_BYTES)));

#define INLINE static inline __attribute__((always_inline))

INLINE vector load(const ais_real *from) { return *(const vector *)from; }

/* out[o][...] = bias[o] + sum_i weight(o, i) in[i][...] for `outputs` outputs and `vectors` vectors;
 * both are constants after inlining. weight(o, i) = weights[o * row + i * column]. */
INLINE void tile(int outputs, int vectors, int inputs, size_t lanes, const ais_real *weights, size_t row, size_t column,
                 const ais_real *bias, const ais_real *in, ais_real *out) {
    vector sum[TILE][VECTORS];
    for (int o = 0; o < outputs; o++)
        for (int v = 0; v < vectors; v++) sum[o][v] = (vector){0} + (bias ? bias[o] : 0);
    for (int i = 0; i < inputs; i++) {
        vector value[VECTORS];
        for (int v = 0; v < vectors; v++) value[v] = load(in + (size_t)i * lanes + (size_t)(v * WIDTH));
        for (int o = 0; o < outputs; o++) {
            ais_real weight = weights[(size_t)o * row + (size_t)i * column];
            for (int v = 0; v < vectors; v++) sum[o][v] += weight * value[v];
        }
    }
    for (int o = 0; o < outputs; o++)
        for (int v = 0; v < vectors; v++) *(vector *)(out + (size_t)o * lanes + (size_t)(v * WIDTH)) = sum[o][v];
}

INLINE void columns(int vectors, int inputs, int outputs, size_t lanes, const ais_real *weights, size_t row,
                    size_t column, const ais_real *bias, const ais_real *in, ais_real *out) {
    int o = 0;
    for (; o + TILE <= outputs; o += TILE)
        tile(TILE, vectors, inputs, lanes, weights + (size_t)o * row, row, column, bias ? bias + o : 0, in,
             out + (size_t)o * lanes);
    for (; o + 2 <= outputs; o += 2)
        tile(2, vectors, inputs, lanes, weights + (size_t)o * row, row, column, bias ? bias + o : 0, in,
             out + (size_t)o * lanes);
    for (; o < outputs; o++)
        tile(1, vectors, inputs, lanes, weights + (size_t)o * row, row, column, bias ? bias + o : 0, in,
             out + (size_t)o * lanes);
}

INLINE void product(int inputs, int outputs, size_t lanes, const ais_real *weights, size_t row, size_t column,
                    const ais_real *bias, const ais_real *in, ais_real *out) {
    size_t l = 0;
    for (; l + VECTORS * WIDTH <= lanes; l += VECTORS * WIDTH)
        columns(VECTORS, inputs, outputs, lanes, weights, row, column, bias, in + l, out + l);
    for (; l < lanes; l += WIDTH) columns(1, inputs, outputs, lanes, weights, row, column, bias, in + l, out + l);
}

void AIS_ISA(ais_dense)(int inputs, int outputs, size_t lanes, const ais_real *weights, const ais_real *bias,
                        const ais_real *in, ais_real *out) {
    product(inputs, outputs, lanes, weights, (size_t)inputs, 1, bias, in, out);
}

void AIS_ISA(ais_dense_transposed)(int inputs, int outputs, size_t lanes, const ais_real *weights,
                                   const ais_real *gradient_out, ais_real *gradient_in) {
    product(outputs, inputs, lanes, weights, 1, (size_t)inputs, NULL, gradient_out, gradient_in);
}

void AIS_ISA(ais_activate)(bool use_tanh, size_t n, ais_real *value) {
    if (!use_tanh) {
#pragma omp simd
        for (size_t i = 0; i < n; i++) value[i] = value[i] > 0 ? value[i] : 0;
        return;
    }
#ifdef AIS_REAL_IS_DOUBLE
#pragma omp simd
    for (size_t i = 0; i < n; i++) value[i] = tanh(value[i]);
#else
    for (size_t i = 0; i < n; i += AIS_WIDTH) *(ais_floats *)(value + i) = ais_tanh(*(ais_floats *)(value + i));
#endif
}

void AIS_ISA(ais_deactivate)(bool use_tanh, size_t n, const ais_real *value, ais_real *gradient) {
    if (use_tanh) {
#pragma omp simd
        for (size_t i = 0; i < n; i++) gradient[i] *= 1 - value[i] * value[i];
    } else {
#pragma omp simd
        for (size_t i = 0; i < n; i++) gradient[i] = value[i] > 0 ? gradient[i] : 0;
    }
}

INLINE ais_real total(vector sum) {
    ais_real result = 0;
    for (int k = 0; k < WIDTH; k++) result += sum[k];
    return result;
}

/* A tile of `outputs` x `inputs` dot products over lanes. */
INLINE void dots(int outputs, int inputs, size_t lanes, const ais_real *in, const ais_real *gradient_out,
                 ais_real *gradient_weights, size_t row) {
    vector sum[4][4] = {{{0}}};
    for (size_t l = 0; l < lanes; l += WIDTH) {
        vector value[4];
        for (int i = 0; i < inputs; i++) value[i] = load(in + (size_t)i * lanes + l);
        for (int o = 0; o < outputs; o++) {
            vector gradient = load(gradient_out + (size_t)o * lanes + l);
            for (int i = 0; i < inputs; i++) sum[o][i] += gradient * value[i];
        }
    }
    for (int o = 0; o < outputs; o++)
        for (int i = 0; i < inputs; i++) gradient_weights[(size_t)o * row + (size_t)i] += total(sum[o][i]);
}

INLINE void dots_row(int outputs, int inputs, size_t lanes, const ais_real *in, const ais_real *gradient_out,
                     ais_real *gradient_weights, size_t row) {
    int i = 0;
    for (; i + 4 <= inputs; i += 4)
        dots(outputs, 4, lanes, in + (size_t)i * lanes, gradient_out, gradient_weights + i, row);
    for (; i < inputs; i++) dots(outputs, 1, lanes, in + (size_t)i * lanes, gradient_out, gradient_weights + i, row);
}

void AIS_ISA(ais_dense_gradient)(int inputs, int outputs, size_t lanes, const ais_real *in,
                                 const ais_real *gradient_out, ais_real *gradient_weights, ais_real *gradient_bias) {
    int o = 0;
    for (; o + 4 <= outputs; o += 4)
        dots_row(4, inputs, lanes, in, gradient_out + (size_t)o * lanes, gradient_weights + (size_t)(o * inputs),
                 (size_t)inputs);
    for (; o < outputs; o++)
        dots_row(1, inputs, lanes, in, gradient_out + (size_t)o * lanes, gradient_weights + (size_t)(o * inputs),
                 (size_t)inputs);
    for (o = 0; o < outputs; o++) {
        vector sum = {0};
        for (size_t l = 0; l < lanes; l += WIDTH) sum += load(gradient_out + (size_t)o * lanes + l);
        gradient_bias[o] += total(sum);
    }
}
