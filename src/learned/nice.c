#include "learned/nice.h"

#include "base/fixed.h"

ais_nice ais_nice_build(const ais_anice_shape *shape) {
    ais_nice nice = {.dim = shape->dim, .velocities = shape->velocities};
    for (int k = 0; k < 3; k++) {
        bool moves_x = k == 1;
        nice.net[k] = (ais_perceptron){.inputs = moves_x ? shape->velocities : shape->dim,
                                       .hidden = shape->hidden,
                                       .depth = moves_x ? shape->depth : 1,
                                       .outputs = moves_x ? shape->dim : shape->velocities};
        nice.offset[k] = nice.weights;
        nice.weights += ais_perceptron_weights(&nice.net[k]);
    }
    return nice;
}

bool ais_nice_work_new(const ais_nice *nice, size_t lanes, ais_arena *arena, ais_nice_work *work) {
    size_t widest = (size_t)(nice->dim > nice->velocities ? nice->dim : nice->velocities);
    *work = (ais_nice_work){.lanes = lanes,
                            .in = AIS_TAKE(arena, ais_real, widest * lanes),
                            .hidden = AIS_TAKE(arena, ais_real, ais_perceptron_tape(&nice->net[1]) * lanes),
                            .out = AIS_TAKE(arena, ais_real, widest * lanes),
                            .other = AIS_TAKE(arena, ais_real, (size_t)nice->velocities * lanes)};
    return work->in && work->hidden && work->out && work->other;
}

static void to_real(size_t n, const int64_t *fixed, ais_real *real) {
    for (size_t i = 0; i < n; i++) real[i] = (ais_real)ais_fixed_to(fixed[i]);
}

/* value += or -= shift, which is rounded to the lattice. */
static int64_t moved(int64_t value, ais_real shift, bool add) {
    int64_t by = ais_fixed_from((double)shift);
    return add ? ais_fixed_add(value, by) : ais_fixed_sub(value, by);
}

/* v += a(x) or v -= c(x) at first, v += c(x) or v -= a(x) at last: lanes of either direction share a block, so both
 * networks see all of them. */
static void move_v(const ais_nice *nice, const ais_real *weights, ais_nice_work *work, const bool *forward, bool last,
                   const int64_t *x, int64_t *v) {
    size_t lanes = work->lanes;
    to_real((size_t)nice->dim * lanes, x, work->in);
    ais_perceptron_forward(&nice->net[0], weights + nice->offset[0], lanes, work->in, work->hidden, work->out);
    ais_perceptron_forward(&nice->net[2], weights + nice->offset[2], lanes, work->in, work->hidden, work->other);
    for (size_t i = 0; i < (size_t)nice->velocities * lanes; i++) {
        bool add = forward[i % lanes];
        v[i] = moved(v[i], add == last ? work->other[i] : work->out[i], add);
    }
}

static void move_x(const ais_nice *nice, const ais_real *weights, ais_nice_work *work, const bool *forward, int64_t *x,
                   const int64_t *v) {
    size_t lanes = work->lanes;
    to_real((size_t)nice->velocities * lanes, v, work->in);
    ais_perceptron_forward(&nice->net[1], weights + nice->offset[1], lanes, work->in, work->hidden, work->out);
    for (size_t i = 0; i < (size_t)nice->dim * lanes; i++) x[i] = moved(x[i], work->out[i], forward[i % lanes]);
}

/* math.md (27). */
void ais_nice_lattice(const ais_nice *nice, const ais_real *weights, ais_nice_work *work, const bool *forward,
                      int64_t *x, int64_t *v) {
    move_v(nice, weights, work, forward, false, x, v);
    move_x(nice, weights, work, forward, x, v);
    move_v(nice, weights, work, forward, true, x, v);
}
