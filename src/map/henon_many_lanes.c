#include "map/henon_small_lanes.h"

#ifndef AIS_REAL_IS_DOUBLE

#include "map/lattice_vector.h"
#include "nn/tanh.h"

/* Vectors of chains that share a weight. */
enum { GROUP = 2 };

typedef struct numbers {
    ais_floats of[2][GROUP];
} numbers;

/* V of `group` vectors, unit by unit. dim, tanh and group are constants after inlining. */
AIS_INLINE numbers value(int dim, bool tanh, int group, const ais_small_layer *layer, int blocks, const numbers *in) {
    const float *block = layer->block, *end = block + (ptrdiff_t)blocks * (2 * dim + 1) * AIS_UNITS;
    numbers sum;
    for (int i = 0; i < dim; i++)
        for (int g = 0; g < group; g++) sum.of[i][g] = ais_spread(layer->bias[i]);
    for (; block < end; block += (2 * dim + 1) * AIS_UNITS)
#ifndef __SANITIZE_ADDRESS__ /* with whose checks eight units at once take half a minute to compile */
#pragma GCC unroll 8
#endif
        for (const float *unit = block; unit < block + AIS_UNITS; unit++) {
            ais_floats h[GROUP];
            for (int g = 0; g < group; g++)
                h[g] = ais_fma(ais_spread(unit[0]), in->of[0][g], ais_spread(unit[dim * AIS_UNITS]));
            for (int g = 0; g < group && dim > 1; g++) h[g] = ais_fma(ais_spread(unit[AIS_UNITS]), in->of[1][g], h[g]);
            for (int g = 0; g < group; g++) h[g] = tanh ? ais_tanh(h[g]) : ais_max(h[g], ais_spread(0));
            for (int i = 0; i < dim; i++)
                for (int g = 0; g < group; g++)
                    sum.of[i][g] = ais_fma(ais_spread(unit[(dim + 1 + i) * AIS_UNITS]), h[g], sum.of[i][g]);
        }
    return sum;
}

/* Ticks of the halves x and y of AT_ONCE chains: several groups, and little enough for the fastest cache. */
enum { AT_ONCE = 64 };
typedef uint32_t ticks[2][AT_ONCE];

/* other = V(stay) - other. With `before` stay is first moved by it, with `after` in the end; with neither of them it is
 * other = 2 V(stay) - other. */
AIS_INLINE void reflect(int dim, bool tanh, int group, const ais_small_layer *layer, int blocks,
                        const ais_uints *before, const ais_uints *after, size_t c, ticks *stay, ticks *other) {
    numbers in;
    for (int i = 0; i < dim; i++)
        for (int g = 0; g < group; g++) {
            ais_uints *at = (ais_uints *)&(*stay)[i][c + (size_t)(g * AIS_WIDTH)], now = *at;
            if (before) now += before[i];
            in.of[i][g] = __builtin_convertvector((ais_ints)now, ais_floats);
            if (after) now += after[i];
            if (before || after) *at = now;
        }
    numbers out = value(dim, tanh, group, layer, blocks, &in);
    for (int i = 0; i < dim; i++)
        for (int g = 0; g < group; g++) {
            ais_uints *at = (ais_uints *)&(*other)[i][c + (size_t)(g * AIS_WIDTH)];
            if (!before && !after) out.of[i][g] += out.of[i][g];
            *at = (ais_uints)ais_whole(out.of[i][g]) - *at;
        }
}

/* A layer forward, backward, or (of flip the last one) both at once: y stays and x becomes 2 V(y) - x. */
typedef enum turning { FORWARD, BACKWARD, BOTH } turning;

/* Group by group: what one group waits for is done while another's V is computed. */
AIS_INLINE void reflect_all(int dim, bool tanh, int group, const ais_small_layer *layer, int blocks, turning turn,
                            size_t count, ticks *stay, ticks *other) {
    ais_uints eta[2] = {{0}};
    for (int i = 0; i < dim; i++) eta[i] += turn == BACKWARD ? 0 - (uint32_t)layer->eta[i] : (uint32_t)layer->eta[i];
#pragma GCC unroll 1
    for (size_t c = 0; c < count; c += (size_t)(group * AIS_WIDTH))
        reflect(dim, tanh, group, layer, blocks, turn == BACKWARD ? eta : NULL, turn == FORWARD ? eta : NULL, c, stay,
                other);
}

AIS_INLINE void swap(ticks **x, ticks **y) {
    ticks *swapped = *x;
    *x = *y;
    *y = swapped;
}

AIS_INLINE void take_ticks(int dim, size_t lanes, size_t count, const double *from, ticks *to) {
    for (size_t i = 0; i < (size_t)dim; i++)
        for (size_t c = 0; c < count; c += AIS_WIDTH) *(ais_uints *)&(*to)[i][c] = ais_ticks(from + i * lanes + c);
}

AIS_INLINE void put_ticks(int dim, size_t lanes, size_t count, const double *from, ticks *moved, double *to) {
    for (size_t i = 0; i < (size_t)dim; i++)
        for (size_t c = 0; c < count; c += AIS_WIDTH)
            ais_ticks_replace(from + i * lanes + c, *(ais_uints *)&(*moved)[i][c], to + i * lanes + c);
}

/* The first `count` lanes. */
AIS_INLINE void pass(const ais_henon_small *map, int dim, bool tanh, int group, ais_henon_direction direction,
                     size_t lanes, size_t count, const double *from_x, const double *from_y, double *to) {
    _Alignas(64) ticks first, second;
    ticks *x = &first, *y = &second;
    int last = map->layers - 1;
    take_ticks(dim, lanes, count, from_x, x);
    take_ticks(dim, lanes, count, from_y, y);
    for (int l = 0; direction != AIS_HENON_INVERSE && l <= last; l++) {
        if (direction == AIS_HENON_FLIP && l == last) {
            reflect_all(dim, tanh, group, &map->layer[l], map->blocks, BOTH, count, y, x);
            break;
        }
        reflect_all(dim, tanh, group, &map->layer[l], map->blocks, FORWARD, count, y, x);
        swap(&x, &y);
    }
    if (direction == AIS_HENON_SWAP) swap(&x, &y);
    for (int l = direction == AIS_HENON_FLIP ? last - 1 : last; direction != AIS_HENON_FORWARD && l >= 0; l--) {
        reflect_all(dim, tanh, group, &map->layer[l], map->blocks, BACKWARD, count, x, y);
        swap(&x, &y);
    }
    put_ticks(dim, lanes, count, from_x, x, to);
    put_ticks(dim, lanes, count, from_y, y, to + (size_t)dim * lanes);
}

AIS_INLINE void run_all(const ais_henon_small *map, int dim, bool tanh, ais_henon_direction direction, size_t lanes,
                        const double *x, const double *y, double *z) {
    enum { LEAST = AIS_LANES / AIS_WIDTH < GROUP ? AIS_LANES / AIS_WIDTH : GROUP };
    size_t c = 0;
    for (; c + AT_ONCE <= lanes; c += AT_ONCE)
        pass(map, dim, tanh, GROUP, direction, lanes, AT_ONCE, x + c, y + c, z + c);
    if (c < lanes) pass(map, dim, tanh, LEAST, direction, lanes, lanes - c, x + c, y + c, z + c);
}

/* math.md (6) and (7) for small V. */
void AIS_ISA(ais_henon_many)(const ais_henon_small *map, ais_henon_direction direction, size_t lanes, const double *x,
                             const double *y, double *z) {
    if (map->dim == 1 && map->tanh) run_all(map, 1, true, direction, lanes, x, y, z);
    if (map->dim == 1 && !map->tanh) run_all(map, 1, false, direction, lanes, x, y, z);
    if (map->dim == 2 && map->tanh) run_all(map, 2, true, direction, lanes, x, y, z);
    if (map->dim == 2 && !map->tanh) run_all(map, 2, false, direction, lanes, x, y, z);
}

#endif
