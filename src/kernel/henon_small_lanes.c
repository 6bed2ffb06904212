#include "kernel/henon_small_lanes.h"

#ifndef AIS_REAL_IS_DOUBLE

#include "base/fixed.h"
#include "kernel/lattice_vector.h"
#include "nn/tanh.h"

/* Vectors of chains that share a weight. More would make the registers spill where there are 16, and leave
 * nothing to do beside a group's way to and from the lattice where 64 chains are few vectors. */
enum { GROUP = 2, PARTIALS = 8 };

typedef struct numbers {
    ais_floats of[2][GROUP];
} numbers;

/* Four of the eight partial sums of V for `group` vectors, added: (0+4)+(2+6) from first = 0 on, (1+5)+(3+7)
 * from first = 1 on. dim, tanh and group are constants after inlining. */
AIS_INLINE numbers half_sum(int dim, bool tanh, int group, int hidden, const float *weights, int first,
                            const numbers *in) {
    const float *bias = weights + dim * hidden, *last = bias + hidden;
    numbers level[2], sum;
#pragma GCC unroll 4
    for (int t = 0; t < PARTIALS / 2; t++) {
        sum = (numbers){0};
        for (int j = first + (t & 1) * 4 + (t & 2); j < hidden; j += PARTIALS) {
            ais_floats h[GROUP];
            for (int g = 0; g < group; g++)
                h[g] = ais_fma(ais_spread(weights[dim * j]), in->of[0][g], ais_spread(bias[j]));
            for (int g = 0; g < group && dim > 1; g++)
                h[g] = ais_fma(ais_spread(weights[dim * j + 1]), in->of[1][g], h[g]);
            for (int g = 0; g < group; g++) h[g] = tanh ? ais_tanh(h[g]) : ais_max(h[g], ais_spread(0));
            for (int i = 0; i < dim; i++)
                for (int g = 0; g < group; g++)
                    sum.of[i][g] = ais_fma(ais_spread(last[i * hidden + j]), h[g], sum.of[i][g]);
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

typedef uint64_t words __attribute__((vector_size(4 * AIS_WIDTH)));

/* other = V(stay) - other, or 2 V(stay) - other when doubled, with stay moved by `before` first and by
 * `after` in the end. */
typedef struct layer {
    const float *weights;
    int hidden, doubled;
    uint64_t before[2], after[2];
} layer;

/* V that still has to be put on the lattice: done while the next group's V is computed, where it costs little. */
typedef struct late {
    numbers value;
    int64_t *other; /* NULL: nothing waits */
    int doubled;
} late;

AIS_INLINE numbers begin(const layer *this, int dim, int group, size_t lanes, int64_t *stay) {
    numbers in = {0};
    for (int i = 0; i < dim; i++)
        for (int g = 0; g < group; g++) {
            words *at = (words *)(stay + (size_t)i * lanes + (size_t)(g * AIS_WIDTH));
            words a = at[0] + this->before[i], b = at[1] + this->before[i];
            in.of[i][g] = ais_lattice_floats((ais_longs)a, (ais_longs)b);
            at[0] = a + this->after[i];
            at[1] = b + this->after[i];
        }
    return in;
}

AIS_INLINE void finish(late *this, int dim, int group, size_t lanes) {
    if (!this->other) return;
    for (int i = 0; i < dim; i++)
        for (int g = 0; g < group; g++) {
            words *at = (words *)(this->other + (size_t)i * lanes + (size_t)(g * AIS_WIDTH));
            words a, b;
            ais_lattice_round(this->value.of[i][g], (ais_longs *)&a, (ais_longs *)&b);
            if (this->doubled) a += a, b += b;
            at[0] = a - at[0];
            at[1] = b - at[1];
        }
}

/* One layer, group by group. */
AIS_INLINE void reflect(const layer *this, int dim, bool tanh, int group, size_t lanes, size_t count, int64_t *stay,
                        int64_t *other, late *waiting) {
    const size_t step = (size_t)(group * AIS_WIDTH);
    const float *bias = this->weights + (2 * dim + 1) * this->hidden;
    if (count == step) { /* what waits is what is needed now */
        finish(waiting, dim, group, lanes);
        waiting->other = NULL;
    }
    numbers in = begin(this, dim, group, lanes, stay);
    for (size_t c = 0; c < count; c += step) {
        numbers even = half_sum(dim, tanh, group, this->hidden, this->weights, 0, &in), next = {0};
        finish(waiting, dim, group, lanes);
        if (c + step < count) next = begin(this, dim, group, lanes, stay + c + step);
        numbers odd = half_sum(dim, tanh, group, this->hidden, this->weights, 1, &in);
        for (int i = 0; i < dim; i++)
            for (int g = 0; g < group; g++)
                waiting->value.of[i][g] = (even.of[i][g] + odd.of[i][g]) + ais_spread(bias[i]);
        waiting->other = other + c;
        waiting->doubled = this->doubled;
        in = next;
    }
}

AIS_INLINE layer layer_at(const ais_henon *henon, int dim, const float *weights, int l, bool inverse) {
    layer this = {.weights = weights + (size_t)l * henon->layer_weights, .hidden = henon->net.hidden};
    const float *eta = this.weights + henon->layer_weights - dim;
    for (int i = 0; i < dim; i++) {
        uint64_t by = (uint64_t)ais_fixed_from((double)eta[i]);
        if (inverse)
            this.before[i] = 0 - by;
        else
            this.after[i] = by;
    }
    return this;
}

AIS_INLINE void swap(int64_t **x, int64_t **y) {
    int64_t *swapped = *x;
    *x = *y;
    *y = swapped;
}

/* `count` lanes of z. */
AIS_INLINE void pass(const ais_henon *henon, int dim, bool tanh, int group, const float *weights, ais_henon_way way,
                     size_t lanes, size_t count, int64_t *z) {
    int last = henon->layers - 1, forward = way == AIS_HENON_INVERSE ? 0 : henon->layers;
    int turns = forward + (way == AIS_HENON_FORWARD ? 0 : way == AIS_HENON_FLIP ? last : henon->layers);
    int64_t *x = z, *y = z + (size_t)dim * lanes;
    late waiting = {.other = NULL};
    for (int t = 0; t < turns; t++) {
        bool inverse = t >= forward;
        int l = inverse ? turns - 1 - t : t;
        layer this = layer_at(henon, dim, weights, l, inverse);
        /* Of flip the last layer, R and the last layer's inverse are one: y stays and x becomes 2 V(y) - x. */
        bool both = way == AIS_HENON_FLIP && t == last;
        if (both) this = (layer){.weights = this.weights, .hidden = this.hidden, .doubled = 1};
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

AIS_INLINE void run_all(const ais_henon *henon, int dim, bool tanh, const float *weights, ais_henon_way way,
                        size_t lanes, int64_t *z) {
    enum { AT_ONCE = 64, LEAST = AIS_LANES / AIS_WIDTH < GROUP ? AIS_LANES / AIS_WIDTH : GROUP };
    size_t c = 0; /* several groups, and little enough for the fastest cache */
    for (; c + AT_ONCE <= lanes; c += AT_ONCE) pass(henon, dim, tanh, GROUP, weights, way, lanes, AT_ONCE, z + c);
    if (c < lanes) pass(henon, dim, tanh, LEAST, weights, way, lanes, lanes - c, z + c);
}

/* math.md (6) and (7) for small V. */
void AIS_ISA(ais_henon_small)(const ais_henon *henon, const ais_real *weights, ais_henon_way way, size_t lanes,
                              int64_t *z) {
    bool tanh = henon->net.tanh;
    if (henon->dim == 1 && tanh) run_all(henon, 1, true, weights, way, lanes, z);
    if (henon->dim == 1 && !tanh) run_all(henon, 1, false, weights, way, lanes, z);
    if (henon->dim == 2 && tanh) run_all(henon, 2, true, weights, way, lanes, z);
    if (henon->dim == 2 && !tanh) run_all(henon, 2, false, weights, way, lanes, z);
}

#endif
