#include "anice/objective.h"

#include <string.h>

bool ais_anice_objective_new(ais_anice_objective *objective, int most_burn, int most_pair, ais_arena *arena) {
    size_t batch = objective->batch;
    return ais_nice_tape_new(&objective->nice, batch, most_burn, arena, &objective->from_noise) &&
           ais_nice_tape_new(&objective->nice, 2 * batch, most_pair, arena, &objective->pairs) &&
           ais_critic_tape_new(&objective->critic, 2 * batch, batch / 2, arena, &objective->tape) &&
           ais_critic_tape_new(&objective->critic, 2 * batch, 0, arena, &objective->chain_tape);
}

void ais_anice_chains(ais_anice_objective *objective, const ais_real *kernel, int burn, int pair) {
    const ais_nice *nice = &objective->nice;
    size_t batch = objective->batch;
    ais_nice_forward(nice, kernel, &objective->from_noise, burn);
    const ais_real *x1 = ais_nice_state(nice, &objective->from_noise, burn);
    for (size_t i = 0; i < (size_t)nice->dim; i++)
        memcpy(objective->pairs.x + (2 * i + 1) * batch, x1 + i * batch, batch * sizeof *x1);
    ais_nice_forward(nice, kernel, &objective->pairs, pair);
}

/* (successor, state) in the first lanes of in. */
static void write_pairs(const ais_anice_objective *objective, int pair, const ais_critic_tape *tape) {
    size_t dim = (size_t)objective->nice.dim, count = 2 * objective->batch;
    const ais_real *first = objective->pairs.x, *second = ais_nice_state(&objective->nice, &objective->pairs, pair);
    for (size_t i = 0; i < dim; i++) {
        memcpy(tape->in + i * tape->lanes, second + i * count, count * sizeof *first);
        memcpy(tape->in + (dim + i) * tape->lanes, first + i * count, count * sizeof *first);
    }
}

double ais_anice_critic_step(ais_anice_objective *objective, const ais_real *critic, int pair, double share,
                             ais_real *gradient) {
    ais_critic_tape *tape = &objective->tape;
    write_pairs(objective, pair, tape);
    for (size_t i = 0; i < 2 * (size_t)objective->nice.dim; i++) {
        const ais_real *chain = tape->in + i * tape->lanes;
        ais_real *between = tape->in + i * tape->lanes + tape->chain + tape->real;
        for (size_t c = 0; c < tape->chain; c++)
            between[c] = (ais_real)share * between[c] + (ais_real)(1 - share) * chain[c];
    }
    return ais_critic_gradient(&objective->critic, critic, tape, gradient);
}

/* The velocities' part of the loss: share * v'^2 / 2 summed, with its gradient. */
static double add_velocities(const ais_nice *nice, ais_nice_tape *tape, double share) {
    double sum = 0;
    for (size_t i = 0; i < (size_t)nice->velocities * tape->lanes; i++) {
        double v = (double)tape->last[i];
        sum += 0.5 * share * v * v;
        tape->slope_v[i] = (ais_real)(share * v);
    }
    return sum;
}

/* math.md (28), the kernel's part. */
double ais_anice_kernel_step(ais_anice_objective *objective, const ais_real *kernel, const ais_real *critic, int burn,
                             int pair, ais_real *gradient) {
    const ais_nice *nice = &objective->nice;
    const ais_critic_tape *tape = &objective->chain_tape;
    size_t dim = (size_t)nice->dim, batch = objective->batch;
    double share = objective->velocity_weight / (3.0 * (double)batch * nice->velocities);
    write_pairs(objective, pair, tape);
    double loss = ais_critic_slope(&objective->critic, critic, &objective->chain_tape);
    memset(gradient, 0, nice->weights * sizeof *gradient);
    for (size_t i = 0; i < dim; i++) {
        memcpy(objective->pairs.slope_x + 2 * i * batch, tape->slope + i * tape->lanes, 2 * batch * sizeof *gradient);
        memcpy(objective->from_noise.slope_x + i * batch, tape->slope + (dim + i) * tape->lanes + batch,
               batch * sizeof *gradient);
    }
    loss += add_velocities(nice, &objective->pairs, share) + add_velocities(nice, &objective->from_noise, share);
    ais_nice_backward(nice, kernel, &objective->pairs, pair, gradient);
    ais_nice_backward(nice, kernel, &objective->from_noise, burn, gradient);
    return loss;
}
