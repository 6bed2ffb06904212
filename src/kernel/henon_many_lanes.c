#include "kernel/henon_small_lanes.h"

#ifndef AIS_REAL_IS_DOUBLE

#include "kernel/lattice_vector.h"
#include "nn/tanh.h"

/* Vectors of chains that share a weight. More would make the registers spill where there are 16, and leave
 * nothing to do beside a group's way to and from the lattice where 64 chains are few vectors. */
enum { GROUP = 2 };

typedef struct numbers {
    ais_floats of[2][GROUP];
} numbers;

/* Four of the eight partial sums of V for `group` vectors, added: (0+4)+(2+6) from first = 0 on, (1+5)+(3+7)
 * from first = 1 on. dim, tanh and group are constants after inlining. */
AIS_INLINE numbers half_sum(int dim, bool tanh, int group, int blocks, const ais_small_layer *layer, int first,
                            const numbers *in) {
    const float *bias = layer->block + dim * AIS_UNITS, *last = bias + AIS_UNITS;
    const ptrdiff_t end = (ptrdiff_t)blocks * (2 * dim + 1) * AIS_UNITS;
    numbers level[2], sum;
#pragma GCC unroll 4
    for (int t = 0; t < 4; t++) {
        int k = first + (t & 1) * 4 + (t & 2);
        for (int i = 0; i < dim; i++)
            for (int g = 0; g < group; g++) sum.of[i][g] = ais_spread(k == 0 ? layer->bias[i] : 0);
        for (ptrdiff_t at = k; at < end; at += (2 * dim + 1) * AIS_UNITS) {
            ais_floats h[GROUP];
            for (int g = 0; g < group; g++)
                h[g] = ais_fma(ais_spread(layer->block[at]), in->of[0][g], ais_spread(bias[at]));
            for (int g = 0; g < group && dim > 1; g++)
                h[g] = ais_fma(ais_spread(layer->block[at + AIS_UNITS]), in->of[1][g], h[g]);
            for (int g = 0; g < group; g++) h[g] = tanh ? ais_tanh(h[g]) : ais_max(h[g], ais_spread(0));
            for (int i = 0; i < dim; i++)
                for (int g = 0; g < group; g++)
                    sum.of[i][g] = ais_fma(ais_spread(last[at + i * AIS_UNITS]), h[g], sum.of[i][g]);
        }
        for (int i = 0; i < dim; i++)
            for (int g = 0; g < group; g++) {
                if (t & 1) sum.of[i][g] = level[0].of[i][g] + sum.of[i][g];
                if (t == 3) sum.of[i][g] = level[1].of[i][g] + sum.of[i][g];
            }
        level[t & 1] = sum;
    }
    return sum;
}

/* ---- the map ------------------------------------------------------------------------------------ */

/* other = V(stay) - other, or 2 V(stay) - other when doubled, with stay moved by `before` first and by
 * `after` in the end. */
typedef struct turn {
    const ais_small_layer *layer;
    int blocks;
    bool doubled;
    uint64_t before[2], after[2];
} turn;

/* V that still has to be put on the lattice: done while the next group's V is computed, where it costs little. */
typedef struct late {
    numbers value;
    int64_t *other; /* NULL: nothing waits */
    bool doubled;
} late;

AIS_INLINE numbers begin(const turn *this, int dim, int group, size_t lanes, int64_t *stay) {
    numbers in = {0};
    for (int i = 0; i < dim; i++)
        for (int g = 0; g < group; g++) {
            ais_words *at = (ais_words *)(stay + (size_t)i * lanes + (size_t)(g * AIS_WIDTH));
            ais_words a = at[0] + this->before[i], b = at[1] + this->before[i];
            in.of[i][g] = ais_lattice_seen(a, b);
            at[0] = a + this->after[i];
            at[1] = b + this->after[i];
        }
    return in;
}

AIS_INLINE void finish(late *this, int dim, int group, size_t lanes) {
    if (!this->other) return;
    for (int i = 0; i < dim; i++)
        for (int g = 0; g < group; g++) {
            ais_words *at = (ais_words *)(this->other + (size_t)i * lanes + (size_t)(g * AIS_WIDTH));
            ais_words a, b;
            ais_lattice_given(this->value.of[i][g], &a, &b);
            if (this->doubled) a += a, b += b;
            at[0] = a - at[0];
            at[1] = b - at[1];
        }
}

/* One layer, group by group. */
AIS_INLINE void reflect(const turn *this, int dim, bool tanh, int group, size_t lanes, size_t count, int64_t *stay,
                        int64_t *other, late *waiting) {
    const size_t step = (size_t)(group * AIS_WIDTH);
    if (count == step) { /* what waits is what is needed now */
        finish(waiting, dim, group, lanes);
        waiting->other = NULL;
    }
    numbers in = begin(this, dim, group, lanes, stay);
    for (size_t c = 0; c < count; c += step) {
        numbers even = half_sum(dim, tanh, group, this->blocks, this->layer, 0, &in), next = {0};
        finish(waiting, dim, group, lanes);
        if (c + step < count) next = begin(this, dim, group, lanes, stay + c + step);
        numbers odd = half_sum(dim, tanh, group, this->blocks, this->layer, 1, &in);
        for (int i = 0; i < dim; i++)
            for (int g = 0; g < group; g++) waiting->value.of[i][g] = even.of[i][g] + odd.of[i][g];
        waiting->other = other + c;
        waiting->doubled = this->doubled;
        in = next;
    }
}

AIS_INLINE turn turn_at(const ais_henon_small *map, int dim, int l, bool inverse) {
    turn this = {.layer = &map->layer[l], .blocks = map->blocks};
    for (int i = 0; i < dim; i++)
        *(inverse ? &this.before[i] : &this.after[i]) = (inverse ? 0 - map->layer[l].eta[i] : map->layer[l].eta[i]);
    return this;
}

AIS_INLINE void swap(int64_t **x, int64_t **y) {
    int64_t *swapped = *x;
    *x = *y;
    *y = swapped;
}

/* `count` lanes of z. */
AIS_INLINE void pass(const ais_henon_small *map, int dim, bool tanh, int group, ais_henon_way way, size_t lanes,
                     size_t count, int64_t *z) {
    int last = map->layers - 1, forward = way == AIS_HENON_INVERSE ? 0 : map->layers;
    int turns = forward + (way == AIS_HENON_FORWARD ? 0 : way == AIS_HENON_FLIP ? last : map->layers);
    int64_t *x = z, *y = z + (size_t)dim * lanes;
    late waiting = {.other = NULL};
    for (int t = 0; t < turns; t++) {
        bool inverse = t >= forward;
        int l = inverse ? turns - 1 - t : t;
        turn this = turn_at(map, dim, l, inverse);
        /* Of flip the last layer, R and the last layer's inverse are one: y stays and x becomes 2 V(y) - x. */
        bool both = way == AIS_HENON_FLIP && t == last;
        if (both) this = (turn){.layer = this.layer, .blocks = this.blocks, .doubled = true};
        if (way == AIS_HENON_SWAP && t == forward) swap(&x, &y);
        reflect(&this, dim, tanh, group, lanes, count, inverse ? x : y, inverse ? y : x, &waiting);
        if (!both) swap(&x, &y);
    }
    finish(&waiting, dim, group, lanes);
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
