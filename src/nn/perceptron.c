#include "nn/perceptron.h"

#include <math.h>

#include "base/random.h"
#include "base/streams.h"
#include "nn/dense_lanes.h"

static int units(const ais_perceptron *net, int layer) {
    return layer == 0 ? net->inputs : layer <= net->depth ? net->hidden : net->outputs;
}

size_t ais_perceptron_weights(const ais_perceptron *net) {
    size_t count = 0;
    for (int layer = 0; layer <= net->depth; layer++)
        count += (size_t)(units(net, layer) + 1) * (size_t)units(net, layer + 1);
    return count;
}

void ais_perceptron_draw(const ais_perceptron *net, uint64_t seed, uint32_t which, ais_real *weights) {
    for (int layer = 0; layer <= net->depth; layer++) {
        int inputs = units(net, layer), outputs = units(net, layer + 1);
        size_t count = (size_t)inputs * (size_t)outputs;
        double bound = sqrt(6.0 / (inputs + outputs));
        ais_stream stream = ais_stream_for(AIS_USE_ANICE_NETS, seed, (uint64_t)layer, which);
        for (size_t i = 0; i < count; i++)
            weights[i] = (ais_real)(bound * (2 * ais_random_uniform(&stream, (uint32_t)i) - 1));
        for (size_t i = 0; i < (size_t)outputs; i++) weights[count + i] = 0;
        weights += count + (size_t)outputs;
    }
}

size_t ais_perceptron_tape(const ais_perceptron *net) { return (size_t)net->depth * (size_t)net->hidden; }

void ais_perceptron_forward(const ais_perceptron *net, const ais_real *weights, size_t lanes, const ais_real *in,
                            ais_real *tape, ais_real *out) {
    for (int layer = 0; layer <= net->depth; layer++) {
        int inputs = units(net, layer), outputs = units(net, layer + 1);
        const ais_real *bias = weights + (size_t)inputs * (size_t)outputs;
        ais_real *to = layer < net->depth ? tape : out;
        AIS_CHOOSE(ais_dense)(inputs, outputs, lanes, weights, bias, in, to);
        if (layer < net->depth) AIS_CHOOSE(ais_activate)(net->tanh, (size_t)outputs * lanes, to);
        in = to;
        tape += (size_t)outputs * lanes;
        weights = bias + outputs;
    }
}

void ais_perceptron_backward(const ais_perceptron *net, const ais_real *weights, size_t lanes, const ais_real *in,
                             const ais_real *tape, const ais_real *gradient_out, ais_real *work, ais_real *gradient_in,
                             ais_real *gradient_weights) {
    size_t offset = ais_perceptron_weights(net), step = (size_t)net->hidden * lanes;
    for (int layer = net->depth; layer >= 0; layer--) {
        int inputs = units(net, layer), outputs = units(net, layer + 1);
        offset -= (size_t)(inputs + 1) * (size_t)outputs;
        const ais_real *value = layer ? tape + (size_t)(layer - 1) * step : in;
        ais_real *gradient = gradient_weights ? gradient_weights + offset : NULL;
        if (gradient) AIS_CHOOSE(ais_dense_gradient)
        (inputs, outputs, lanes, value, gradient_out, gradient, gradient + (size_t)inputs * (size_t)outputs);
        ais_real *down = layer ? work + (size_t)(layer & 1) * step : gradient_in;
        if (!down) break;
        AIS_CHOOSE(ais_dense_transposed)(inputs, outputs, lanes, weights + offset, gradient_out, down);
        if (layer) AIS_CHOOSE(ais_deactivate)(net->tanh, step, value, down);
        gradient_out = down;
    }
}
