/* The table of the learning issue: default training from a cold start, then fresh chains, judged.
 *     learning_table [first=1] [seeds=5] [only=NAME] [kernel=default|henon|paper] [threads=0] [objective=...]
 * One row per target and seed: seconds of start and training, acceptance, worst ESS (bulk, Song, error; per chain of
 * 1000 draws in 2D, of 5000 otherwise), the paper's mean-only Song ESS, R-hat, largest error of a mode weight, of
 * log Z, fewest modes that one chain visited. 2D: 2,000 chains x 1000 draws; otherwise 50 x 5000; after 200 steps. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <aisampler/aisampler.h>

#include "words.h"

static const struct {
    const char *name, *spec;
    double scale; /* of the search region; 0: the target's */
} rows[] = {
    {"mog2", "mog2", 0},
    {"mog6", "mog6", 0},
    {"triangle", "triangle", 0},
    {"ring", "ring", 0},
    {"ring5", "ring5", 0},
    {"heart", "heart", 0},
    {"german", "german", 0},
    {"australian", "australian", 0},
    {"two modes d=2", "twomodes:dim=2", 10},
    {"two modes d=8", "twomodes:dim=8", 10},
    {"two modes d=16", "twomodes:dim=16", 10},
    {"gaussian d=50", "gaussian:dim=50,cond=1e4", 0},
    {"banana", "banana", 0},
    {"funnel d=10", "funnel:dim=10", 0},
};

static double mode_error(const ais_diagnosis *diagnosis, const ais_target *target) {
    double worst = NAN;
    for (int m = 0; m < diagnosis->modes; m++)
        worst = fmax(worst, fabs(diagnosis->mode_share[m] - target->reference->mode_weight[m]));
    return worst;
}

static int measure(ais_context *context, const char *name, const ais_target *target, const ais_kernel *kernel,
                   const ais_training *training, uint64_t seed) {
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
    if (status == AIS_OK)
        printf("%-15s %4d  %5.2f %6.2f  %5.3f  %5.0f %5.0f %5.0f %5.0f  %6.4f  %6.4f  %+7.4f  %2d/%-2d  %8.3g  %s\n",
               name, (int)seed, training->start_seconds, training->train_seconds, result.acceptance,
               diagnosis->worst_ess, diagnosis->worst_ess_song, diagnosis->worst_ess_error, diagnosis->mean_ess_song,
               diagnosis->worst_rhat, mode_error(diagnosis, target),
               training->log_z - (target->reference ? target->reference->log_z : NAN), diagnosis->fewest_modes,
               diagnosis->modes, diagnosis->worst_ess * chains / result.sample_seconds, ais_kernel_name(kernel));
    fflush(stdout);
    ais_diagnosis_free(diagnosis);
    ais_draws_free(taken);
    ais_sink_free(memory);
    free(start);
    return status == AIS_OK;
}

static int train(const char *name, const char *spec, double scale, uint64_t seed) {
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
                                 .shape = strcmp(kind, "henon") == 0 ? &henon : NULL};
    good = good && ais_train(&context, seen, &options, &kernel, &training) == AIS_OK &&
           measure(&context, name, target, kernel, training, seed);
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
    printf("%-15s %4s  %5s %6s  %5s  %5s %5s %5s %5s  %6s  %6s  %7s  %5s  %8s\n", "target", "seed", "start", "train",
           "acc", "bulk", "Song", "error", "mean", "R-hat", "weight", "log Z", "modes", "ESS/s");
    for (size_t r = 0; r < sizeof rows / sizeof *rows; r++)
        for (int s = first; s <= seeds && (!only || strstr(rows[r].name, only)); s++)
            failures += !train(rows[r].name, rows[r].spec, rows[r].scale, (uint64_t)s);
    return failures > 0;
}
