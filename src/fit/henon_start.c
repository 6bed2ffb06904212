/* How a henon kernel is prepared, and the stages that did best in trials. */
#include <math.h>
#include <string.h>

#include "base/streams.h"
#include "fit/henon_trainer.h"

ais_status ais_henon_whiten(ais_context *context, ais_kernel *kernel, const ais_population *population, bool centre) {
    size_t dim = (size_t)population->target->dim;
    ais_arena arena = {0};
    double *mean = AIS_TAKE(&arena, double, dim), *sd = AIS_TAKE(&arena, double, dim);
    double *factor = AIS_TAKE(&arena, double, dim *dim), sum = 0;
    ais_status status = AIS_OK;
    if (!mean || !sd || !factor) {
        status = ais_fail_memory(context, "a whitening", dim * dim * sizeof *factor);
    } else {
        ais_population_moments(population, mean, sd);
        for (size_t i = 0; i < dim; i++) sum += centre ? sd[i] * sd[i] : sd[i] * sd[i] + mean[i] * mean[i];
        if (!centre) memset(mean, 0, dim * sizeof *mean);
        for (size_t i = 0; i < dim; i++) factor[i * dim + i] = sqrt(sum / (double)dim);
        status = ais_kernel_whiten(context, kernel, mean, factor);
    }
    ais_arena_free(&arena);
    return status;
}

void ais_henon_spread(ais_kernel *kernel, uint64_t seed) {
    ais_learned *learned = (ais_learned *)kernel;
    const ais_perceptron *net = &learned->henon.net;
    size_t first = (size_t)net->inputs * (size_t)net->hidden;
    for (int l = 0; l < learned->henon.layers; l++) {
        ais_real *weights = learned->weights + (size_t)l * learned->henon.layer_weights;
        for (size_t i = 0; i < first; i++) weights[i] *= 3;
        ais_stream stream = ais_stream_for(AIS_USE_HENON_SPREAD, seed, (uint64_t)l, 0);
        for (int i = 0; i < net->hidden; i++)
            weights[first + (size_t)i] = (ais_real)(4 * ais_random_uniform(&stream, (uint32_t)i) - 2);
    }
}

void ais_henon_scale_last(ais_kernel *kernel, double share) {
    ais_learned *learned = (ais_learned *)kernel;
    const ais_perceptron *net = &learned->henon.net;
    size_t last = (size_t)net->hidden * (size_t)net->outputs, end = ais_perceptron_weights(net) - (size_t)net->outputs;
    for (int l = 0; l < learned->henon.layers; l++) {
        ais_real *weights = learned->weights + (size_t)l * learned->henon.layer_weights + end - last;
        for (size_t i = 0; i < last; i++) weights[i] *= (ais_real)share;
    }
}

/* V(y)_i = slope y_i, as slope relu(y_i) - slope relu(-y_i); the hidden units that are left over stay as they are. */
static void make_linear(const ais_perceptron *net, double slope, ais_real *weights) {
    size_t inputs = (size_t)net->inputs, hidden = (size_t)net->hidden, pairs = hidden / 2;
    ais_real *first = weights, *bias = first + hidden * inputs, *last = bias + hidden;
    for (size_t unit = 0; unit < 2 * (pairs < inputs ? pairs : inputs); unit++) {
        size_t coordinate = unit / 2;
        double sign = unit % 2 ? -1 : 1;
        memset(first + unit * inputs, 0, inputs * sizeof *first);
        first[unit * inputs + coordinate] = (ais_real)sign;
        bias[unit] = 0;
        for (size_t i = 0; i < (size_t)net->outputs; i++)
            last[i * hidden + unit] = (ais_real)(i == coordinate ? sign * slope : 0);
    }
}

/* A turn is three shears; a layer with linear V is a shear after a quarter turn. */
void ais_henon_turn(ais_kernel *kernel, double angle) {
    ais_learned *learned = (ais_learned *)kernel;
    const ais_henon *henon = &learned->henon;
    const double slope[3] = {tan(angle / 2), sin(angle), tan(angle / 2)};
    if (henon->net.tanh || henon->net.depth != 1 || henon->layers < 3) return;
    for (size_t l = 0; l < 3; l++) make_linear(&henon->net, slope[l], learned->weights + l * henon->layer_weights);
}

ais_henon_stage ais_henon_stage_default(ais_henon_kind kind) {
    static const ais_recipe_name recipe[] = {[AIS_LIKELIHOOD] = AIS_HENON_LIKELIHOOD,
                                             [AIS_EXACT] = AIS_HENON_EXACT,
                                             [AIS_ADVERSARIAL] = AIS_HENON_ADVERSARIAL};
    ais_henon_stage stage = {.kind = kind, .recipe = ais_recipe_table[recipe[kind]], .walks = 1};
    if (kind == AIS_LIKELIHOOD) return stage;
    bool exact = kind == AIS_EXACT;
    stage.mixing = exact ? 1 : 2;
    stage.likelihood = exact ? 0.1 : 1;
    stage.mixing_weight = 4;
    stage.waves = 32;
    stage.ripples = exact ? 0 : 16;
    stage.form = AIS_PRODUCT;
    stage.loss = AIS_LOGISTIC;
    return stage;
}

ais_henon_stage ais_henon_stage_paper(int dim, bool far) {
    ais_henon_stage stage = {.kind = AIS_ADVERSARIAL,
                             .recipe = ais_recipe_table[dim <= 2 ? AIS_HENON_PAPER_PLANE : AIS_HENON_PAPER],
                             .form = AIS_PRODUCT,
                             .loss = AIS_RLOGR,
                             .last = true};
    if (!far) return stage;
    stage.recipe.steps = ais_recipe_table[AIS_HENON_PAPER_FAR].steps;
    stage.recipe.pace = ais_recipe_table[AIS_HENON_PAPER_FAR].pace;
    return stage;
}
