#include "fit/mixing.h"

#include <math.h>
#include <string.h>

#include "base/constants.h"
#include "base/streams.h"
#include "nn/dense_lanes.h"
#include "simd/normal.h"

/* A proposal far outside must not rule the covariance. */
static const double widest = 4, least_sd = 1e-3;

static bool take(ais_mixing *mixing, const ais_mixing_options *options, ais_arena *arena) {
    size_t dim = (size_t)options->dim, waves = (size_t)options->waves, ripples = (size_t)options->ripples;
    size_t features = 2 * dim + waves + ripples;
    *mixing = (ais_mixing){.set = {.dim = options->dim,
                                   .waves = options->waves,
                                   .ripples = options->ripples,
                                   .frequency = AIS_TAKE(arena, double, waves *dim + 1),
                                   .phase = AIS_TAKE(arena, double, waves + 1),
                                   .pitch = AIS_TAKE(arena, double, ripples + 1),
                                   .start = AIS_TAKE(arena, double, ripples + 1),
                                   .centre = AIS_TAKE(arena, double, dim)},
                           .features = (int)features,
                           .weight = AIS_TAKE(arena, double, features),
                           .mean = AIS_TAKE(arena, double, features),
                           .scale = AIS_TAKE(arena, double, features),
                           .correlation = AIS_TAKE(arena, ais_real, features * features),
                           .pull = AIS_TAKE(arena, ais_real, features * features)};
    const ais_feature_set *set = &mixing->set;
    return set->frequency && set->phase && set->pitch && set->start && set->centre && mixing->weight && mixing->mean &&
           mixing->scale && mixing->correlation && mixing->pull;
}

static void draw_waves(const ais_feature_set *set, const ais_mixing_options *options) {
    static const double pitch[4] = {0.7, 1.5, 3, 6}; /* a quarter of the waves each */
    ais_stream stream = ais_stream_for(AIS_USE_MIXING, options->seed, 0, 0);
    ais_normals(&stream, (size_t)set->waves * (size_t)set->dim, set->frequency);
    stream = ais_stream_for(AIS_USE_MIXING, options->seed, 1, 0);
    for (int w = 0; w < set->waves; w++) {
        double by = pitch[4 * w / set->waves] / (options->scale * sqrt(0.5 * set->dim));
        for (int i = 0; i < set->dim; i++) set->frequency[w * set->dim + i] *= by;
        set->phase[w] = 2 * AIS_PI * ais_random_uniform(&stream, (uint32_t)w);
    }
}

/* From half a turn within the common sd to shells of a third of it. */
static void draw_ripples(const ais_feature_set *set, const ais_mixing_options *options) {
    static const double slowest = 3, fastest = 10;
    ais_stream stream = ais_stream_for(AIS_USE_MIXING, options->seed, 2, 0);
    if (options->centre) memcpy(set->centre, options->centre, (size_t)set->dim * sizeof *set->centre);
    for (int k = 0; k < set->ripples; k++) {
        set->pitch[k] = (slowest + (fastest - slowest) * (k + 0.5) / set->ripples) / options->scale;
        set->start[k] = 2 * AIS_PI * ais_random_uniform(&stream, (uint32_t)k);
    }
}

bool ais_mixing_new(ais_mixing *mixing, const ais_mixing_options *options, ais_arena *arena) {
    if (!take(mixing, options, arena)) return false;
    draw_waves(&mixing->set, options);
    draw_ripples(&mixing->set, options);
    for (int i = 0; i < mixing->features; i++) mixing->weight[i] = i < 2 * options->dim ? options->weight : 1;
    return true;
}

bool ais_mixing_block_new(const ais_mixing *mixing, size_t lanes, ais_arena *arena, ais_mixing_block *block) {
    size_t features = (size_t)mixing->features, rows = features * lanes;
    *block = (ais_mixing_block){.lanes = lanes,
                                .f = AIS_TAKE(arena, double, rows),
                                .image_f = AIS_TAKE(arena, double, rows),
                                .standard = AIS_TAKE(arena, ais_real, rows),
                                .end = AIS_TAKE(arena, ais_real, rows),
                                .correlation = AIS_TAKE(arena, ais_real, features * features),
                                .spare = AIS_TAKE(arena, ais_real, features),
                                .sum = AIS_TAKE(arena, double, features),
                                .square = AIS_TAKE(arena, double, features),
                                .gradient_f = AIS_TAKE(arena, double, rows)};
    return block->f && block->image_f && block->standard && block->end && block->correlation && block->spare &&
           block->sum && block->square && block->gradient_f;
}

void ais_mixing_features(const ais_mixing *mixing, ais_mixing_block *block, const double *x, const double *image) {
    AIS_CHOOSE(ais_features)(&mixing->set, block->lanes, x, block->f);
    AIS_CHOOSE(ais_features)(&mixing->set, block->lanes, image, block->image_f);
    for (int i = 0; i < mixing->features; i++) {
        const double *f = block->f + (size_t)i * block->lanes;
        block->sum[i] = block->square[i] = 0;
        for (size_t c = 0; c < block->lanes; c++) {
            block->sum[i] += f[c];
            block->square[i] += f[c] * f[c];
        }
    }
}

void ais_mixing_standard(ais_mixing *mixing, const ais_mixing_block *block, int blocks) {
    double n = (double)block->lanes * blocks;
    for (int i = 0; i < mixing->features; i++) {
        double sum = 0, square = 0;
        for (int b = 0; b < blocks; b++) {
            sum += block[b].sum[i];
            square += block[b].square[i];
        }
        mixing->mean[i] = sum / n;
        mixing->scale[i] = 1 / (sqrt(fmax(square / n - sum / n * sum / n, 0)) + least_sd);
    }
}

/* Feature i of a proposal, standardised and clipped; also what it was before clipping. */
static double clipped(const ais_mixing *mixing, int i, double raw, bool *inside) {
    double value = (raw - mixing->mean[i]) * mixing->scale[i];
    *inside = fabs(value) < widest;
    return *inside ? value : value > 0 ? widest : -widest; /* NaN becomes -widest, its gradient 0 */
}

void ais_mixing_correlate(const ais_mixing *mixing, ais_mixing_block *block, const double *chance) {
    int features = mixing->features;
    for (int i = 0; i < features; i++)
        for (size_t c = 0; c < block->lanes; c++) {
            size_t at = (size_t)i * block->lanes + c;
            bool inside;
            double value = (block->f[at] - mixing->mean[i]) * mixing->scale[i];
            double image = clipped(mixing, i, block->image_f[at], &inside);
            block->standard[at] = (ais_real)value;
            block->end[at] = (ais_real)(chance[c] * image + (1 - chance[c]) * value);
        }
    memset(block->correlation, 0, (size_t)features * (size_t)features * sizeof *block->correlation);
    /* row j, column i: sum over lanes of end_j standard_i */
    AIS_CHOOSE(ais_dense_gradient)
    (features, features, block->lanes, block->standard, block->end, block->correlation, block->spare);
}

/* math.md (18). */
double ais_mixing_total(ais_mixing *mixing, const ais_mixing_block *block, int blocks, double strength) {
    double n = (double)block->lanes * blocks, all = 0, term = 0;
    int features = mixing->features;
    for (int i = 0; i < features; i++) all += mixing->weight[i];
    for (int j = 0; j < features; j++)
        for (int i = 0; i < features; i++) {
            double sum = 0, weight = mixing->weight[i] * mixing->weight[j] / all * strength;
            for (int b = 0; b < blocks; b++) sum += (double)block[b].correlation[j * features + i];
            term += weight * sum / n * sum / n;
            mixing->correlation[j * features + i] = (ais_real)(sum / n);
            mixing->pull[j * features + i] = (ais_real)(2 * weight * sum / n / n);
        }
    return term;
}

void ais_mixing_pull_back(const ais_mixing *mixing, ais_mixing_block *block, const double *chance, const double *image,
                          double *gradient_image, double *gradient_chance) {
    /* dL/dg_j = sum_i pull_ji f_i; end is used up */
    AIS_CHOOSE(ais_dense)
    (mixing->features, mixing->features, block->lanes, mixing->pull, NULL, block->standard, block->end);
    for (int j = 0; j < mixing->features; j++)
        for (size_t c = 0; c < block->lanes; c++) {
            size_t at = (size_t)j * block->lanes + c;
            bool inside;
            double proposed = clipped(mixing, j, block->image_f[at], &inside), gradient = (double)block->end[at];
            gradient_chance[c] += gradient * (proposed - (double)block->standard[at]);
            block->gradient_f[at] = inside ? gradient * chance[c] * mixing->scale[j] : 0;
        }
    AIS_CHOOSE(ais_features_backward)(&mixing->set, block->lanes, image, block->gradient_f, gradient_image);
}
