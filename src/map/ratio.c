#include "map/ratio.h"

ais_ratio ais_ratio_shape(int dim, int hidden, int depth) {
    ais_ratio ratio = {.net = {.inputs = dim, .hidden = hidden, .depth = depth, .outputs = 1, .tanh = true}};
    ratio.count = ais_perceptron_weights(&ratio.net);
    return ratio;
}

bool ais_ratio_tape_new(const ais_ratio *ratio, size_t lanes, ais_arena *arena, ais_ratio_tape *tape) {
    *tape = (ais_ratio_tape){.lanes = lanes,
                             .in = AIS_TAKE(arena, ais_real, (size_t)ratio->net.inputs * lanes),
                             .gradient_in = AIS_TAKE(arena, ais_real, (size_t)ratio->net.inputs * lanes),
                             .hidden = AIS_TAKE(arena, ais_real, ais_perceptron_tape(&ratio->net) * lanes),
                             .out = AIS_TAKE(arena, ais_real, lanes),
                             .work = AIS_TAKE(arena, ais_real, 2 * (size_t)ratio->net.hidden * lanes)};
    return tape->in && tape->gradient_in && tape->hidden && tape->out && tape->work;
}

void ais_ratio_forward(const ais_ratio *ratio, const ais_ratio_tape *tape, const double *u, double *value) {
    for (size_t i = 0; i < (size_t)ratio->net.inputs * tape->lanes; i++) tape->in[i] = (ais_real)u[i];
    ais_perceptron_forward(&ratio->net, ratio->weights, tape->lanes, tape->in, tape->hidden, tape->out);
    for (size_t c = 0; c < tape->lanes; c++) value[c] = (double)tape->out[c];
}

void ais_ratio_backward(const ais_ratio *ratio, const ais_ratio_tape *tape, const double *gradient_value,
                        double *gradient_u, ais_real *gradient_weights) {
    for (size_t c = 0; c < tape->lanes; c++) tape->out[c] = (ais_real)gradient_value[c];
    ais_perceptron_backward(&ratio->net, ratio->weights, tape->lanes, tape->in, tape->hidden, tape->out, tape->work,
                            gradient_u ? tape->gradient_in : NULL, gradient_weights);
    for (size_t i = 0; gradient_u && i < (size_t)ratio->net.inputs * tape->lanes; i++)
        gradient_u[i] = (double)tape->gradient_in[i];
}
