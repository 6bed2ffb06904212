/* Register tiles: a tile of T outputs by V vectors of lanes stays in registers while the loop runs
 * over the inputs, each weight being broadcast once for V vectors. A lane's sum is taken over the
 * inputs in order whatever the tile, so tiling never changes a result. */
#include "nn/dense_lanes.h"

#include <string.h>

#include "nn/tanh.h"
#include "simd/math.h"

/* 6 x 2 sums, 2 values and a weight fill 16 registers; AVX-512 has 32. Forward, where weights are read in order, 3 x 4
 * sums take as long with fewer instructions. */
#if defined(__AVX512F__)
enum { VECTOR_BYTES = 64, VECTORS = 4, FORWARD_TILE = 6 };
#elif defined(__AVX2__)
enum { VECTOR_BYTES = 32, VECTORS = 2, FORWARD_TILE = 3 };
#else
enum { VECTOR_BYTES = 16, VECTORS = 2, FORWARD_TILE = 3 };
#endif
enum { WIDTH = VECTOR_BYTES / (int)sizeof(ais_real), TILE = 6, FORWARD_VECTORS = 4, BLOCK = 128 };
typedef ais_real vector __attribute__((vector_size(VECTOR_BYTES)));

#define INLINE static inline __attribute__((always_inline))

INLINE vector load(const ais_real *from) { return *(const vector *)from; }

/* A product seen as weight(o, i) = weights[o * row + i * column]. */
typedef struct matrix {
    const ais_real *weights, *bias;
    size_t row, column;
} matrix;

/* out[o][...] = start + sum_i weight(o, i) in[i][...] for `outputs` outputs and `vectors` vectors; both are constants
 * after inlining. The start is the bias, or with `more` what an earlier block of inputs left in out. */
INLINE void tile(int outputs, int vectors, int inputs, size_t lanes, matrix by, bool more, const ais_real *in,
                 ais_real *out) {
    vector sum[TILE][FORWARD_VECTORS];
    for (int o = 0; o < outputs; o++)
        for (int v = 0; v < vectors; v++)
            sum[o][v] =
                more ? load(out + (size_t)o * lanes + (size_t)(v * WIDTH)) : (vector){0} + (by.bias ? by.bias[o] : 0);
    for (int i = 0; i < inputs; i++) {
        vector value[FORWARD_VECTORS];
        for (int v = 0; v < vectors; v++) value[v] = load(in + (size_t)i * lanes + (size_t)(v * WIDTH));
        for (int o = 0; o < outputs; o++) {
            ais_real weight = by.weights[(size_t)o * by.row + (size_t)i * by.column];
            for (int v = 0; v < vectors; v++) sum[o][v] += weight * value[v];
        }
    }
    for (int o = 0; o < outputs; o++)
        for (int v = 0; v < vectors; v++) *(vector *)(out + (size_t)o * lanes + (size_t)(v * WIDTH)) = sum[o][v];
}

/* Tiles of `tall` outputs, a constant, from output o on; returns the first output that is left. */
INLINE int tiles(int tall, int o, int vectors, int inputs, int outputs, size_t lanes, matrix by, bool more,
                 const ais_real *in, ais_real *out) {
    for (; o + tall <= outputs; o += tall) {
        matrix part = by;
        part.weights += (size_t)o * by.row;
        if (by.bias) part.bias += o;
        tile(tall, vectors, inputs, lanes, part, more, in, out + (size_t)o * lanes);
    }
    return o;
}

/* `most` outputs at a time, a constant too. */
INLINE void columns(int most, int vectors, int inputs, int outputs, size_t lanes, matrix by, bool more,
                    const ais_real *in, ais_real *out) {
    int o = tiles(most, 0, vectors, inputs, outputs, lanes, by, more, in, out);
    if (most > 3) o = tiles(3, o, vectors, inputs, outputs, lanes, by, more, in, out);
    o = tiles(2, o, vectors, inputs, outputs, lanes, by, more, in, out);
    tiles(1, o, vectors, inputs, outputs, lanes, by, more, in, out);
}

/* A block of inputs at a time: the values of a tile's lanes stay in the first cache, and the weights of the block in
 * the second, while all outputs pass. */
INLINE void product(int most, int vectors, int inputs, int outputs, size_t lanes, matrix by, const ais_real *in,
                    ais_real *out) {
    size_t step = (size_t)(vectors * WIDTH);
    for (int i = 0; i == 0 || i < inputs; i += BLOCK, in += BLOCK * lanes, by.weights += BLOCK * by.column) {
        int some = inputs - i < BLOCK ? inputs - i : BLOCK;
        size_t l = 0;
        for (; l + step <= lanes; l += step) columns(most, vectors, some, outputs, lanes, by, i > 0, in + l, out + l);
        for (; l + step / 2 <= lanes; l += step / 2)
            columns(most, vectors / 2, some, outputs, lanes, by, i > 0, in + l, out + l);
        for (; l < lanes; l += WIDTH) columns(most, 1, some, outputs, lanes, by, i > 0, in + l, out + l);
    }
}

/* A point alone: vectors run over the inputs. */
static void point(int inputs, int outputs, const ais_real *weights, const ais_real *bias, const ais_real *in,
                  ais_real *out) {
    for (int o = 0; o < outputs; o++, weights += inputs) {
        ais_real sum = bias[o];
#pragma omp simd reduction(+ : sum)
        for (int i = 0; i < inputs; i++) sum += weights[i] * in[i];
        out[o] = sum;
    }
}

static void point_transposed(int inputs, int outputs, const ais_real *weights, const ais_real *gradient_out,
                             ais_real *gradient_in) {
    memset(gradient_in, 0, (size_t)inputs * sizeof *gradient_in);
    for (int o = 0; o < outputs; o++, weights += inputs) {
#pragma omp simd
        for (int i = 0; i < inputs; i++) gradient_in[i] += weights[i] * gradient_out[o];
    }
}

void AIS_ISA(ais_dense)(int inputs, int outputs, size_t lanes, const ais_real *weights, const ais_real *bias,
                        const ais_real *in, ais_real *out) {
    if (lanes == 1)
        point(inputs, outputs, weights, bias, in, out);
    else
        product(FORWARD_TILE, FORWARD_VECTORS, inputs, outputs, lanes, (matrix){weights, bias, (size_t)inputs, 1}, in,
                out);
}

void AIS_ISA(ais_dense_transposed)(int inputs, int outputs, size_t lanes, const ais_real *weights,
                                   const ais_real *gradient_out, ais_real *gradient_in) {
    if (lanes == 1)
        point_transposed(inputs, outputs, weights, gradient_out, gradient_in);
    else
        product(TILE, VECTORS, outputs, inputs, lanes, (matrix){weights, NULL, 1, (size_t)inputs}, gradient_out,
                gradient_in);
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

void AIS_ISA(ais_leak)(ais_real leak, size_t n, ais_real *value) {
#pragma omp simd
    for (size_t i = 0; i < n; i++) value[i] = value[i] > 0 ? value[i] : leak * value[i];
}

void AIS_ISA(ais_leak_gradient)(ais_real leak, size_t n, const ais_real *value, ais_real *gradient) {
#pragma omp simd
    for (size_t i = 0; i < n; i++) gradient[i] = value[i] > 0 ? gradient[i] : leak * gradient[i];
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

/* ---- gradients by weights ----------------------------------------------------------------------------
 * Sums over lanes: with the inputs turned, so that vectors run over inputs, a tile is that of a product, and no vector
 * has to be added up at the end. */

enum { TURNED_INPUTS = VECTORS * WIDTH, TURNED_LANES = 64 };
typedef ais_real_bits places __attribute__((vector_size(VECTOR_BYTES)));

/* Of a and b together the elements at these places. clang has no builtin for places in a vector. */
INLINE vector pick(vector a, vector b, places at) {
#ifdef __clang__
    vector picked = {0};
    for (int k = 0; k < WIDTH; k++) picked[k] = at[k] < WIDTH ? a[at[k]] : b[at[k] - WIDTH];
    return picked;
#else
    return __builtin_shuffle(a, b, at);
#endif
}

/* Rows and columns of a WIDTH x WIDTH square change places: log2(WIDTH) times the first half is interleaved with the
 * second. */
INLINE void turn_square(vector *square) {
    places low = {0}, high = {0};
    for (int k = 0; k < WIDTH; k++) {
        low[k] = (ais_real_bits)(k / 2 + k % 2 * WIDTH);
        high[k] = low[k] + WIDTH / 2;
    }
    for (int stage = 1; stage < WIDTH; stage *= 2) {
        vector next[WIDTH];
        for (int k = 0; k < WIDTH / 2; k++) {
            next[2 * k] = pick(square[k], square[k + WIDTH / 2], low);
            next[2 * k + 1] = pick(square[k], square[k + WIDTH / 2], high);
        }
        for (int k = 0; k < WIDTH; k++) square[k] = next[k];
    }
}

void AIS_ISA(ais_transpose)(size_t rows, size_t columns, const ais_real *from, ais_real *to) {
    for (size_t r = 0; r < rows; r += WIDTH)
        for (size_t c = 0; c < columns; c += WIDTH) {
            vector square[WIDTH];
            for (size_t k = 0; k < WIDTH; k++) square[k] = load(from + (r + k) * columns + c);
            turn_square(square);
            for (size_t k = 0; k < WIDTH; k++) *(vector *)(to + (c + k) * rows + r) = square[k];
        }
}

/* turned (count x TURNED_INPUTS) from `inputs` rows of lanes, at most TURNED_INPUTS; the rest is 0. */
INLINE void turn(int inputs, size_t lanes, size_t count, const ais_real *in, ais_real *turned) {
    for (int first = 0; first < TURNED_INPUTS; first += WIDTH)
        for (size_t l = 0; l < count; l += WIDTH) {
            vector square[WIDTH];
            for (int k = 0; k < WIDTH; k++)
                square[k] = first + k < inputs ? load(in + (size_t)(first + k) * lanes + l) : (vector){0};
            turn_square(square);
            for (int k = 0; k < WIDTH; k++) *(vector *)(turned + (l + (size_t)k) * TURNED_INPUTS + first) = square[k];
        }
}

/* The first `count` of a vector, which need not be aligned there. */
INLINE void add_to(ais_real *to, vector value, int count) {
    vector before;
    if (count >= WIDTH) {
        memcpy(&before, to, sizeof before);
        before += value;
        memcpy(to, &before, sizeof before);
        return;
    }
    for (int k = 0; k < count; k++) to[k] += value[k];
}

/* A tile of `outputs` (a constant) x `inputs` sums over `count` lanes. */
INLINE void gradient_tile(int outputs, int inputs, size_t lanes, size_t count, const ais_real *turned,
                          const ais_real *gradient_out, ais_real *gradient_weights, size_t row) {
    vector sum[TILE][VECTORS];
    for (int o = 0; o < outputs; o++)
        for (int v = 0; v < VECTORS; v++) sum[o][v] = (vector){0};
    for (size_t l = 0; l < count; l++) {
        vector value[VECTORS];
        for (int v = 0; v < VECTORS; v++) value[v] = load(turned + l * TURNED_INPUTS + (size_t)(v * WIDTH));
        for (int o = 0; o < outputs; o++) {
            ais_real gradient = gradient_out[(size_t)o * lanes + l];
            for (int v = 0; v < VECTORS; v++) sum[o][v] += gradient * value[v];
        }
    }
    for (int o = 0; o < outputs; o++)
        for (int v = 0; v < VECTORS; v++)
            add_to(gradient_weights + (size_t)o * row + (size_t)(v * WIDTH), sum[o][v], inputs - v * WIDTH);
}

/* At most TURNED_INPUTS inputs and TURNED_LANES lanes. */
INLINE void gradient_columns(int inputs, int outputs, size_t lanes, size_t count, const ais_real *turned,
                             const ais_real *gradient_out, ais_real *gradient_weights, size_t row) {
    int o = 0;
    for (; o + TILE <= outputs; o += TILE)
        gradient_tile(TILE, inputs, lanes, count, turned, gradient_out + (size_t)o * lanes,
                      gradient_weights + (size_t)o * row, row);
    for (; o + 3 <= outputs; o += 3)
        gradient_tile(3, inputs, lanes, count, turned, gradient_out + (size_t)o * lanes,
                      gradient_weights + (size_t)o * row, row);
    for (; o + 2 <= outputs; o += 2)
        gradient_tile(2, inputs, lanes, count, turned, gradient_out + (size_t)o * lanes,
                      gradient_weights + (size_t)o * row, row);
    for (; o < outputs; o++)
        gradient_tile(1, inputs, lanes, count, turned, gradient_out + (size_t)o * lanes,
                      gradient_weights + (size_t)o * row, row);
}

INLINE ais_real total(vector sum) {
    for (int half = WIDTH / 2; half > 0; half /= 2) {
        places other = {0};
        for (int k = 0; k < WIDTH; k++) other[k] = (ais_real_bits)((k + half) % WIDTH);
        sum += pick(sum, sum, other);
    }
    return sum[0];
}

/* Of one input, where turning would not pay. */
INLINE void gradient_alone(int outputs, size_t lanes, const ais_real *in, const ais_real *gradient_out,
                           ais_real *gradient_weights, size_t row) {
    for (int o = 0; o < outputs; o++) {
        vector sum = {0};
        for (size_t l = 0; l < lanes; l += WIDTH) sum += load(in + l) * load(gradient_out + (size_t)o * lanes + l);
        gradient_weights[(size_t)o * row] += total(sum);
    }
}

void AIS_ISA(ais_dense_gradient)(int inputs, int outputs, size_t lanes, const ais_real *in,
                                 const ais_real *gradient_out, ais_real *gradient_weights, ais_real *gradient_bias) {
    ais_real turned[TURNED_LANES * TURNED_INPUTS] __attribute__((aligned(VECTOR_BYTES)));
    for (int i = 0; i < inputs; i += TURNED_INPUTS) {
        int count = inputs - i < TURNED_INPUTS ? inputs - i : TURNED_INPUTS;
        const ais_real *rows = in + (size_t)i * lanes;
        if (count <= 2) {
            for (int k = 0; k < count; k++)
                gradient_alone(outputs, lanes, rows + (size_t)k * lanes, gradient_out, gradient_weights + i + k,
                               (size_t)inputs);
            continue;
        }
        for (size_t l = 0; l < lanes; l += TURNED_LANES) {
            size_t some = lanes - l < TURNED_LANES ? lanes - l : TURNED_LANES;
            turn(count, lanes, some, rows + l, turned);
            if (count == TURNED_INPUTS)
                gradient_columns(TURNED_INPUTS, outputs, lanes, some, turned, gradient_out + l, gradient_weights + i,
                                 (size_t)inputs);
            else
                gradient_columns(count, outputs, lanes, some, turned, gradient_out + l, gradient_weights + i,
                                 (size_t)inputs);
        }
    }
    for (int o = 0; o < outputs; o++) {
        vector sum = {0};
        for (size_t l = 0; l < lanes; l += WIDTH) sum += load(gradient_out + (size_t)o * lanes + l);
        gradient_bias[o] += total(sum);
    }
}
