#include "learned/learned.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/constants.h"
#include "base/streams.h"
#include "learned/mixture.h"
#include "learned/nice.h"
#include "map/element.h"
#include "map/element_lanes.h"
#include "map/neck.h"
#include "simd/normal.h"

static const double default_tolerance = 1e-6;

const ais_learned *ais_as_learned(const ais_kernel *kernel) {
    return kernel->type->free == ais_learned_free ? (const ais_learned *)kernel : NULL;
}

/* ---- shape ------------------------------------------------------------------------------------- */

bool ais_map_builtin(int i, ais_map_entry *entry) {
    if (i < 0 || i > AIS_AFFINE) return false;
    const ais_family *family = &ais_families[i];
    *entry = (ais_map_entry){family->name, family->layers, family->element && !family->element->scales};
    return true;
}

static int otherwise(int value, int fallback) { return value ? value : fallback; }

static void fill_defaults(ais_shape *shape) {
    if (shape->map == AIS_AFFINE) return; /* nothing has a default */
    shape->layers = otherwise(shape->layers, ais_families[shape->map].layers);
    shape->hidden = otherwise(shape->hidden, shape->dim <= 2 ? 32 : 64);
    shape->depth = otherwise(shape->depth, 1);
    shape->bins = otherwise(shape->bins, 16);
    if (shape->bound == 0) shape->bound = 4;
}

static ais_status check_range(ais_context *context, const char *what, int value, int low, int high) {
    if (value >= low && value <= high) return AIS_OK;
    return ais_fail(context, AIS_BAD_ARGUMENT, "kernel shape: %s is %d, but must be %d to %d", what, value, low, high);
}

static ais_status check_affine(ais_context *context, const ais_shape *shape) {
    if (shape->reversal != AIS_SWAP)
        return ais_fail(context, AIS_BAD_ARGUMENT,
                        "kernel shape: affine goes with swap; with flip it would never move");
    if (shape->layers || shape->hidden || shape->depth || shape->activation || shape->bins || shape->marginal_bins ||
        shape->joint || shape->pivot || shape->neck || shape->bound != 0 || shape->permutation)
        return ais_fail(context, AIS_BAD_ARGUMENT,
                        "kernel shape: affine is a whitening without layers, and takes only map, reversal and dim");
    return AIS_OK;
}

static ais_status check_shape(ais_context *context, const ais_shape *shape) {
    const struct {
        const char *what;
        int value, low, high;
    } range[] = {
        {"map", (int)shape->map, AIS_HENON, AIS_AFFINE},
        {"reversal", (int)shape->reversal, AIS_FLIP, AIS_SWAP},
        {"activation", (int)shape->activation, AIS_RELU, AIS_TANH},
        {"dim", shape->dim, 1, 4096},
        {"layers", shape->layers, 1, 1000},
        {"hidden", shape->hidden, 1, 65536},
        {"depth", shape->depth, shape->map == AIS_HENON ? 1 : -1, 16},
        {"bins", shape->bins, 2, AIS_MAX_BINS},
        {"marginal_bins", shape->marginal_bins, 0, AIS_MAX_BINS},
        {"neck", shape->neck, 0, AIS_MAX_BINS},
    };
    enum { EVERY_MAP = 4 }; /* the first of them; affine has no layers */
    for (size_t i = 0; i < (shape->map == AIS_AFFINE ? EVERY_MAP : sizeof range / sizeof *range); i++) {
        ais_status status = check_range(context, range[i].what, range[i].value, range[i].low, range[i].high);
        if (status != AIS_OK) return status;
    }
    if (shape->map == AIS_AFFINE) return check_affine(context, shape);
    if (shape->depth == 0) return check_range(context, "depth", 0, 1, 16);
    if (shape->marginal_bins == 1) return check_range(context, "marginal_bins", 1, 2, AIS_MAX_BINS);
    if (!(shape->bound > 0 && shape->bound <= 1e6))
        return ais_fail(context, AIS_BAD_ARGUMENT, "kernel shape: bound is %g, but must be above 0 and at most 1e6",
                        shape->bound);
    if (shape->map != AIS_REALNVP && shape->joint)
        return ais_fail(context, AIS_BAD_ARGUMENT,
                        "kernel shape: joint is for realnvp; henon always acts on (x, v), "
                        "spline on x");
    if (shape->pivot && (shape->map == AIS_HENON || shape->joint || shape->dim < 2))
        return ais_fail(context, AIS_BAD_ARGUMENT,
                        "kernel shape: pivot is for maps on x alone in 2 dimensions or more");
    if (shape->pivot) {
        ais_status status = check_range(context, "pivot", shape->pivot, 1, shape->dim - 1);
        if (status != AIS_OK) return status;
    }
    if (shape->neck && (shape->map == AIS_HENON || shape->joint || shape->dim < 2))
        return ais_fail(context, AIS_BAD_ARGUMENT,
                        "kernel shape: a neck is for maps on x alone in 2 dimensions or more");
    if (shape->map == AIS_HENON && shape->marginal_bins)
        return ais_fail(context, AIS_BAD_ARGUMENT, "kernel shape: henon takes no marginal splines");
    return AIS_OK;
}

/* ---- weights ----------------------------------------------------------------------------------- */

static void draw_normals(uint64_t seed, uint64_t layer, uint32_t part, double scale, size_t count, ais_real *to) {
    double normal[64];
    for (size_t i = 0; i < count; i++) {
        if (i % 64 == 0) { /* the next 64, from a stream of their own */
            bool deep = part >= ais_stream_table[AIS_USE_NET].chains;
            uint64_t block = i / 64, at = layer << 24;
            ais_use use = deep ? AIS_USE_NET_DEEP : block < AIS_NET_BLOCKS ? AIS_USE_NET : AIS_USE_NET_REST;
            at += use == AIS_USE_NET_REST ? block - AIS_NET_BLOCKS : block;
            ais_stream stream = ais_stream_for(use, seed, at, part);
            ais_normals(&stream, 64, normal);
        }
        to[i] = (ais_real)(scale * normal[i % 64]);
    }
}

/* W normal with variance 2 / (inputs + outputs), b normal with sd 0.3 in hidden layers; the last
 * layer scaled down, so that a fresh g is close to linear. */
static void draw_perceptron(const ais_perceptron *net, uint64_t seed, uint64_t layer, double last, ais_real *weights) {
    for (int l = 0; l <= net->depth; l++) {
        bool hidden = l < net->depth;
        int inputs = l == 0 ? net->inputs : net->hidden, outputs = hidden ? net->hidden : net->outputs;
        double scale = sqrt(2.0 / (inputs + outputs)) * (hidden ? 1 : last);
        size_t count = (size_t)inputs * (size_t)outputs;
        draw_normals(seed, layer, (uint32_t)(2 * l), scale, count, weights);
        draw_normals(seed, layer, (uint32_t)(2 * l + 1), hidden ? 0.3 : 0, (size_t)outputs, weights + count);
        weights += count + (size_t)outputs;
    }
}

static void draw_weights(ais_learned *learned, uint64_t seed) {
    if (learned->shape.map == AIS_HENON) {
        for (int l = 0; l < learned->henon.layers; l++)
            draw_perceptron(&learned->henon.net, seed, (uint64_t)l, 0.3,
                            learned->weights + (size_t)l * learned->henon.layer_weights);
        return;
    }
    for (int l = 0; l < learned->flow.layers; l++) {
        const ais_flow_layer *layer = &learned->flow.layer[l];
        if (layer->neck)
            ais_neck_clear(learned->flow.dim, layer->bins, learned->weights + layer->offset);
        else if (!layer->marginal)
            draw_perceptron(&layer->net, seed, (uint64_t)l, 0.1, learned->weights + layer->offset);
    }
}

/* ---- construction ------------------------------------------------------------------------------ */

/* The map without its weights. */
static bool build_map(ais_learned *learned) {
    const ais_shape *shape = &learned->shape;
    bool tanh = shape->activation == AIS_TANH;
    if (shape->map == AIS_HENON) {
        ais_henon_build(&learned->henon, shape->dim, shape->layers, shape->hidden, shape->depth, tanh);
        learned->weight_count = learned->henon.weights;
        learned->propose = ais_propose_henon;
    } else {
        ais_flow_shape flow = {.dim = shape->joint ? 2 * shape->dim : shape->dim,
                               .layers = shape->layers,
                               .hidden = shape->hidden,
                               .depth = shape->depth,
                               .bins = shape->bins,
                               .marginal_bins = shape->marginal_bins,
                               .element = ais_families[shape->map].element,
                               .quadratic = shape->depth < 0,
                               .tanh = tanh,
                               .pivot = shape->pivot,
                               .neck = shape->neck,
                               .bound = shape->bound,
                               .permutation = shape->permutation};
        if (!ais_flow_build(&learned->flow, &flow, &learned->arena)) return false;
        learned->weight_count = learned->flow.weights;
        learned->propose = ais_is_independent(learned) ? ais_propose_independent : ais_propose_flow;
    }
    return true;
}

/* Called again whenever the kind of proposals changes. */
static void choose_type(ais_learned *learned) {
    bool weighs = ais_is_independent(learned) && !learned->angles.count && !learned->ratio.weights;
    learned->kernel.type = &(weighs ? ais_weighing_type : ais_learned_type)[learned->shape.map];
}

void ais_learned_free(ais_kernel *kernel) {
    ais_learned *learned = (ais_learned *)kernel;
    ais_arena_free(&learned->arena);
    free(learned);
}

ais_status ais_learned_new(ais_context *context, const ais_shape *wanted, size_t weights, ais_kernel **kernel) {
    ais_shape shape = *wanted;
    if ((unsigned)shape.map <= AIS_AFFINE) fill_defaults(&shape);
    ais_status status = check_shape(context, &shape);
    if (status != AIS_OK) return status;
    ais_learned *learned = calloc(1, sizeof *learned);
    if (!learned) return ais_fail_memory(context, "a kernel", sizeof *learned);
    learned->kernel = (ais_kernel){.type = &ais_learned_type[shape.map], .dim = shape.dim};
    learned->shape = shape;
    learned->tolerance = default_tolerance;
    if (!build_map(learned))
        status = ais_fail_memory(context, "a kernel's layers", sizeof(ais_flow_layer) * (size_t)shape.layers);
    else if (weights && weights != learned->weight_count)
        status = ais_fail(context, AIS_BAD_ARGUMENT, "kernel shape: it has %zu weights, not %zu", learned->weight_count,
                          weights);
    if (status == AIS_OK) status = ais_whitening_new(context, &learned->whitening, shape.dim, &learned->arena);
    if (status == AIS_OK) {
        learned->weights = AIS_TAKE(&learned->arena, ais_real, learned->weight_count);
        if (!learned->weights)
            status = ais_fail_memory(context, "a kernel's weights", learned->weight_count * sizeof(ais_real));
    }
    choose_type(learned);
    if (status == AIS_OK)
        *kernel = &learned->kernel;
    else
        ais_learned_free(&learned->kernel);
    return status;
}

ais_status ais_learned_add_ratio(ais_context *context, ais_kernel *kernel, int hidden, int depth, size_t weights) {
    ais_learned *learned = (ais_learned *)kernel;
    if (!ais_is_independent(learned))
        return ais_fail(
            context, AIS_BAD_ARGUMENT,
            "a kernel learned from draws is affine, realnvp or spline on x alone, with swap; this one is %s",
            kernel->type->name);
    ais_status status = check_range(context, "hidden units of the discriminator", hidden, 1, 4096);
    if (status == AIS_OK) status = check_range(context, "depth of the discriminator", depth, 1, 16);
    if (status != AIS_OK) return status;
    ais_ratio ratio = ais_ratio_shape(learned->shape.dim, hidden, depth);
    if (weights && weights != ratio.count)
        return ais_fail(context, AIS_BAD_ARGUMENT, "kernel shape: the discriminator has %zu weights, not %zu",
                        ratio.count, weights);
    ratio.weights = AIS_TAKE(&learned->arena, ais_real, ratio.count);
    if (!ratio.weights) return ais_fail_memory(context, "a discriminator", ratio.count * sizeof(ais_real));
    learned->ratio = ratio;
    kernel->empirical = true;
    choose_type(learned);
    return AIS_OK;
}

ais_status ais_learned_copy(ais_context *context, const ais_kernel *map, ais_kernel **out) {
    const ais_learned *from = ais_as_learned(map);
    ais_status status = ais_learned_new(context, &from->shape, 0, out);
    if (status != AIS_OK) return status;
    ais_learned *to = (ais_learned *)*out;
    if (from->weight_count) memcpy(to->weights, from->weights, from->weight_count * sizeof *to->weights);
    status = ais_kernel_whiten(context, *out, from->whitening.mean, from->whitening.factor);
    if (status == AIS_OK) return AIS_OK;
    ais_kernel_free(*out);
    *out = NULL;
    return status;
}

ais_status ais_kernel_learned(ais_context *context, const ais_shape *shape, uint64_t seed, ais_kernel **kernel) {
    ais_status status = ais_learned_new(context, shape, 0, kernel);
    if (status == AIS_OK) draw_weights((ais_learned *)*kernel, seed);
    return status;
}

const ais_shape *ais_kernel_shape(const ais_kernel *kernel) {
    const ais_learned *learned = ais_as_learned(kernel);
    return learned ? &learned->shape : NULL;
}

#ifndef AIS_REAL_IS_DOUBLE
float *ais_kernel_weights(ais_kernel *kernel, size_t *count) {
    const ais_learned *learned = ais_as_learned(kernel);
    const ais_nice_kernel *nice = ais_as_nice(kernel);
    *count = learned ? learned->weight_count : nice ? nice->nice.weights : 0;
    return learned ? learned->weights : nice ? nice->weights : NULL;
}
#endif

ais_status ais_kernel_whiten(ais_context *context, ais_kernel *kernel, const double *mean, const double *factor) {
    if (!ais_as_learned(kernel))
        return ais_fail(context, AIS_BAD_ARGUMENT, "%s has no whitening: only learned kernels have",
                        kernel->type->name);
    return ais_whitening_set(context, &((ais_learned *)kernel)->whitening, mean, factor);
}

void ais_kernel_set_test(ais_kernel *kernel, ais_test test) {
    if (ais_as_learned(kernel)) ((ais_learned *)kernel)->test = test;
    if (ais_as_mixture(kernel)) ((ais_mixture_kernel *)kernel)->test = test;
}

ais_status ais_kernel_set_angles(ais_context *context, ais_kernel *kernel, int count, const double *degrees) {
    ais_learned *learned = ais_as_learned(kernel) ? (ais_learned *)kernel : NULL;
    if (!learned || !ais_is_independent(learned) || kernel->empirical)
        return ais_fail(context, AIS_BAD_ARGUMENT,
                        "%.100s takes no angles: affine, realnvp and spline on x alone do, with swap and for a density",
                        kernel->type->name);
    if (count < 0 || count > AIS_MOST_ANGLES)
        return ais_fail(context, AIS_BAD_ARGUMENT, "%d angles: there can be 0 (swap) to %d", count, AIS_MOST_ANGLES);
    for (int k = 0; k < count; k++)
        if (!(degrees[k] > 0 && degrees[k] <= 180))
            return ais_fail(context, AIS_BAD_ARGUMENT,
                            "angle %d is %g degrees, but must be above 0, where nothing moves, and at most 180", k + 1,
                            degrees[k]);
    learned->angles.count = count;
    for (int k = 0; k < count; k++) {
        learned->angles.degree[k] = degrees[k];
        const double radians = degrees[k] * (AIS_PI / 180);
        /* exact at quarters: 90 degrees is swap to the bit */
        learned->angles.cosine[k] = degrees[k] == 90 ? 0 : cos(radians);
        learned->angles.sine[k] = degrees[k] == 180 ? 0 : sin(radians);
    }
    learned->propose = count ? ais_propose_reflected : ais_propose_independent;
    choose_type(learned);
    return AIS_OK;
}

const double *ais_kernel_angles(const ais_kernel *kernel, int *count) {
    const ais_learned *learned = ais_as_learned(kernel);
    *count = learned ? learned->angles.count : 0;
    return *count ? learned->angles.degree : NULL;
}

void ais_kernel_set_tolerance(ais_kernel *kernel, double tolerance) {
    if (ais_as_learned(kernel)) ((ais_learned *)kernel)->tolerance = tolerance;
}
