#include "map/henon.h"

#include <math.h>
#include <string.h>

#include "map/henon_small_lanes.h"
#include "map/lattice_lanes.h"

struct ais_henon_tape {
    size_t lanes;
    ais_real *in, *hidden; /* of each layer's V: layers x (dim, hidden) x lanes */
    ais_real *value;       /* V(y), dim x lanes */
    ais_real *work, *gradient_value, *gradient_in;
    double *spare; /* dim x lanes */
};

void ais_henon_build(ais_henon *henon, int dim, int layers, int hidden, int depth, bool tanh) {
    *henon = (ais_henon){.dim = dim, .layers = layers};
    henon->net = (ais_perceptron){.inputs = dim, .hidden = hidden, .depth = depth, .outputs = dim, .tanh = tanh};
    henon->layer_weights = ais_perceptron_weights(&henon->net) + (size_t)dim;
    henon->weights = henon->layer_weights * (size_t)layers;
}

ais_henon_tape *ais_henon_tape_new(const ais_henon *henon, size_t lanes, ais_arena *arena) {
    ais_henon_tape *tape = AIS_TAKE(arena, ais_henon_tape, 1);
    if (!tape) return NULL;
    size_t rows = (size_t)henon->dim * lanes, hidden = ais_perceptron_tape(&henon->net) * lanes;
    size_t layers = (size_t)henon->layers;
    *tape = (ais_henon_tape){.lanes = lanes,
                             .in = AIS_TAKE(arena, ais_real, layers * rows),
                             .hidden = AIS_TAKE(arena, ais_real, layers * hidden),
                             .value = AIS_TAKE(arena, ais_real, rows),
                             .work = AIS_TAKE(arena, ais_real, 2 * hidden),
                             .gradient_value = AIS_TAKE(arena, ais_real, rows),
                             .gradient_in = AIS_TAKE(arena, ais_real, rows),
                             .spare = AIS_TAKE(arena, double, rows)};
    bool whole = tape->in && tape->hidden && tape->value && tape->work && tape->gradient_value && tape->gradient_in &&
                 tape->spare;
    return whole ? tape : NULL;
}

/* The layers in the order of application; inverse runs them backwards. */
static int layer_at(const ais_henon *henon, bool inverse, int turn) {
    return inverse ? henon->layers - 1 - turn : turn;
}

static const ais_real *layer_eta(const ais_henon *henon, const ais_real *layer_weights) {
    return layer_weights + henon->layer_weights - henon->dim;
}

/* ---- on the lattice ---------------------------------------------------------------------------- */

/* To the nearest; 0 for what 32 bits cannot hold. */
static int32_t whole_ticks(ais_real eta) {
    double ticks = round((double)eta / AIS_TICK);
    return fabs(ticks) < 0x1p31 ? (int32_t)ticks : 0;
}

/* Unit u's numbers of a layer into their places; units past the end keep zeros. */
static void lay_unit(const ais_henon *henon, const ais_real *weights, int u, ais_small_layer *layer) {
    int dim = henon->dim, hidden = henon->net.hidden;
    const ais_real *bias = weights + dim * hidden, *last = bias + hidden;
    float *to = layer->block + (size_t)(u / AIS_UNITS) * (size_t)(2 * dim + 1) * AIS_UNITS + u % AIS_UNITS;
    for (int i = 0; i < dim; i++) to[i * AIS_UNITS] = (float)weights[u * dim + i] * (float)AIS_TICK;
    to[dim * AIS_UNITS] = (float)bias[u];
    for (int i = 0; i < dim; i++) to[(dim + 1 + i) * AIS_UNITS] = (float)last[i * hidden + u] / (float)AIS_TICK;
}

void ais_henon_work_set(const ais_henon *henon, ais_henon_work *work) {
    for (int l = 0; ais_henon_is_small(henon) && l < henon->layers; l++) {
        const ais_real *weights = work->weights + (size_t)l * henon->layer_weights;
        ais_small_layer *layer = &work->small.layer[l];
        for (int u = 0; u < henon->net.hidden; u++) lay_unit(henon, weights, u, layer);
        for (int i = 0; i < henon->dim; i++) {
            layer->bias[i] = (float)layer_eta(henon, weights)[i - henon->dim] / (float)AIS_TICK;
            layer->eta[i] = whole_ticks(layer_eta(henon, weights)[i]);
        }
    }
}

static bool small_new(const ais_henon *henon, ais_arena *arena, ais_henon_small *small) {
    int blocks = (henon->net.hidden + AIS_UNITS - 1) / AIS_UNITS;
    *small = (ais_henon_small){.dim = henon->dim,
                               .layers = henon->layers,
                               .blocks = blocks,
                               .tanh = henon->net.tanh,
                               .layer = AIS_TAKE(arena, ais_small_layer, henon->layers)};
    bool whole = small->layer;
    for (int l = 0; whole && l < henon->layers; l++) {
        small->layer[l].block = AIS_TAKE(arena, float, (size_t)blocks *(size_t)(2 * henon->dim + 1) * AIS_UNITS);
        whole = small->layer[l].block;
    }
    return whole;
}

bool ais_henon_work_new(const ais_henon *henon, const ais_real *weights, size_t lanes, ais_arena *arena,
                        ais_henon_work *work) {
    *work = (ais_henon_work){.lanes = lanes, .weights = weights};
    if (ais_henon_is_small(henon)) {
        if (!small_new(henon, arena, &work->small)) return false;
        ais_henon_work_set(henon, work);
        return true;
    }
    size_t rows = (size_t)henon->dim * lanes;
    work->ticks = AIS_TAKE(arena, int32_t, 2 * rows);
    work->in = AIS_TAKE(arena, ais_real, rows);
    work->hidden = AIS_TAKE(arena, ais_real, ais_perceptron_tape(&henon->net) * lanes);
    work->value = AIS_TAKE(arena, ais_real, rows);
    return work->ticks && work->in && work->hidden && work->value;
}

/* ticks[i][c] + eta[i], or minus. */
static void shift(const ais_henon *henon, size_t lanes, const ais_real *eta, bool minus, int32_t *ticks) {
    for (int i = 0; i < henon->dim; i++) {
        uint32_t by = (uint32_t)whole_ticks(eta[i]);
        if (minus) by = 0 - by;
        for (size_t c = 0; c < lanes; c++) {
            int32_t *at = &ticks[(size_t)i * lanes + c];
            *at = (int32_t)((uint32_t)*at + by);
        }
    }
}

/* other = times V(stay) - other, times 1 or 2: math.md (7). */
static void reflect(const ais_henon *henon, const ais_real *layer_weights, const ais_henon_work *work, int times,
                    const int32_t *stay, int32_t *other) {
    size_t rows = (size_t)henon->dim * work->lanes;
    AIS_CHOOSE(ais_ticks_to_real)(rows, stay, work->in);
    ais_perceptron_forward(&henon->net, layer_weights, work->lanes, work->in, work->hidden, work->value);
    AIS_CHOOSE(ais_ticks_reflect)(rows, work->value, times, other);
}

static void swap(int32_t **x, int32_t **y) {
    int32_t *swapped = *x;
    *x = *y;
    *y = swapped;
}

/* math.md (6), on the lattice (7). */
static void lattice_pass(const ais_henon *henon, const ais_henon_work *work, ais_henon_direction direction, int32_t **x,
                         int32_t **y) {
    const ais_real *weights = work->weights;
    int last = henon->layers - 1;
    for (int l = 0; direction != AIS_HENON_INVERSE && l <= last; l++) {
        const ais_real *here = weights + (size_t)l * henon->layer_weights;
        /* Of flip the last layer, R and the last layer's inverse are one: y stays and x becomes 2 V(y) - x. */
        bool both = direction == AIS_HENON_FLIP && l == last;
        reflect(henon, here, work, both ? 2 : 1, *y, *x);
        if (both) break;
        shift(henon, work->lanes, layer_eta(henon, here), false, *y);
        swap(x, y);
    }
    if (direction == AIS_HENON_SWAP) swap(x, y);
    for (int l = direction == AIS_HENON_FLIP ? last - 1 : last; direction != AIS_HENON_FORWARD && l >= 0; l--) {
        const ais_real *here = weights + (size_t)l * henon->layer_weights;
        shift(henon, work->lanes, layer_eta(henon, here), true, *x);
        reflect(henon, here, work, 1, *x, *y);
        swap(x, y);
    }
}

void ais_henon_lattice(const ais_henon *henon, const ais_henon_work *work, ais_henon_direction direction,
                       const double *x, const double *y, double *z) {
    size_t lanes = work->lanes, rows = (size_t)henon->dim * lanes;
    if (ais_henon_is_small(henon)) {
        AIS_CHOOSE(ais_henon_many)(&work->small, direction, lanes, x, y, z);
        return;
    }
    int32_t *first = work->ticks, *second = work->ticks + rows;
    AIS_CHOOSE(ais_ticks_of)(rows, x, first);
    AIS_CHOOSE(ais_ticks_of)(rows, y, second);
    lattice_pass(henon, work, direction, &first, &second);
    AIS_CHOOSE(ais_ticks_put)(rows, x, first, z);
    AIS_CHOOSE(ais_ticks_put)(rows, y, second, z + rows);
}

/* ---- in double --------------------------------------------------------------------------------- */

static void exchange(const ais_henon *henon, ais_henon_tape *tape, double *z) {
    size_t bytes = (size_t)henon->dim * tape->lanes * sizeof *z;
    double *second = z + (size_t)henon->dim * tape->lanes;
    memcpy(tape->spare, z, bytes);
    memcpy(z, second, bytes);
    memcpy(second, tape->spare, bytes);
}

static void add_eta(const ais_henon *henon, size_t lanes, const ais_real *eta, double sign, double *value) {
    for (int i = 0; i < henon->dim; i++) {
        double by = sign * (double)eta[i];
        for (size_t c = 0; c < lanes; c++) value[(size_t)i * lanes + c] += by;
    }
}

/* math.md (6) in double, for training. */
void ais_henon_map(const ais_henon *henon, const ais_real *weights, ais_henon_tape *tape, bool inverse, double *z) {
    size_t lanes = tape->lanes, rows = (size_t)henon->dim * lanes, hidden = ais_perceptron_tape(&henon->net) * lanes;
    double *x = z, *y = z + rows;
    for (int turn = 0; turn < henon->layers; turn++) {
        int layer = layer_at(henon, inverse, turn);
        const ais_real *layer_weights = weights + (size_t)layer * henon->layer_weights;
        const ais_real *eta = layer_eta(henon, layer_weights);
        ais_real *in = tape->in + (size_t)layer * rows;
        double *stay = inverse ? x : y, *other = inverse ? y : x;
        if (inverse) add_eta(henon, lanes, eta, -1, stay);
        for (size_t i = 0; i < rows; i++) in[i] = (ais_real)stay[i];
        ais_perceptron_forward(&henon->net, layer_weights, lanes, in, tape->hidden + (size_t)layer * hidden,
                               tape->value);
        for (size_t i = 0; i < rows; i++) other[i] = (double)tape->value[i] - other[i];
        if (!inverse) add_eta(henon, lanes, eta, 1, stay);
        x = inverse ? other : stay;
        y = inverse ? stay : other;
    }
    if (x != z) exchange(henon, tape, z);
}

/* sign * the sum of each row, added to sum. */
static void add_rows(const ais_henon *henon, size_t lanes, const double *value, double sign, ais_real *sum) {
    for (int i = 0; i < henon->dim; i++) {
        double row = 0;
        for (size_t c = 0; c < lanes; c++) row += value[(size_t)i * lanes + c];
        sum[i] += (ais_real)(sign * row);
    }
}

/* Forward (x, y) -> (y + eta, V(y) - x): with (a, b) the gradient by the result,
 *     d x = -b,   d y = a + V'(y)^T b,   d eta = a.
 * Inverse (x, y) -> (V(s) - y, s), s = x - eta: d y = -a, d x = b + V'(s)^T a, d eta = -d x. */
void ais_henon_backward(const ais_henon *henon, const ais_real *weights, ais_henon_tape *tape, bool inverse,
                        double *gradient, ais_real *gradient_weights) {
    size_t lanes = tape->lanes, rows = (size_t)henon->dim * lanes, hidden = ais_perceptron_tape(&henon->net) * lanes;
    double *a = gradient, *b = gradient + rows;
    for (int turn = henon->layers - 1; turn >= 0; turn--) {
        int layer = layer_at(henon, inverse, turn);
        size_t offset = (size_t)layer * henon->layer_weights;
        ais_real *gradient_eta = gradient_weights + offset + henon->layer_weights - henon->dim;
        double *reflected = inverse ? a : b, *stay = inverse ? b : a;
        if (!inverse) add_rows(henon, lanes, stay, 1, gradient_eta);
        for (size_t i = 0; i < rows; i++) tape->gradient_value[i] = (ais_real)reflected[i];
        ais_perceptron_backward(&henon->net, weights + offset, lanes, tape->in + (size_t)layer * rows,
                                tape->hidden + (size_t)layer * hidden, tape->gradient_value, tape->work,
                                tape->gradient_in, gradient_weights + offset);
        for (size_t i = 0; i < rows; i++) {
            stay[i] += (double)tape->gradient_in[i];
            reflected[i] = -reflected[i];
        }
        if (inverse) add_rows(henon, lanes, stay, -1, gradient_eta);
        a = inverse ? stay : reflected;
        b = inverse ? reflected : stay;
    }
    if (a != gradient) exchange(henon, tape, gradient);
}
