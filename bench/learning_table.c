/* The table of the learning issue: default training from a cold start, then fresh chains, judged.
 *     learning_table [first=1] [seeds=5] [only=NAME] [kernel=default|henon|paper] [threads=0] [objective=...] [nuts=1]
 *                    [effective=0]
 * One row per target and seed: seconds of start and training, acceptance, worst ESS (bulk, Song, error; per chain of
 * 1000 draws in 2D, of 5000 otherwise), the paper's mean-only Song ESS, R-hat, largest error of a mode weight, of
 * log Z, fewest modes that one chain visited. 2D: 2,000 chains x 1000 draws; otherwise 50 x 5000; after 200 steps.
 * R50 is R-hat over the first 50 chains. gaussian, banana and funnel (nuts=1: all rows with a gradient): worst bulk ESS
 * per second of sampling of our NUTS in the same run, 1000 draws after 500 of 50 chains (of 8 in 20 dimensions or more,
 * where trees of hundreds of gradients would take minutes), and how many times that the learned kernel gives. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <aisampler/aisampler.h>

#include "arguments.h"

static const struct {
    const char *name, *spec;
    double scale; /* of the search region; 0: the target's */
    int nuts;     /* compared with it */
} rows[] = {
    {"mog2", "mog2", 0, 0},
    {"mog6", "mog6", 0, 0},
    {"triangle", "triangle", 0, 0},
    {"ring", "ring", 0, 0},
    {"ring5", "ring5", 0, 0},
    {"heart", "heart", 0, 0},
    {"german", "german", 0, 0},
    {"australian", "australian", 0, 0},
    {"two modes d=2", "twomodes:dim=2", 10, 0},
    {"two modes d=8", "twomodes:dim=8", 10, 0},
    {"two modes d=16", "twomodes:dim=16", 10, 0},
    {"gaussian d=50", "gaussian:dim=50,cond=1e4", 0, 1},
    {"banana", "banana", 0, 1},
    {"funnel d=10", "funnel:dim=10", 0, 1},
};

static double mode_error(const ais_diagnosis *diagnosis, const ais_target *target) {
    double worst = NAN;
    for (int m = 0; m < diagnosis->modes; m++)
        worst = fmax(worst, fabs(diagnosis->mode_share[m] - target->reference->mode_weight[m]));
    return worst;
}

enum { COMPARED = 50 };

/* R-hat of the first chains alone. */
static double rhat_of_few(ais_context *context, const ais_draws *draws, const ais_target *target) {
    size_t few = draws->chains < COMPARED ? (size_t)draws->chains : COMPARED, length = (size_t)draws->draws;
    size_t whole = (size_t)draws->chains * length, part = few * length, dim = (size_t)draws->dim;
    double result = NAN, *value = malloc(dim * part * sizeof *value);
    ais_diagnosis *diagnosis = NULL;
    ais_draws some = *draws;
    for (size_t i = 0; value && i < dim; i++) memcpy(value + i * part, draws->value + i * whole, part * sizeof *value);
    some.chains = (int)few;
    some.stats = 0;
    some.value = value;
    if (value && ais_diagnose(context, &some, target, &diagnosis) == AIS_OK) result = diagnosis->worst_rhat;
    ais_diagnosis_free(diagnosis);
    free(value);
    return result;
}

/* Worst bulk ESS per second of NUTS's draws; NAN when it fails. */
static double nuts_rate(ais_context *context, const ais_target *target, uint64_t seed) {
    ais_kernel *nuts = NULL;
    ais_sink *memory = NULL;
    ais_diagnosis *diagnosis = NULL;
    ais_sample_result result;
    double rate = NAN;
    int chains = target->dim < 20 ? COMPARED : 8;
    ais_sample_options options = {.seed = seed + 2000, .chains = chains, .warmup = 500, .draws = 1000};
    if (ais_kernel_nuts(context, NULL, &nuts) == AIS_OK && ais_sink_memory(context, &memory) == AIS_OK &&
        ais_sample(context, target, nuts, &options, &memory, 1, &result) == AIS_OK) {
        ais_draws *taken = ais_sink_memory_take(memory);
        if (ais_diagnose(context, taken, target, &diagnosis) == AIS_OK)
            rate = diagnosis->worst_ess * chains / result.sample_seconds;
        ais_draws_free(taken);
    }
    ais_diagnosis_free(diagnosis);
    ais_sink_free(memory);
    ais_kernel_free(nuts);
    return rate;
}

static int measure(ais_context *context, const char *name, const ais_target *target, const ais_kernel *kernel,
                   const ais_training *training, uint64_t seed, int compare) {
    int chains = target->dim == 2 ? 2000 : 50, draws = target->dim == 2 ? 1000 : 5000;
    size_t dim = (size_t)target->dim;
    double *start = malloc((size_t)chains * dim * sizeof *start);
    for (size_t c = 0; c < (size_t)chains; c++)
        memcpy(start + c * dim, training->x + c % (size_t)training->count * dim, dim * sizeof *start);
    ais_sink *memory = NULL;
    ais_draws *taken = NULL;
    ais_diagnosis *diagnosis = NULL;
    ais_sample_result result;
    ais_sample_options options = {.seed = seed + 1000, .chains = chains, .warmup = 200, .draws = draws, .start = start};
    ais_status status = ais_sink_memory(context, &memory);
    if (status == AIS_OK) status = ais_sample(context, target, kernel, &options, &memory, 1, &result);
    if (status == AIS_OK) {
        taken = ais_sink_memory_take(memory);
        status = ais_diagnose(context, taken, target, &diagnosis);
    }
    if (status == AIS_OK) {
        double rate = diagnosis->worst_ess * chains / result.sample_seconds;
        printf(
            "%-15s %4d  %5.2f %6.2f  %5.3f  %5.0f %5.0f %5.0f %5.0f  %6.4f %6.4f  %6.4f  %+7.4f  %2d/%-2d  %8.3g  %s",
            name, (int)seed, training->start_seconds, training->train_seconds, result.acceptance, diagnosis->worst_ess,
            diagnosis->worst_ess_song, diagnosis->worst_ess_error, diagnosis->mean_ess_song, diagnosis->worst_rhat,
            rhat_of_few(context, taken, target), mode_error(diagnosis, target),
            training->log_z - (target->reference ? target->reference->log_z : NAN), diagnosis->fewest_modes,
            diagnosis->modes, rate, ais_kernel_name(kernel));
        if (compare && target->grad) {
            double rival = nuts_rate(context, target, seed);
            printf("  nuts %.3g, ratio %.3g", rival, rate / rival);
        }
        printf("\n");
    }
    fflush(stdout);
    ais_diagnosis_free(diagnosis);
    ais_draws_free(taken);
    ais_sink_free(memory);
    free(start);
    return status == AIS_OK;
}

static int train(const char *name, const char *spec, double scale, int nuts, uint64_t seed) {
    ais_context context = {0};
    ais_target *target = NULL;
    ais_kernel *kernel = NULL;
    ais_training *training = NULL;
    const char *kind = text("kernel", "default");
    int good = ais_target_open(&context, spec, &target) == AIS_OK;
    ais_shape henon = {.map = AIS_HENON,
                       .reversal = AIS_SWAP,
                       .dim = good ? target->dim : 0,
                       .layers = atoi(text("layers", "0")),
                       .activation = AIS_TANH};
    ais_target bare = good ? *target : (ais_target){0};
    bare.grad = NULL; /* henon is asked to do without */
    const ais_target *seen = strcmp(kind, "henon") == 0 ? &bare : target;
    ais_train_options options = {.seed = seed,
                                 .scale = scale,
                                 .steps = atol(text("steps", "0")),
                                 .population = atoi(text("population", "0")),
                                 .threads = atoi(text("threads", "0")),
                                 .paper = strcmp(kind, "paper") == 0,
                                 .objective = text("objective", NULL),
                                 .effective = atof(text("effective", "0")),
                                 .shape = strcmp(kind, "henon") == 0 ? &henon : NULL};
    good = good && ais_train(&context, seen, &options, &kernel, &training) == AIS_OK &&
           measure(&context, name, target, kernel, training, seed, nuts || atoi(text("nuts", "0")) > 0);
    if (!good) printf("%-15s %4d  %s\n", name, (int)seed, context.message);
    ais_training_free(training);
    ais_kernel_free(kernel);
    ais_target_close(target);
    return good;
}

int main(int count, char **argument) {
    words = count;
    word = argument;
    int first = atoi(text("first", "1")), seeds = atoi(text("seeds", "5")), failures = 0;
    const char *only = text("only", NULL);
    printf("%-15s %4s  %5s %6s  %5s  %5s %5s %5s %5s  %6s %6s  %6s  %7s  %5s  %8s\n", "target", "seed", "start",
           "train", "acc", "bulk", "Song", "error", "mean", "R-hat", "R50", "weight", "log Z", "modes", "ESS/s");
    for (size_t r = 0; r < sizeof rows / sizeof *rows; r++)
        for (int s = first; s <= seeds && (!only || strstr(rows[r].name, only)); s++)
            failures += !train(rows[r].name, rows[r].spec, rows[r].scale, rows[r].nuts, (uint64_t)s);
    return failures > 0;
}
