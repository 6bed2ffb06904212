/* A-NICE-MC at its authors' settings: trained, then fresh chains, judged; beside what the paper prints for it.
 *     anice [only=NAME] [seeds=1] [iterations=0] [rate=0] [critic=0] [hidden=0] [velocities=0] [depth=0] [burn=0]
 *           [pair=0] [eta=0] [epoch=0] [discard=0] [curve=0] [seed=1] [judge=worst|mean] [save=FILE.ais]
 *           [checkpoint=FILE]
 *
 * One row per target and seed: seconds of the first bootstrap and of training, acceptance, the paper's mean-only Song
 * ESS per chain of 1000 draws in 2D and 5000 otherwise (wanted: the printed number), worst ESS (bulk, Song, error),
 * R-hat, largest error of a mode weight, fewest modes that one chain visited. 2D: 200 chains x 1000 draws; otherwise 50
 * x 5000; after 1000 steps from N(0, 1).
 *
 * curve=1 prints acceptance and both ESS, of x and of x and x^2, as shares of the draws, of every bootstrap;
 * bench/anice_curve.py draws them. checkpoint=FILE is renewed every minute; where it exists, training goes on from it,
 * with as many iterations as are wanted now, and with fewer than it has its best kernel is measured. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <aisampler/aisampler.h>

#include "arguments.h"

static const struct {
    const char *name;
    double printed; /* in the paper, for A-NICE-MC */
} rows[] = {{"mog2", 355},     {"mog6", 320},   {"ring", 1000},  {"ring5", 156},
            {"triangle", NAN}, {"heart", 1251}, {"german", 926}, {"australian", 1016}};

static double mode_error(const ais_diagnosis *diagnosis, const ais_target *target) {
    double worst = NAN;
    for (int m = 0; m < diagnosis->modes; m++)
        worst = fmax(worst, fabs(diagnosis->mode_share[m] - target->reference->mode_weight[m]));
    return worst;
}

static ais_status measure(ais_context *context, const char *name, double printed, const ais_target *target,
                          const ais_kernel *kernel, const ais_training *training, uint64_t seed) {
    bool plane = target->dim == 2;
    ais_sink *memory = NULL;
    ais_draws *taken = NULL;
    ais_diagnosis *diagnosis = NULL;
    ais_sample_result result;
    ais_sample_options options = {
        .seed = seed + 1000, .chains = plane ? 200 : 50, .warmup = 1000, .draws = plane ? 1000 : 5000, .threads = 1};
    ais_status status = ais_sink_memory(context, &memory);
    if (status == AIS_OK) status = ais_sample(context, target, kernel, &options, &memory, 1, &result);
    if (status == AIS_OK) taken = ais_sink_memory_take(memory);
    if (status == AIS_OK) status = ais_diagnose(context, taken, target, &diagnosis);
    if (status == AIS_OK)
        printf("%-10s %4d  %5.1f %6.1f  %5.3f  %6.0f %6.0f  %6.1f %6.1f %6.1f  %6.3f  %6.3f  %2d/%-2d  %6.2f\n", name,
               (int)seed, training->start_seconds, training->train_seconds, result.acceptance, printed,
               diagnosis->mean_ess_song, diagnosis->worst_ess, diagnosis->worst_ess_song, diagnosis->worst_ess_error,
               diagnosis->worst_rhat, mode_error(diagnosis, target), diagnosis->fewest_modes, diagnosis->modes,
               result.sample_seconds);
    ais_diagnosis_free(diagnosis);
    ais_draws_free(taken);
    ais_sink_free(memory);
    return status;
}

/* A line for every bootstrap, as it comes: its acceptance is new. */
static void print_bootstrap(const ais_train_progress *p, void *data) {
    double *last = data;
    long iterations = atol(text("iterations", "5000"));
    bool by_mean = strcmp(text("judge", "worst"), "mean") == 0;
    if (isnan(p->other_ess) || p->acceptance == *last) return;
    *last = p->acceptance;
    printf("    %6.0f after %7.1f s: critic %8.3f  kernel %8.3f  acceptance %.4f  ESS of x %.4f  of x and x^2 %.4f\n",
           p->share * (double)iterations, p->seconds, p->discriminator_loss, p->loss, p->acceptance,
           by_mean ? p->worst_ess : p->other_ess, by_mean ? p->other_ess : p->worst_ess);
    fflush(stdout);
}

static int train(const char *name, double printed, uint64_t seed) {
    ais_context context = {0};
    ais_target *target = NULL;
    ais_kernel *kernel = NULL;
    ais_training *training = NULL;
    double last = NAN;
    const char *checkpoint = text("checkpoint", NULL);
    ais_status status = ais_target_open(&context, name, &target);
    ais_anice_shape shape = {.dim = target ? target->dim : 0,
                             .velocities = atoi(text("velocities", "0")),
                             .hidden = atoi(text("hidden", "0")),
                             .depth = atoi(text("depth", "0"))};
    ais_anice_options options = {.seed = seed,
                                 .threads = 1,
                                 .shape = &shape,
                                 .iterations = atol(text("iterations", "0")),
                                 .critic = atoi(text("critic", "0")),
                                 .burn_in_steps = atoi(text("burn", "0")),
                                 .pair_steps = atoi(text("pair", "0")),
                                 .velocity_weight = number("eta", 0),
                                 .rate = number("rate", 0),
                                 .epoch = atoi(text("epoch", "0")),
                                 .discard = number("discard", 0),
                                 .checkpoint = checkpoint,
                                 .checkpoint_seconds = 60,
                                 .resume = checkpoint && access(checkpoint, R_OK) == 0,
                                 .mean_only = strcmp(text("judge", "worst"), "mean") == 0,
                                 .progress = number("curve", 0) > 0 ? print_bootstrap : NULL,
                                 .progress_data = &last};
    if (status == AIS_OK) status = ais_train_anice(&context, target, &options, &kernel, &training);
    if (status == AIS_OK) status = measure(&context, name, printed, target, kernel, training, seed);
    if (status == AIS_OK && text("save", NULL)) status = ais_kernel_save(&context, kernel, target, text("save", NULL));
    if (status != AIS_OK) printf("%-10s %4d  %s\n", name, (int)seed, context.message);
    fflush(stdout);
    ais_training_free(training);
    ais_kernel_free(kernel);
    ais_target_close(target);
    return status == AIS_OK;
}

int main(int count, char **argument) {
    words = count;
    word = argument;
    int seeds = atoi(text("seeds", "1")), first = atoi(text("seed", "1")), failures = 0;
    const char *only = text("only", NULL);
    printf("%-10s %4s  %5s %6s  %5s  %6s %6s  %6s %6s %6s  %6s  %6s  %5s  %6s\n", "target", "seed", "start", "train",
           "acc", "paper", "mean", "bulk", "Song", "error", "R-hat", "weight", "modes", "draw s");
    for (size_t r = 0; r < sizeof rows / sizeof *rows; r++)
        for (int s = first; s < first + seeds && (!only || strcmp(rows[r].name, only) == 0); s++)
            failures += !train(rows[r].name, rows[r].printed, (uint64_t)s);
    return failures > 0;
}
