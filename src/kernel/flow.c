#include "kernel/flow.h"

#include <string.h>

#include "base/random.h"
#include "kernel/element_lanes.h"

/* Scales of the features, so that one learning rate suits conditioners of both kinds. */
static const ais_real linear_scale = (ais_real)ais_linear_feature, quadratic_scale = (ais_real)ais_quadratic_feature;

static int feature_count(const ais_flow *flow, int kept) {
    return flow->quadratic ? kept + kept * (kept + 1) / 2 : kept;
}

/* Which coordinates a layer keeps: in turn one half and the other, halves drawn anew for every pair
 * of layers. In two dimensions that is one and the other. */
static void choose_halves(const ais_flow_shape *shape, int layer, int *index) {
    int dim = shape->dim, kept = dim / 2;
    if (shape->pivot && layer-- == 0) { /* the last coordinate first in the list, where kept ones stand */
        for (int i = 0; i < dim; i++) index[i] = (i + dim - 1) % dim;
        return;
    }
    for (int i = 0; i < dim; i++) index[i] = i;
    ais_stream stream = {.seed = shape->permutation, .step = (uint64_t)(layer / 2), .purpose = AIS_FOR_WEIGHTS};
    for (int i = dim - 1; i > 0 && dim > 2; i--) {
        int j = (int)ais_random_below(&stream, (uint32_t)i, (uint64_t)i + 1), swapped = index[i];
        index[i] = index[j];
        index[j] = swapped;
    }
    if (layer % 2 == 0) return;
    for (int i = 0; i < kept; i++) { /* the other half, the odd coordinate staying mapped */
        int swapped = index[i];
        index[i] = index[dim - kept + i];
        index[dim - kept + i] = swapped;
    }
}

bool ais_flow_build(ais_flow *flow, const ais_flow_shape *shape, ais_arena *arena) {
    int marginal = shape->marginal_bins > 0, dim = shape->dim;
    *flow = (ais_flow){.dim = dim,
                       .layers = shape->layers + marginal,
                       .quadratic = shape->quadratic,
                       .bound = shape->bound,
                       .layer = AIS_TAKE(arena, ais_flow_layer, shape->layers + marginal)};
    if (!flow->layer) return false;
    for (int l = 0; l < flow->layers; l++) {
        ais_flow_layer *layer = &flow->layer[l];
        *layer = (ais_flow_layer){.marginal = l < marginal,
                                  .spline = l < marginal || shape->spline,
                                  .bins = l < marginal ? shape->marginal_bins : shape->bins,
                                  .kept = l < marginal                    ? 0
                                          : shape->pivot && l == marginal ? 1
                                                                          : dim / 2,
                                  .index = AIS_TAKE(arena, int, dim),
                                  .offset = flow->weights};
        if (!layer->index) return false;
        layer->mapped = dim - layer->kept;
        layer->params = layer->spline ? ais_spline_params(layer->bins) : AIS_AFFINE_PARAMS;
        if (layer->marginal)
            for (int i = 0; i < dim; i++) layer->index[i] = i;
        else
            choose_halves(shape, l - marginal, layer->index);
        layer->net = (ais_perceptron){.inputs = feature_count(flow, layer->kept),
                                      .hidden = shape->hidden,
                                      .depth = shape->quadratic ? 0 : shape->depth,
                                      .outputs = layer->mapped * layer->params,
                                      .tanh = shape->tanh};
        flow->weights += layer->marginal ? (size_t)layer->net.outputs : ais_perceptron_weights(&layer->net);
    }
    return true;
}

/* ---- tape -------------------------------------------------------------------------------------- */

typedef struct layer_tape {
    double *x;          /* mapped x lanes: the unmapped side */
    ais_real *features; /* inputs of the conditioner x lanes */
    ais_real *hidden;
    ais_real *p; /* mapped params x lanes */
} layer_tape;

struct ais_flow_tape {
    size_t lanes;
    layer_tape *layer;
    double *row;              /* lanes */
    ais_real *work;           /* of perceptron backward */
    ais_real *gradient_p;     /* largest layer */
    ais_real *gradient_input; /* likewise */
};

ais_flow_tape *ais_flow_tape_new(const ais_flow *flow, size_t lanes, ais_arena *arena) {
    ais_flow_tape *tape = AIS_TAKE(arena, ais_flow_tape, 1);
    if (!tape) return NULL;
    *tape = (ais_flow_tape){
        .lanes = lanes, .layer = AIS_TAKE(arena, layer_tape, flow->layers), .row = AIS_TAKE(arena, double, lanes)};
    if (!tape->layer || !tape->row) return NULL;
    size_t hidden = 0, outputs = 0, inputs = 0;
    for (int l = 0; l < flow->layers; l++) {
        const ais_flow_layer *layer = &flow->layer[l];
        const ais_perceptron *net = &layer->net;
        layer_tape *to = &tape->layer[l];
        *to = (layer_tape){.x = AIS_TAKE(arena, double, (size_t)layer->mapped *lanes),
                           .features = AIS_TAKE(arena, ais_real, (size_t)net->inputs * lanes),
                           .hidden = AIS_TAKE(arena, ais_real, ais_perceptron_tape(net) * lanes),
                           .p = AIS_TAKE(arena, ais_real, (size_t)net->outputs * lanes)};
        if (!to->x || !to->features || !to->hidden || !to->p) return NULL;
        hidden = (size_t)net->hidden > hidden ? (size_t)net->hidden : hidden;
        outputs = (size_t)net->outputs > outputs ? (size_t)net->outputs : outputs;
        inputs = (size_t)net->inputs > inputs ? (size_t)net->inputs : inputs;
    }
    tape->work = AIS_TAKE(arena, ais_real, 2 * hidden * lanes);
    tape->gradient_p = AIS_TAKE(arena, ais_real, outputs * lanes);
    tape->gradient_input = AIS_TAKE(arena, ais_real, inputs * lanes);
    return tape->work && tape->gradient_p && tape->gradient_input ? tape : NULL;
}

/* ---- conditioner ------------------------------------------------------------------------------- */

static void features_forward(const ais_flow *flow, const ais_flow_layer *layer, size_t lanes, const double *z,
                             ais_real *feature) {
    ais_real scale = flow->quadratic ? linear_scale : 1;
    for (int i = 0; i < layer->kept; i++) {
        const double *from = z + (size_t)layer->index[i] * lanes;
        for (size_t c = 0; c < lanes; c++) feature[(size_t)i * lanes + c] = scale * (ais_real)from[c];
    }
    if (!flow->quadratic) return;
    ais_real *to = feature + (size_t)layer->kept * lanes;
    for (int i = 0; i < layer->kept; i++)
        for (int j = i; j < layer->kept; j++, to += lanes) {
            const double *a = z + (size_t)layer->index[i] * lanes, *b = z + (size_t)layer->index[j] * lanes;
            double centre = i == j;
            for (size_t c = 0; c < lanes; c++) to[c] = quadratic_scale * (ais_real)(a[c] * b[c] - centre);
        }
}

/* Adds to the gradient of the kept coordinates; `feature` holds scaled coordinates first. */
static void features_backward(const ais_flow *flow, const ais_flow_layer *layer, size_t lanes, const ais_real *feature,
                              const ais_real *gradient_feature, double *gradient) {
    ais_real scale = flow->quadratic ? linear_scale : 1;
    for (int i = 0; i < layer->kept; i++) {
        double *to = gradient + (size_t)layer->index[i] * lanes;
        for (size_t c = 0; c < lanes; c++) to[c] += (double)(scale * gradient_feature[(size_t)i * lanes + c]);
    }
    if (!flow->quadratic) return;
    const ais_real *from = gradient_feature + (size_t)layer->kept * lanes, ratio = quadratic_scale / linear_scale;
    for (int i = 0; i < layer->kept; i++)
        for (int j = i; j < layer->kept; j++, from += lanes) {
            double *to_i = gradient + (size_t)layer->index[i] * lanes,
                   *to_j = gradient + (size_t)layer->index[j] * lanes;
            const ais_real *a = feature + (size_t)i * lanes, *b = feature + (size_t)j * lanes;
            for (size_t c = 0; c < lanes; c++) {
                to_i[c] += (double)(ratio * from[c] * b[c]);
                to_j[c] += (double)(ratio * from[c] * a[c]);
            }
        }
}

static void parameters(const ais_flow *flow, const ais_flow_layer *layer, const ais_real *weights, size_t lanes,
                       const double *z, layer_tape *tape) {
    if (layer->marginal) {
        for (int k = 0; k < layer->net.outputs; k++)
            for (size_t c = 0; c < lanes; c++) tape->p[(size_t)k * lanes + c] = weights[k];
        return;
    }
    features_forward(flow, layer, lanes, z, tape->features);
    ais_perceptron_forward(&layer->net, weights, lanes, tape->features, tape->hidden, tape->p);
}

/* ---- passes ------------------------------------------------------------------------------------ */

static ais_element_call element(const ais_flow *flow, const ais_flow_layer *layer, size_t lanes, const ais_real *p,
                                int mapped) {
    return (ais_element_call){.bins = layer->bins,
                              .bound = flow->bound,
                              .lanes = lanes,
                              .p = p + (size_t)(mapped * layer->params) * lanes,
                              .shared = layer->marginal};
}

void ais_flow_map(const ais_flow *flow, const ais_real *weights, ais_flow_tape *tape, bool inverse, double *z,
                  double *log_det) {
    size_t lanes = tape->lanes, row_bytes = lanes * sizeof(double);
    for (int turn = 0; turn < flow->layers; turn++) {
        int l = inverse ? flow->layers - 1 - turn : turn;
        const ais_flow_layer *layer = &flow->layer[l];
        layer_tape *kept = &tape->layer[l];
        parameters(flow, layer, weights + layer->offset, lanes, z, kept);
        for (int m = 0; m < layer->mapped; m++) {
            double *row = z + (size_t)layer->index[layer->kept + m] * lanes, *x = kept->x + (size_t)m * lanes;
            ais_element_call call = element(flow, layer, lanes, kept->p, m);
            if (!inverse) memcpy(x, row, row_bytes);
            if (layer->spline)
                AIS_CHOOSE(ais_spline_map)(&call, inverse, row, tape->row, log_det);
            else
                AIS_CHOOSE(ais_affine_map)(&call, inverse, row, tape->row, log_det);
            memcpy(row, tape->row, row_bytes);
            if (inverse) memcpy(x, row, row_bytes);
        }
    }
}

void ais_flow_backward(const ais_flow *flow, const ais_real *weights, ais_flow_tape *tape, bool inverse,
                       double *gradient, const double *gradient_det, ais_real *gradient_weights) {
    size_t lanes = tape->lanes;
    for (int turn = 0; turn < flow->layers; turn++) {
        int l = inverse ? turn : flow->layers - 1 - turn;
        const ais_flow_layer *layer = &flow->layer[l];
        const layer_tape *kept = &tape->layer[l];
        for (int m = 0; m < layer->mapped; m++) {
            double *row = gradient + (size_t)layer->index[layer->kept + m] * lanes;
            const double *x = kept->x + (size_t)m * lanes;
            ais_real *gradient_p = tape->gradient_p + (size_t)(m * layer->params) * lanes;
            ais_element_call call = element(flow, layer, lanes, kept->p, m);
            if (layer->spline)
                AIS_CHOOSE(ais_spline_backward)(&call, inverse, x, row, gradient_det, tape->row, gradient_p);
            else
                AIS_CHOOSE(ais_affine_backward)(&call, inverse, x, row, gradient_det, tape->row, gradient_p);
            memcpy(row, tape->row, lanes * sizeof(double));
        }
        ais_real *to = gradient_weights + layer->offset;
        if (layer->marginal) {
            for (int k = 0; k < layer->net.outputs; k++)
                for (size_t c = 0; c < lanes; c++) to[k] += tape->gradient_p[(size_t)k * lanes + c];
            continue;
        }
        ais_perceptron_backward(&layer->net, weights + layer->offset, lanes, kept->features, kept->hidden,
                                tape->gradient_p, tape->work, tape->gradient_input, to);
        features_backward(flow, layer, lanes, kept->features, tape->gradient_input, gradient);
    }
}
