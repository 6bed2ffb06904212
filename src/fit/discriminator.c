#include "fit/discriminator.h"

#include <math.h>
#include <string.h>

#include "base/streams.h"
#include "nn/dense_lanes.h"
#include "simd/normal.h"

struct ais_discriminator_tape {
    size_t lanes;
    /* product: psi's and eta's input, output, hidden units; eta's at Mz, then at z */
    ais_real *in[3], *hidden[3], *out[3];
    /* general: at the entrance of each layer the slots a, b, a (units x lanes each), so that (a, b) begins
     * at the first and (b, a) at the second; then the read-out's a, b */
    ais_real **pair;
    ais_real *up[2], *down; /* gradients by a and b after a layer; by a pair before it */
    ais_real *gradient, *work, *spare;
};

/* ---- shape ------------------------------------------------------------------------------------- */

/* Units of one slot at the entrance of a layer; the read-out's exit is depth + 1. */
static int units(const ais_discriminator *discriminator, int layer) {
    return layer == 0 ? discriminator->inputs : layer <= discriminator->depth ? discriminator->hidden : 1;
}

static size_t layer_weights(const ais_discriminator *discriminator, int layer) {
    return (size_t)(2 * units(discriminator, layer) + 1) * (size_t)units(discriminator, layer + 1);
}

void ais_discriminator_build(ais_discriminator *discriminator, ais_discriminator_form form, int dim, int hidden,
                             int depth, bool tanh) {
    *discriminator = (ais_discriminator){.form = form,
                                         .inputs = 2 * dim,
                                         .hidden = hidden     ? hidden
                                                   : dim <= 2 ? 32
                                                              : 128,
                                         .depth = depth ? depth : 3,
                                         .tanh = tanh};
    discriminator->net = (ais_perceptron){.inputs = discriminator->inputs,
                                          .hidden = discriminator->hidden,
                                          .depth = discriminator->depth,
                                          .outputs = 1,
                                          .tanh = tanh};
    if (form == AIS_PRODUCT) discriminator->weights = 2 * ais_perceptron_weights(&discriminator->net);
    for (int layer = 0; form == AIS_GENERAL && layer <= discriminator->depth; layer++)
        discriminator->weights += layer_weights(discriminator, layer);
}

static size_t draw_layer(uint64_t seed, uint64_t layer, size_t inputs, size_t outputs, ais_real *weights) {
    double normal[64], scale = sqrt(2.0 / (double)(inputs + outputs));
    for (size_t i = 0; i < inputs * outputs; i++) {
        ais_stream stream = ais_stream_for(AIS_USE_DISCRIMINATOR, seed, layer << 24 | i / 64, 0);
        if (i % 64 == 0) ais_normals(&stream, 64, normal);
        weights[i] = (ais_real)(scale * normal[i % 64]);
    }
    memset(weights + inputs * outputs, 0, outputs * sizeof *weights);
    return (inputs + 1) * outputs;
}

void ais_discriminator_draw(const ais_discriminator *discriminator, uint64_t seed, ais_real *weights) {
    bool product = discriminator->form == AIS_PRODUCT;
    for (int net = 0; net < 1 + product; net++) {
        for (int layer = 0; layer <= discriminator->depth; layer++) {
            size_t inputs = (size_t)units(discriminator, layer) * (product ? 1 : 2);
            weights += draw_layer(seed, 100 * (uint64_t)net + (uint64_t)layer, inputs,
                                  (size_t)units(discriminator, layer + 1), weights);
        }
        if (product && net == 0) weights[-1] = 1; /* psi's last bias */
    }
}

/* ---- memory ------------------------------------------------------------------------------------ */

static bool take_product(const ais_discriminator *discriminator, ais_discriminator_tape *tape, ais_arena *arena) {
    bool whole = true;
    for (int k = 0; k < 3; k++) {
        tape->in[k] = AIS_TAKE(arena, ais_real, (size_t)discriminator->inputs * tape->lanes);
        tape->hidden[k] = AIS_TAKE(arena, ais_real, ais_perceptron_tape(&discriminator->net) * tape->lanes);
        tape->out[k] = AIS_TAKE(arena, ais_real, tape->lanes);
        whole &= tape->in[k] && tape->hidden[k] && tape->out[k];
    }
    return whole;
}

static bool take_general(const ais_discriminator *discriminator, ais_discriminator_tape *tape, ais_arena *arena) {
    tape->pair = AIS_TAKE(arena, ais_real *, discriminator->depth + 2);
    bool whole = tape->pair;
    for (int layer = 0; whole && layer <= discriminator->depth + 1; layer++) {
        tape->pair[layer] = AIS_TAKE(arena, ais_real, 3 * (size_t)units(discriminator, layer) * tape->lanes);
        whole &= tape->pair[layer] != NULL;
    }
    return whole;
}

ais_discriminator_tape *ais_discriminator_tape_new(const ais_discriminator *discriminator, size_t lanes,
                                                   ais_arena *arena) {
    ais_discriminator_tape *tape = AIS_TAKE(arena, ais_discriminator_tape, 1);
    if (!tape) return NULL;
    size_t widest =
        (size_t)(discriminator->inputs > discriminator->hidden ? discriminator->inputs : discriminator->hidden);
    *tape = (ais_discriminator_tape){.lanes = lanes,
                                     .down = AIS_TAKE(arena, ais_real, 2 * widest * lanes),
                                     .gradient = AIS_TAKE(arena, ais_real, 3 * widest * lanes),
                                     .work = AIS_TAKE(arena, ais_real, 2 * widest * lanes),
                                     .spare = AIS_TAKE(arena, ais_real, discriminator->weights)};
    bool whole = tape->down && tape->gradient && tape->work && tape->spare;
    for (int k = 0; k < 2; k++) {
        tape->up[k] = AIS_TAKE(arena, ais_real, widest * lanes);
        whole &= tape->up[k] != NULL;
    }
    whole = whole && (discriminator->form == AIS_PRODUCT ? take_product(discriminator, tape, arena)
                                                         : take_general(discriminator, tape, arena));
    return whole ? tape : NULL;
}

/* ---- product form ------------------------------------------------------------------------------ */

/* math.md (11). */
static void product_forward(const ais_discriminator *discriminator, const ais_real *weights,
                            ais_discriminator_tape *tape, const double *z, const double *image, double *value) {
    const ais_perceptron *net = &discriminator->net;
    size_t lanes = tape->lanes, rows = (size_t)discriminator->inputs * lanes;
    const ais_real *eta = weights + ais_perceptron_weights(net);
    for (size_t i = 0; i < rows; i++) {
        tape->in[0][i] = (ais_real)(z[i] + image[i]);
        tape->in[1][i] = (ais_real)image[i];
        tape->in[2][i] = (ais_real)z[i];
    }
    for (int k = 0; k < 3; k++)
        ais_perceptron_forward(net, k ? eta : weights, lanes, tape->in[k], tape->hidden[k], tape->out[k]);
    for (size_t c = 0; c < lanes; c++)
        value[c] = (double)tape->out[0][c] * ((double)tape->out[1][c] - (double)tape->out[2][c]);
}

static void product_backward(const ais_discriminator *discriminator, const ais_real *weights,
                             ais_discriminator_tape *tape, const double *gradient_value, double *gradient_z,
                             double *gradient_image, ais_real *gradient_weights) {
    const ais_perceptron *net = &discriminator->net;
    size_t lanes = tape->lanes, rows = (size_t)discriminator->inputs * lanes, eta = ais_perceptron_weights(net);
    for (int k = 0; k < 3; k++) {
        for (size_t c = 0; c < lanes; c++) {
            double psi = (double)tape->out[0][c], difference = (double)tape->out[1][c] - (double)tape->out[2][c];
            tape->up[0][c] = (ais_real)(gradient_value[c] * (k == 0 ? difference : k == 1 ? psi : -psi));
        }
        ais_perceptron_backward(net, weights + (k ? eta : 0), lanes, tape->in[k], tape->hidden[k], tape->up[0],
                                tape->work, tape->down, gradient_weights + (k ? eta : 0));
        for (size_t i = 0; gradient_z && k != 1 && i < rows; i++)
            gradient_z[i] = (k ? gradient_z[i] : 0) + (double)tape->down[i];
        for (size_t i = 0; gradient_image && k != 2 && i < rows; i++)
            gradient_image[i] = (k ? gradient_image[i] : 0) + (double)tape->down[i];
    }
}

/* ---- general form ------------------------------------------------------------------------------ */

/* math.md (12). */
static void general_forward(const ais_discriminator *discriminator, const ais_real *weights,
                            ais_discriminator_tape *tape, const double *z, const double *image, double *value) {
    size_t lanes = tape->lanes, rows = (size_t)discriminator->inputs * lanes;
    for (size_t i = 0; i < rows; i++) {
        tape->pair[0][i] = tape->pair[0][2 * rows + i] = (ais_real)image[i];
        tape->pair[0][rows + i] = (ais_real)z[i];
    }
    for (int layer = 0; layer <= discriminator->depth; layer++) {
        int inputs = units(discriminator, layer), outputs = units(discriminator, layer + 1);
        size_t slot = (size_t)inputs * lanes, next = (size_t)outputs * lanes;
        const ais_real *in = tape->pair[layer], *bias = weights + 2 * (size_t)inputs * (size_t)outputs;
        ais_real *out = tape->pair[layer + 1];
        for (int k = 0; k < 2; k++) AIS_CHOOSE(ais_dense)
        (2 * inputs, outputs, lanes, weights, bias, in + (size_t)k * slot, out + (size_t)k * next);
        if (layer < discriminator->depth) AIS_CHOOSE(ais_activate)(discriminator->tanh, 2 * next, out);
        memcpy(out + 2 * next, out, next * sizeof *out);
        weights = bias + outputs;
    }
    const ais_real *out = tape->pair[discriminator->depth + 1];
    for (size_t c = 0; c < lanes; c++) value[c] = (double)out[c] - (double)out[lanes + c];
}

static void general_backward(const ais_discriminator *discriminator, const ais_real *weights,
                             ais_discriminator_tape *tape, const double *gradient_value, double *gradient_z,
                             double *gradient_image, ais_real *gradient_weights) {
    size_t lanes = tape->lanes, offset = discriminator->weights;
    for (size_t c = 0; c < lanes; c++) {
        tape->up[0][c] = (ais_real)gradient_value[c];
        tape->up[1][c] = (ais_real)-gradient_value[c];
    }
    for (int layer = discriminator->depth; layer >= 0; layer--) {
        int inputs = units(discriminator, layer), outputs = units(discriminator, layer + 1);
        size_t slot = (size_t)inputs * lanes;
        offset -= layer_weights(discriminator, layer);
        ais_real *gradient = gradient_weights + offset;
        memset(tape->gradient, 0, 3 * slot * sizeof *tape->gradient);
        for (int k = 0; k < 2; k++) { /* a' met (a, b), b' met (b, a) */
            AIS_CHOOSE(ais_dense_gradient)
            (2 * inputs, outputs, lanes, tape->pair[layer] + (size_t)k * slot, tape->up[k], gradient,
             gradient + 2 * (size_t)inputs * (size_t)outputs);
            AIS_CHOOSE(ais_dense_transposed)
            (2 * inputs, outputs, lanes, weights + offset, tape->up[k], tape->down);
            for (size_t i = 0; i < 2 * slot; i++) tape->gradient[(size_t)k * slot + i] += tape->down[i];
        }
        for (size_t i = 0; i < slot; i++) {
            tape->up[0][i] = tape->gradient[i] + tape->gradient[2 * slot + i];
            tape->up[1][i] = tape->gradient[slot + i];
        }
        for (int k = 0; layer && k < 2; k++) AIS_CHOOSE(ais_deactivate)
        (discriminator->tanh, slot, tape->pair[layer] + (size_t)k * slot, tape->up[k]);
    }
    for (size_t i = 0; i < (size_t)discriminator->inputs * lanes; i++) {
        if (gradient_image) gradient_image[i] = (double)tape->up[0][i];
        if (gradient_z) gradient_z[i] = (double)tape->up[1][i];
    }
}

/* ---- either ------------------------------------------------------------------------------------ */

void ais_discriminator_forward(const ais_discriminator *discriminator, const ais_real *weights,
                               ais_discriminator_tape *tape, const double *z, const double *image, double *value) {
    if (discriminator->form == AIS_PRODUCT)
        product_forward(discriminator, weights, tape, z, image, value);
    else
        general_forward(discriminator, weights, tape, z, image, value);
}

void ais_discriminator_backward(const ais_discriminator *discriminator, const ais_real *weights,
                                ais_discriminator_tape *tape, const double *gradient_value, double *gradient_z,
                                double *gradient_image, ais_real *gradient_weights) {
    ais_real *to = gradient_weights ? gradient_weights : tape->spare;
    if (discriminator->form == AIS_PRODUCT)
        product_backward(discriminator, weights, tape, gradient_value, gradient_z, gradient_image, to);
    else
        general_backward(discriminator, weights, tape, gradient_value, gradient_z, gradient_image, to);
}

/* math.md (14). */
double ais_discriminator_loss_at(ais_discriminator_loss loss, double d, double *slope) {
    double odds = exp(-fabs(d)), r = (d < 0 ? odds : 1) / (1 + odds);
    double softplus = (d > 0 ? d : 0) + log1p(odds); /* log(1 + e^d) */
    if (loss == AIS_LOGISTIC) {
        *slope = r;
        return softplus;
    }
    double log_r = d - softplus;
    *slope = r * (1 - r) * (log_r + 1);
    return r * log_r;
}
