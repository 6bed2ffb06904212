#include "map/flow.h"

#include <string.h>

#include "base/random.h"
#include "map/element_lanes.h"
#include "map/feature_lanes.h"
#include "map/neck.h"

/* Of the log scales of affine layers: small, so that stacks of them stay invertible in double whatever their weights;
 * a pivot layer, of which there is one, must be able to undo a funnel. */
static const double most_scale = 2, pivot_most_scale = 64;

/* Which coordinates a layer keeps: in turn one half and the other, other halves for every pair
 * of layers. In two dimensions that is one and the other. */
static void choose_halves(const ais_flow_shape *shape, int layer, int *index) {
    int dim = shape->dim, kept = dim / 2;
    if (shape->pivot && layer-- == 0) { /* the last coordinates first in the list, where kept ones stand */
        for (int i = 0; i < dim; i++) index[i] = (i + dim - shape->pivot) % dim;
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
    int neck = shape->neck > 0, marginal = neck + (shape->marginal_bins > 0), dim = shape->dim;
    *flow = (ais_flow){.dim = dim,
                       .layers = shape->layers + marginal,
                       .pivot = shape->pivot,
                       .quadratic = shape->quadratic,
                       .bound = shape->bound,
                       .layer = AIS_TAKE(arena, ais_flow_layer, shape->layers + marginal)};
    if (!flow->layer) return false;
    for (int l = 0; l < flow->layers; l++) {
        ais_flow_layer *layer = &flow->layer[l];
        if (l < neck) {
            *layer =
                (ais_flow_layer){.neck = true, .bins = shape->neck, .mapped = dim, .index = AIS_TAKE(arena, int, dim)};
            if (!layer->index) return false;
            for (int i = 0; i < dim; i++) layer->index[i] = i;
            flow->weights += ais_neck_weights(dim, shape->neck);
            continue;
        }
        *layer = (ais_flow_layer){.marginal = l < marginal,
                                  .element = l < marginal     ? &ais_spline_element
                                             : shape->element ? shape->element
                                                              : &ais_affine_element,
                                  .bins = l < marginal ? shape->marginal_bins : shape->bins,
                                  .kept = l < marginal                    ? 0
                                          : shape->pivot && l == marginal ? shape->pivot
                                                                          : dim / 2,
                                  .most_scale = shape->pivot && l == marginal ? pivot_most_scale : most_scale,
                                  .index = AIS_TAKE(arena, int, dim),
                                  .offset = flow->weights};
        if (!layer->index) return false;
        layer->mapped = dim - layer->kept;
        layer->params = layer->element->params(layer->bins);
        if (layer->marginal)
            for (int i = 0; i < dim; i++) layer->index[i] = i;
        else
            choose_halves(shape, l - marginal, layer->index);
        layer->net = (ais_perceptron){.inputs = ais_feature_count(flow->quadratic, layer->kept),
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
    ais_real *p;     /* mapped params x lanes */
    double *table;   /* of a marginal layer, prepared from the weights */
    ais_real *known; /* that it was prepared from, */
    int prepared;    /* with this instruction set; -1: not yet */
} layer_tape;

struct ais_flow_tape {
    size_t lanes;
    layer_tape *layer;
    double *row;              /* lanes */
    double *product;          /* lanes: exp(-s) of affine elements, and */
    double pending;           /* the most that their s can add up to */
    ais_real *work;           /* of perceptron backward */
    ais_real *gradient_p;     /* largest layer */
    ais_real *gradient_input; /* likewise */
};

static bool take_table(const ais_flow_layer *layer, layer_tape *to, ais_arena *arena) {
    to->prepared = -1;
    to->known = AIS_TAKE(arena, ais_real, layer->net.outputs);
    to->table = AIS_TAKE(arena, double, ais_marginal_size(layer->mapped, layer->bins));
    return to->known && to->table;
}

bool ais_flow_takes_one(const ais_flow *flow) {
    for (int l = 0; l < flow->layers; l++) {
        const ais_perceptron *net = &flow->layer[l].net; /* its hidden layers are aligned, as activations want them */
        bool neck = flow->layer[l].neck;                 /* any number of lanes is right for it */
        if ((!neck && !flow->layer[l].element->scales) || (net->depth && net->hidden % AIS_LANES)) return false;
    }
    return true;
}

ais_flow_tape *ais_flow_tape_new(const ais_flow *flow, size_t lanes, ais_arena *arena) {
    ais_flow_tape *tape = AIS_TAKE(arena, ais_flow_tape, 1);
    if (!tape) return NULL;
    *tape = (ais_flow_tape){.lanes = lanes,
                            .layer = AIS_TAKE(arena, layer_tape, flow->layers),
                            .row = AIS_TAKE(arena, double, lanes),
                            .product = AIS_TAKE(arena, double, lanes)};
    if (!tape->layer || !tape->row || !tape->product) return NULL;
    for (size_t c = 0; c < lanes; c++) tape->product[c] = 1;
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
        if (layer->marginal && !take_table(layer, to, arena)) return NULL;
        hidden = (size_t)net->hidden > hidden ? (size_t)net->hidden : hidden;
        outputs = (size_t)net->outputs > outputs ? (size_t)net->outputs : outputs;
        inputs = (size_t)net->inputs > inputs ? (size_t)net->inputs : inputs;
    }
    tape->work = AIS_TAKE(arena, ais_real, 2 * hidden * lanes);
    tape->gradient_p = AIS_TAKE(arena, ais_real, outputs * lanes);
    tape->gradient_input = AIS_TAKE(arena, ais_real, inputs * lanes);
    return tape->work && tape->gradient_p && tape->gradient_input ? tape : NULL;
}

static double bound_of(const ais_flow *flow, const ais_flow_layer *layer) {
    return layer->element->scales ? layer->most_scale : flow->bound;
}

/* ---- passes ------------------------------------------------------------------------------------ */

/* Brings a marginal layer's table up to date. Sampling has the same weights in every step. */
static void prepare(const ais_flow_layer *layer, const ais_real *weights, ais_layer_call *call, layer_tape *kept) {
    size_t bytes = (size_t)layer->net.outputs * sizeof *weights;
    if (kept->prepared != (int)ais_isa_now() || memcmp(kept->known, weights, bytes) != 0) {
        AIS_CHOOSE(ais_marginal_prepare)(call, kept->table);
        memcpy(kept->known, weights, bytes);
        kept->prepared = (int)ais_isa_now();
    }
    call->table = kept->table;
}

static void close_product(ais_flow_tape *tape, bool inverse, double *log_det) {
    if (tape->pending > 0) AIS_CHOOSE(ais_affine_close)(tape->lanes, inverse, tape->product, log_det);
    tape->pending = 0;
}

/* As many elements at a time as the product can take. */
static void map_scales(const ais_element *by, const ais_layer_call *layer, bool inverse, double *z, double *x,
                       ais_flow_tape *tape, double *log_det) {
    const double most = 512;
    for (int m = 0, count; m < layer->mapped; m += count) {
        if (tape->pending + layer->bound > most) close_product(tape, inverse, log_det);
        int room = (int)((most - tape->pending) / layer->bound), left = layer->mapped - m;
        count = left < room ? left : room;
        ais_layer_call call = *layer;
        call.mapped = count;
        call.index += m;
        call.p += (size_t)(by->params(call.bins) * m) * tape->lanes;
        AIS_OF(by->map)(&call, inverse, z, x + (size_t)m * tape->lanes, tape->product);
        tape->pending += count * layer->bound;
    }
}

void ais_flow_map(const ais_flow *flow, const ais_real *weights, ais_flow_tape *tape, bool inverse, double *z,
                  double *log_det) {
    size_t lanes = tape->lanes;
    for (int turn = 0; turn < flow->layers; turn++) {
        int l = inverse ? flow->layers - 1 - turn : turn;
        const ais_flow_layer *layer = &flow->layer[l];
        const ais_real *own = weights + layer->offset;
        layer_tape *kept = &tape->layer[l];
        if (layer->neck) {
            close_product(tape, inverse, log_det);
            ais_neck_map(flow->dim, layer->bins, own, lanes, inverse, z, kept->x, log_det);
            continue;
        }
        ais_layer_call call = {.mapped = layer->mapped,
                               .bins = layer->bins,
                               .index = layer->index + layer->kept,
                               .bound = bound_of(flow, layer),
                               .lanes = lanes,
                               .p = layer->marginal ? own : kept->p,
                               .knots = kept->p};
        if (layer->marginal) {
            prepare(layer, own, &call, kept);
            AIS_CHOOSE(ais_marginal_map)(&call, inverse, z, kept->x, log_det);
            continue;
        }
        AIS_CHOOSE(ais_flow_features)(flow->quadratic, layer->kept, layer->index, lanes, z, kept->features);
        ais_perceptron_forward(&layer->net, own, lanes, kept->features, kept->hidden, kept->p);
        if (layer->element->scales)
            map_scales(layer->element, &call, inverse, z, kept->x, tape, log_det);
        else
            AIS_OF(layer->element->map)(&call, inverse, z, kept->x, log_det);
    }
    close_product(tape, inverse, log_det);
}

static ais_element_call element(const ais_flow *flow, const ais_flow_layer *layer, size_t lanes, const ais_real *p,
                                int mapped) {
    return (ais_element_call){.bins = layer->bins,
                              .bound = bound_of(flow, layer),
                              .lanes = lanes,
                              .p = p + (size_t)(mapped * layer->params) * lanes,
                              .shared = layer->marginal};
}

/* The parameters of a marginal layer in all lanes, as the backward pass wants them. */
static void spread(const ais_flow_layer *layer, const ais_real *weights, size_t lanes, ais_real *p) {
    for (int k = 0; k < layer->net.outputs; k++)
        for (size_t c = 0; c < lanes; c++) p[(size_t)k * lanes + c] = weights[k];
}

void ais_flow_backward(const ais_flow *flow, const ais_real *weights, ais_flow_tape *tape, bool inverse,
                       double *gradient, const double *gradient_det, ais_real *gradient_weights) {
    size_t lanes = tape->lanes;
    for (int turn = 0; turn < flow->layers; turn++) {
        int l = inverse ? turn : flow->layers - 1 - turn;
        const ais_flow_layer *layer = &flow->layer[l];
        const layer_tape *kept = &tape->layer[l];
        if (layer->neck) {
            ais_neck_backward(flow->dim, layer->bins, weights + layer->offset, lanes, inverse, kept->x, gradient,
                              gradient_det);
            continue;
        }
        if (layer->marginal) spread(layer, weights + layer->offset, lanes, kept->p);
        for (int m = 0; m < layer->mapped; m++) {
            double *row = gradient + (size_t)layer->index[layer->kept + m] * lanes;
            const double *x = kept->x + (size_t)m * lanes;
            ais_real *gradient_p =
                layer->marginal && !gradient_weights ? NULL : tape->gradient_p + (size_t)(m * layer->params) * lanes;
            ais_element_call call = element(flow, layer, lanes, kept->p, m);
            AIS_OF(layer->element->backward)(&call, inverse, x, row, gradient_det, tape->row, gradient_p);
            memcpy(row, tape->row, lanes * sizeof(double));
        }
        ais_real *to = gradient_weights ? gradient_weights + layer->offset : NULL;
        if (layer->marginal) {
            for (int k = 0; to && k < layer->net.outputs; k++)
                for (size_t c = 0; c < lanes; c++) to[k] += tape->gradient_p[(size_t)k * lanes + c];
            continue;
        }
        ais_perceptron_backward(&layer->net, weights + layer->offset, lanes, kept->features, kept->hidden,
                                tape->gradient_p, tape->work, tape->gradient_input, to);
        AIS_CHOOSE(ais_flow_features_backward)
        (flow->quadratic, layer->kept, layer->index, lanes, kept->features, tape->gradient_input, gradient);
    }
}
