#include "anice/chain.h"

#include <string.h>

bool ais_nice_tape_new(const ais_nice *nice, size_t lanes, int most, ais_arena *arena, ais_nice_tape *tape) {
    size_t rows = (size_t)nice->dim * lanes, others = (size_t)nice->velocities * lanes, steps = (size_t)most;
    size_t widest = rows > others ? rows : others;
    *tape = (ais_nice_tape){.lanes = lanes,
                            .most = most,
                            .x = AIS_TAKE(arena, ais_real, (steps + 1) * rows),
                            .v = AIS_TAKE(arena, ais_real, steps * others),
                            .last = AIS_TAKE(arena, ais_real, others),
                            .out = AIS_TAKE(arena, ais_real, widest),
                            .work = AIS_TAKE(arena, ais_real, 2 * (size_t)nice->net[1].hidden * lanes),
                            .down = AIS_TAKE(arena, ais_real, widest),
                            .slope_x = AIS_TAKE(arena, ais_real, rows),
                            .slope_v = AIS_TAKE(arena, ais_real, others)};
    bool whole =
        tape->x && tape->v && tape->last && tape->out && tape->work && tape->down && tape->slope_x && tape->slope_v;
    for (int k = 0; k < 3; k++) {
        tape->hidden[k] = AIS_TAKE(arena, ais_real, steps * ais_perceptron_tape(&nice->net[k]) * lanes);
        whole = whole && tape->hidden[k];
    }
    return whole;
}

ais_real *ais_nice_state(const ais_nice *nice, const ais_nice_tape *tape, int steps) {
    return tape->x + (size_t)steps * (size_t)nice->dim * tape->lanes;
}

static ais_real *hidden_of(const ais_nice *nice, const ais_nice_tape *tape, int net, int step) {
    return tape->hidden[net] + (size_t)step * ais_perceptron_tape(&nice->net[net]) * tape->lanes;
}

/* to = from + net(in) */
static void add(const ais_nice *nice, const ais_real *weights, ais_nice_tape *tape, int net, int step,
                const ais_real *in, const ais_real *from, ais_real *to) {
    ais_perceptron_forward(&nice->net[net], weights + nice->offset[net], tape->lanes, in,
                           hidden_of(nice, tape, net, step), tape->out);
    for (size_t i = 0; i < (size_t)nice->net[net].outputs * tape->lanes; i++) to[i] = from[i] + tape->out[i];
}

void ais_nice_forward(const ais_nice *nice, const ais_real *weights, ais_nice_tape *tape, int steps) {
    for (int s = 0; s < steps; s++) {
        const ais_real *x = ais_nice_state(nice, tape, s);
        ais_real *next = ais_nice_state(nice, tape, s + 1);
        ais_real *v = tape->v + (size_t)s * (size_t)nice->velocities * tape->lanes;
        add(nice, weights, tape, 0, s, x, v, v);
        add(nice, weights, tape, 1, s, v, x, next);
        if (s == steps - 1) add(nice, weights, tape, 2, s, next, v, tape->last); /* of the others v' is thrown away */
    }
}

/* slope_in += the gradient by the input of the network whose output has the gradient slope_out. */
static void add_slope(const ais_nice *nice, const ais_real *weights, const ais_nice_tape *tape, int net, int step,
                      const ais_real *in, const ais_real *slope_out, ais_real *slope_in, ais_real *gradient) {
    ais_perceptron_backward(&nice->net[net], weights + nice->offset[net], tape->lanes, in,
                            hidden_of(nice, tape, net, step), slope_out, tape->work, tape->down,
                            gradient + nice->offset[net]);
    for (size_t i = 0; i < (size_t)nice->net[net].inputs * tape->lanes; i++) slope_in[i] += tape->down[i];
}

void ais_nice_backward(const ais_nice *nice, const ais_real *weights, ais_nice_tape *tape, int steps,
                       ais_real *gradient) {
    size_t others = (size_t)nice->velocities * tape->lanes;
    for (int s = steps - 1; s >= 0; s--) {
        const ais_real *x = ais_nice_state(nice, tape, s), *next = ais_nice_state(nice, tape, s + 1);
        const ais_real *v = tape->v + (size_t)s * others;
        if (s == steps - 1) add_slope(nice, weights, tape, 2, s, next, tape->slope_v, tape->slope_x, gradient);
        add_slope(nice, weights, tape, 1, s, v, tape->slope_x, tape->slope_v, gradient);
        add_slope(nice, weights, tape, 0, s, x, tape->slope_v, tape->slope_x, gradient);
        memset(tape->slope_v, 0, others * sizeof *tape->slope_v);
    }
}
