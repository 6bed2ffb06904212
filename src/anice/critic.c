/* With h_0 the pair, h_l = s_l (W_l h_{l-1} + b_l), s_l being 1 or the leak unit by unit, and D = w h_L + b,
 *     grad D = W_1^T d_1,   d_l = s_l W_{l+1}^T d_{l+1},   d_{L+1} = 1.
 * Where no unit is at its kink the s_l do not change with the weights. So the penalty P(g), g = grad D, has by the
 * weights the gradient of a network that runs the other way, from g: with t_0 = dP/dg,
 *     dP/dW_l = d_l t_{l-1}^T,   t_l = s_l W_l t_{l-1},
 * and none by the biases. Of D itself dD/dW_l = d_l h_{l-1}^T: both are the same product over lanes, in which t stands
 * in the place of h for the lanes between. */
#include "anice/critic.h"

#include <math.h>
#include <string.h>

#include "nn/dense_lanes.h"

ais_critic ais_critic_shape(int dim, int hidden, int depth) {
    ais_critic critic = {
        .net = {.inputs = 2 * dim, .hidden = hidden, .depth = depth, .outputs = 1}, .leak = 0.2, .penalty = 10};
    critic.weights = ais_perceptron_weights(&critic.net);
    return critic;
}

bool ais_critic_tape_new(const ais_critic *critic, size_t chain, size_t real, ais_arena *arena, ais_critic_tape *tape) {
    size_t inputs = (size_t)critic->net.inputs, hidden = (size_t)critic->net.hidden;
    size_t lanes = real ? 2 * chain + real : chain;
    size_t widest = hidden > inputs ? hidden : inputs, units = ais_perceptron_tape(&critic->net) * lanes;
    *tape = (ais_critic_tape){
        .chain = chain,
        .real = real,
        .lanes = lanes,
        .in = AIS_TAKE(arena, ais_real, inputs * lanes),
        .value = AIS_TAKE(arena, ais_real, units),
        .delta = AIS_TAKE(arena, ais_real, units),
        .out = AIS_TAKE(arena, ais_real, lanes),
        .worth = AIS_TAKE(arena, ais_real, lanes),
        .tangent = {AIS_TAKE(arena, ais_real, widest * chain), AIS_TAKE(arena, ais_real, widest * chain)},
        .turned = AIS_TAKE(arena, ais_real, hidden * lanes),
        .slope = AIS_TAKE(arena, ais_real, inputs * lanes),
        .spare = AIS_TAKE(arena, ais_real, hidden)};
    return tape->in && tape->value && tape->delta && tape->out && tape->worth && tape->tangent[0] && tape->tangent[1] &&
           tape->turned && tape->slope && tape->spare;
}

/* ---- the network ------------------------------------------------------------------------------- */

/* Where the weights of layer 0 .. depth begin, and how many units go in. */
static size_t offset_of(const ais_critic *critic, int layer) {
    size_t inputs = (size_t)critic->net.inputs, hidden = (size_t)critic->net.hidden;
    return layer == 0 ? 0 : (inputs + 1) * hidden + (size_t)(layer - 1) * (hidden + 1) * hidden;
}

static int inputs_of(const ais_critic *critic, int layer) { return layer ? critic->net.hidden : critic->net.inputs; }

static int outputs_of(const ais_critic *critic, int layer) {
    return layer < critic->net.depth ? critic->net.hidden : 1;
}

static ais_real *rows_of(const ais_critic *critic, const ais_critic_tape *tape, ais_real *rows, int layer) {
    return rows + (size_t)layer * (size_t)critic->net.hidden * tape->lanes;
}

static void forward(const ais_critic *critic, const ais_real *weights, const ais_critic_tape *tape) {
    const ais_real *in = tape->in;
    ais_real leak = (ais_real)critic->leak;
    size_t units = (size_t)critic->net.hidden * tape->lanes;
    for (int layer = 0; layer <= critic->net.depth; layer++) {
        int inputs = inputs_of(critic, layer), outputs = outputs_of(critic, layer);
        const ais_real *matrix = weights + offset_of(critic, layer);
        bool last = layer == critic->net.depth;
        ais_real *to = last ? tape->out : rows_of(critic, tape, tape->value, layer);
        AIS_CHOOSE(ais_dense)
        (inputs, outputs, tape->lanes, matrix, matrix + (size_t)inputs * (size_t)outputs, in, to);
        if (!last) AIS_CHOOSE(ais_leak)(leak, units, to);
        in = to;
    }
}

/* From worth: delta of every layer, and slope. */
static void backward(const ais_critic *critic, const ais_real *weights, const ais_critic_tape *tape) {
    const ais_real *above = tape->worth;
    ais_real leak = (ais_real)critic->leak;
    size_t units = (size_t)critic->net.hidden * tape->lanes;
    for (int layer = critic->net.depth; layer >= 0; layer--) {
        ais_real *to = layer ? rows_of(critic, tape, tape->delta, layer - 1) : tape->slope;
        AIS_CHOOSE(ais_dense_transposed)
        (inputs_of(critic, layer), outputs_of(critic, layer), tape->lanes, weights + offset_of(critic, layer), above,
         to);
        if (layer) AIS_CHOOSE(ais_leak_gradient)(leak, units, rows_of(critic, tape, tape->value, layer - 1), to);
        above = to;
    }
}

/* ---- the penalty ------------------------------------------------------------------------------- */

/* t_0 for the lanes between, whose slope is grad D. Returns the penalty of math.md (28). */
static double penalty(const ais_critic *critic, const ais_critic_tape *tape, size_t first) {
    double sum = 0, share = critic->penalty / (double)tape->chain;
    size_t inputs = (size_t)critic->net.inputs;
    for (size_t c = 0; c < tape->chain; c++) {
        double square = 0;
        for (size_t i = 0; i < inputs; i++) {
            double slope = (double)tape->slope[i * tape->lanes + first + c];
            square += slope * slope;
        }
        double norm = sqrt(square), factor = norm > 0 ? 2 * share * (norm - 1) / norm : 0;
        for (size_t i = 0; i < inputs; i++)
            tape->tangent[0][i * tape->chain + c] =
                (ais_real)(factor * (double)tape->slope[i * tape->lanes + first + c]);
        sum += share * (norm - 1) * (norm - 1);
    }
    return sum;
}

/* Puts t_0 in place of the pairs between, and t_l in place of their units. */
static void run_tangents(const ais_critic *critic, const ais_real *weights, const ais_critic_tape *tape, size_t first) {
    ais_real leak = (ais_real)critic->leak;
    for (int layer = 0; layer <= critic->net.depth; layer++) {
        const ais_real *t = tape->tangent[layer & 1];
        ais_real *rows = layer ? rows_of(critic, tape, tape->value, layer - 1) : tape->in,
                 *next = tape->tangent[~layer & 1];
        int inputs = inputs_of(critic, layer), outputs = outputs_of(critic, layer);
        for (size_t i = 0; i < (size_t)inputs; i++)
            memcpy(rows + i * tape->lanes + first, t + i * tape->chain, tape->chain * sizeof *t);
        if (layer == critic->net.depth) break;
        AIS_CHOOSE(ais_dense)(inputs, outputs, tape->chain, weights + offset_of(critic, layer), NULL, t, next);
        const ais_real *value = rows_of(critic, tape, tape->value, layer) + first;
        for (size_t i = 0; i < (size_t)outputs; i++)
            AIS_CHOOSE(ais_leak_gradient)(leak, tape->chain, value + i * tape->lanes, next + i * tape->chain);
    }
}

/* ---- the gradient ------------------------------------------------------------------------------ */

/* The sum of delta in^T over lanes. Between hidden layers it is computed as a product of the dense form, lanes being
 * its inputs and units its lanes: several times as fast as dot products over so few lanes. */
static void weight_gradient(const ais_critic *critic, ais_critic_tape *tape, int layer, ais_real *gradient) {
    size_t hidden = (size_t)critic->net.hidden;
    const ais_real *above = layer < critic->net.depth ? rows_of(critic, tape, tape->delta, layer) : tape->worth;
    int outputs = outputs_of(critic, layer);
    if (layer == 0) {
        memset(gradient, 0, (size_t)critic->net.inputs * hidden * sizeof *gradient);
        AIS_CHOOSE(ais_dense_gradient)
        (critic->net.inputs, outputs, tape->lanes, tape->in, above, gradient, tape->spare);
        return;
    }
    AIS_CHOOSE(ais_transpose)(hidden, tape->lanes, rows_of(critic, tape, tape->value, layer - 1), tape->turned);
    AIS_CHOOSE(ais_dense)((int)tape->lanes, outputs, hidden, above, NULL, tape->turned, gradient);
}

/* Only D itself depends on the biases: the lanes before those between. */
static void bias_gradient(const ais_critic *critic, const ais_critic_tape *tape, int layer, ais_real *gradient) {
    const ais_real *above = layer < critic->net.depth ? rows_of(critic, tape, tape->delta, layer) : tape->worth;
    for (size_t i = 0; i < (size_t)outputs_of(critic, layer); i++) {
        ais_real sum = 0;
        for (size_t c = 0; c < tape->chain + tape->real; c++) sum += above[i * tape->lanes + c];
        gradient[i] = sum;
    }
}

/* What D of each lane is worth in L, math.md (28); of a lane between it is 1, so that its slope is grad D. */
static double set_worth(ais_critic_tape *tape, bool slope_only) {
    double loss = 0;
    for (size_t c = 0; c < tape->lanes; c++) {
        bool chain = c < tape->chain, real = !chain && c < tape->chain + tape->real;
        double worth = chain ? 1.0 / (double)tape->chain : 0;
        if (!slope_only && real) worth = 1.0 / (double)tape->real;
        if (!slope_only && chain) worth = -worth;
        if (worth != 0) loss += worth * (double)tape->out[c];
        if (!slope_only && !chain && !real) worth = 1;
        tape->worth[c] = (ais_real)worth;
    }
    return loss;
}

double ais_critic_gradient(const ais_critic *critic, const ais_real *weights, ais_critic_tape *tape,
                           ais_real *gradient) {
    size_t between = tape->chain + tape->real;
    forward(critic, weights, tape);
    double loss = set_worth(tape, false);
    backward(critic, weights, tape);
    loss += penalty(critic, tape, between);
    run_tangents(critic, weights, tape, between);
    for (int layer = 0; layer <= critic->net.depth; layer++) {
        ais_real *to = gradient + offset_of(critic, layer);
        weight_gradient(critic, tape, layer, to);
        bias_gradient(critic, tape, layer, to + (size_t)inputs_of(critic, layer) * (size_t)outputs_of(critic, layer));
    }
    return loss;
}

double ais_critic_slope(const ais_critic *critic, const ais_real *weights, ais_critic_tape *tape) {
    forward(critic, weights, tape);
    double mean = set_worth(tape, true);
    backward(critic, weights, tape);
    return mean;
}
