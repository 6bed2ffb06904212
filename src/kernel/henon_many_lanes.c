#include "kernel/henon_small_lanes.h"

#ifndef AIS_REAL_IS_DOUBLE

#include "kernel/lattice_vector.h"
#include "nn/tanh.h"

/* Vectors of chains that share a weight. */
enum { GROUP = 2 };

typedef struct numbers {
    ais_floats of[2][GROUP];
} numbers;

/* The partial sum of units first, first + 8, ... of V for `group` vectors, in addition to sum. dim, tanh and group are
 * constants after inlining. */
AIS_INLINE numbers partial_sum(int dim, bool tanh, int group, const float *unit, const float *end, const numbers *in,
                               numbers sum) {
    do {
        ais_floats h[GROUP];
        for (int g = 0; g < group; g++)
            h[g] = ais_fma(ais_spread(unit[0]), in->of[0][g], ais_spread(unit[dim * AIS_UNITS]));
        for (int g = 0; g < group && dim > 1; g++) h[g] = ais_fma(ais_spread(unit[AIS_UNITS]), in->of[1][g], h[g]);
        for (int g = 0; g < group; g++) h[g] = tanh ? ais_tanh(h[g]) : ais_max(h[g], ais_spread(0));
        for (int i = 0; i < dim; i++)
            for (int g = 0; g < group; g++)
                sum.of[i][g] = ais_fma(ais_spread(unit[(dim + 1 + i) * AIS_UNITS]), h[g], sum.of[i][g]);
        unit += (2 * dim + 1) * AIS_UNITS;
    } while (unit < end);
    return sum;
}

AIS_INLINE void add(int dim, int group, const numbers *to, numbers *sum) {
    for (int i = 0; i < dim; i++)
        for (int g = 0; g < group; g++) sum->of[i][g] = to->of[i][g] + sum->of[i][g];
}

/* V. Partial sums are taken in the order 0, 2, 1, 3, 4, 6, 5, 7, so that at most three wait to be added. */
AIS_INLINE numbers value(int dim, bool tanh, int group, const ais_small_layer *layer, int blocks, const numbers *in) {
    const float *end = layer->block + (ptrdiff_t)blocks * (2 * dim + 1) * AIS_UNITS;
    numbers bias = {0}, sum = {0}, waiting[3];
    for (int i = 0; i < dim; i++)
        for (int g = 0; g < group; g++) bias.of[i][g] = ais_spread(layer->bias[i]);
#pragma GCC unroll 8
    for (int t = 0; t < AIS_UNITS; t++) {
        int k = (t & 1) << 1 | (t & 2) >> 1 | (t & 4);
        sum = partial_sum(dim, tanh, group, layer->block + k, end, in, t == 0 ? bias : (numbers){0});
        if (t & 1) add(dim, group, &waiting[0], &sum);
        if ((t & 3) == 3) add(dim, group, &waiting[1], &sum);
        if (t == 7) break;
        waiting[(t & 3) == 3 ? 2 : t & 1] = sum;
    }
    add(dim, group, &waiting[2], &sum);
    return sum;
}

/* other = V(stay) - other. With `before` stay is first moved by it, with `after` in the end; with neither of them it is
 * other = 2 V(stay) - other. */
AIS_INLINE void reflect(int dim, bool tanh, int group, const ais_small_layer *layer, int blocks,
                        const ais_words *before, const ais_words *after, size_t lanes, int64_t *stay, int64_t *other) {
    numbers in;
    for (int i = 0; i < dim; i++)
        for (int g = 0; g < group; g++) {
            ais_words *at = (ais_words *)(stay + (size_t)i * lanes + (size_t)(g * AIS_WIDTH)), a = at[0], b = at[1];
            if (before) a += before[i], b += before[i];
            in.of[i][g] = ais_lattice_seen(a, b);
            if (after) a += after[i], b += after[i];
            at[0] = a;
            at[1] = b;
        }
    numbers out = value(dim, tanh, group, layer, blocks, &in);
    for (int i = 0; i < dim; i++)
        for (int g = 0; g < group; g++) {
            ais_words *at = (ais_words *)(other + (size_t)i * lanes + (size_t)(g * AIS_WIDTH)), a, b;
            if (!before && !after) out.of[i][g] += out.of[i][g];
            ais_lattice_given(out.of[i][g], &a, &b);
            at[0] = a - at[0];
            at[1] = b - at[1];
        }
}

/* A layer forward, backward, or (of flip the last one) both at once: y stays and x becomes 2 V(y) - x. */
typedef enum direction { FORWARD, BACKWARD, BOTH } direction;

/* Group by group: what one group waits for is done while another's V is computed. */
AIS_INLINE void reflect_all(int dim, bool tanh, int group, const ais_small_layer *layer, int blocks, direction turn,
                            size_t lanes, size_t count, int64_t *stay, int64_t *other) {
    ais_words eta[2] = {{0}};
    for (int i = 0; i < dim; i++) eta[i] += turn == BACKWARD ? 0 - layer->eta[i] : layer->eta[i];
#pragma GCC unroll 1
    for (size_t c = 0; c < count; c += (size_t)(group * AIS_WIDTH))
        reflect(dim, tanh, group, layer, blocks, turn == BACKWARD ? eta : NULL, turn == FORWARD ? eta : NULL, lanes,
                stay + c, other + c);
}

AIS_INLINE void swap(int64_t **x, int64_t **y) {
    int64_t *swapped = *x;
    *x = *y;
    *y = swapped;
}

/* `count` lanes of z. */
AIS_INLINE void pass(const ais_henon_small *map, int dim, bool tanh, int group, ais_henon_way way, size_t lanes,
                     size_t count, int64_t *z) {
    int last = map->layers - 1;
    int64_t *x = z, *y = z + (size_t)dim * lanes;
    for (int l = 0; way != AIS_HENON_INVERSE && l <= last; l++) {
        if (way == AIS_HENON_FLIP && l == last) {
            reflect_all(dim, tanh, group, &map->layer[l], map->blocks, BOTH, lanes, count, y, x);
            break;
        }
        reflect_all(dim, tanh, group, &map->layer[l], map->blocks, FORWARD, lanes, count, y, x);
        swap(&x, &y);
    }
    if (way == AIS_HENON_SWAP) swap(&x, &y);
    for (int l = way == AIS_HENON_FLIP ? last - 1 : last; way != AIS_HENON_FORWARD && l >= 0; l--) {
        reflect_all(dim, tanh, group, &map->layer[l], map->blocks, BACKWARD, lanes, count, x, y);
        swap(&x, &y);
    }
    for (size_t i = 0; x != z && i < (size_t)dim; i++) /* they ended exchanged */
        for (size_t c = 0; c < count; c++) {
            int64_t swapped = x[i * lanes + c];
            x[i * lanes + c] = y[i * lanes + c];
            y[i * lanes + c] = swapped;
        }
}

AIS_INLINE void run_all(const ais_henon_small *map, int dim, bool tanh, ais_henon_way way, size_t lanes, int64_t *z) {
    enum { AT_ONCE = 64, LEAST = AIS_LANES / AIS_WIDTH < GROUP ? AIS_LANES / AIS_WIDTH : GROUP };
    size_t c = 0; /* several groups, and little enough for the fastest cache */
    for (; c + AT_ONCE <= lanes; c += AT_ONCE) pass(map, dim, tanh, GROUP, way, lanes, AT_ONCE, z + c);
    if (c < lanes) pass(map, dim, tanh, LEAST, way, lanes, lanes - c, z + c);
}

/* math.md (6) and (7) for small V. */
void AIS_ISA(ais_henon_many)(const ais_henon_small *map, ais_henon_way way, size_t lanes, int64_t *z) {
    if (map->dim == 1 && map->tanh) run_all(map, 1, true, way, lanes, z);
    if (map->dim == 1 && !map->tanh) run_all(map, 1, false, way, lanes, z);
    if (map->dim == 2 && map->tanh) run_all(map, 2, true, way, lanes, z);
    if (map->dim == 2 && !map->tanh) run_all(map, 2, false, way, lanes, z);
}

#endif
