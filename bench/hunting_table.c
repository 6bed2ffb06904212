/* Modes that nobody points at, through all of what `aisampler run` does: cold start, training, drawing, judging.
 *     hunting_table [seeds=10] [first=1] [only=NAME] [threads=0] [chains=16] [draws=1000] [seconds=30] [all=0]
 * Directions and places of the modes come from the seed. One row per target and seed: seconds of start and training,
 * modes found by the start (and of how many), acceptance, bulk worst ESS (per chain), R-hat, largest error of a mode's
 * weight, the largest such error in units of its Monte-Carlo error, error of log Z, fewest modes that one chain
 * visited, the exit code that run gives to a user who does not know the modes, kernel, and the start's warning. After
 * every target: how many seeds have all modes in the draws with weights within what is allowed. all=1 adds the rows
 * that are out of reach. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <aisampler/aisampler.h>

#include "../tests/support/normal_mixture.h"
#include "arguments.h"

enum { TWO, GRID, FORTY };
static const struct row {
    const char *name;
    int kind, dim;
    double narrow; /* sd of the narrower mode; the wider has 0.5 */
    double scale, allowed;
    int hopeless;
} rows[] = {
    {"unequal d=2", TWO, 2, 0.25, 10, 0.02, 0},    {"unequal d=8", TWO, 8, 0.25, 10, 0.02, 0},
    {"unequal d=16", TWO, 16, 0.25, 10, 0.02, 0},  {"grid of 25", GRID, 2, 0, 10, 0.02, 0},
    {"40 modes", FORTY, 2, 0, 40, 0.02, 0},        {"ratio 4 d=8", TWO, 8, 0.125, 10, 0.02, 1},
    {"ratio 4 d=16", TWO, 16, 0.125, 10, 0.02, 1},
};

static normal_mixture mixture;

static ais_target make_target(const struct row *row, uint64_t seed) {
    if (row->kind == TWO) two_apart(&mixture, row->dim, seed + 17, 0.5, row->narrow, 0.3);
    if (row->kind == GRID) grid_of_modes(&mixture);
    if (row->kind == FORTY) forty_modes(&mixture, seed + 17);
    return normal_mixture_target(&mixture, row->name);
}

/* ---- judging ------------------------------------------------------------------------------------- */

typedef struct outcome {
    int found;           /* modes that got at least a tenth of their due */
    double error, units; /* largest error of a weight; the same in Monte-Carlo errors */
} outcome;

static outcome judge_weights(const ais_draws *draws, const ais_target *target, const ais_diagnosis *diagnosis) {
    const ais_reference *truth = target->reference;
    size_t total = (size_t)draws->chains * (size_t)draws->draws;
    double *inside = malloc(total * sizeof *inside), x[MIXTURE_MOST_DIM];
    outcome to = {0};
    for (int k = 0; inside && k < truth->modes; k++) {
        for (size_t t = 0; t < total; t++) {
            for (int i = 0; i < draws->dim; i++) x[i] = draws->value[(size_t)i * total + t];
            inside[t] = truth->mode(x, target->data) == k;
        }
        double weight = truth->mode_weight[k], ess = ais_ess_mean(inside, draws->chains, draws->draws);
        double error = fabs(diagnosis->mode_share[k] - weight);
        to.found += diagnosis->mode_share[k] > 0.1 * weight;
        to.error = fmax(to.error, error);
        to.units = fmax(to.units, error / sqrt(weight * (1 - weight) / ess));
    }
    free(inside);
    return to;
}

/* ---- one run ------------------------------------------------------------------------------------- */

/* As run does: a better classical kernel takes turns with the learned one. */
static ais_status join_rival(ais_context *context, const ais_training *training, ais_kernel **kernel, int *warmup) {
    if (!(training->rival_ess_per_second > training->ess_per_second)) return AIS_OK;
    ais_kernel *part[2] = {*kernel, NULL};
    ais_status status = strcmp(training->rival, "nuts") == 0 ? ais_kernel_nuts(context, NULL, &part[1])
                                                             : ais_kernel_rwm(context, NULL, &part[1]);
    if (status != AIS_OK) return status;
    *kernel = NULL;
    *warmup = 500;
    return ais_kernel_cycle(context, part, 2, kernel);
}

static ais_status draw(ais_context *context, const ais_target *target, const ais_kernel *kernel,
                       const ais_training *training, uint64_t seed, int warmup, ais_sample_result *result,
                       ais_draws **draws) {
    int chains = atoi(text("chains", "16"));
    size_t dim = (size_t)target->dim;
    double *start = malloc((size_t)chains * dim * sizeof *start);
    for (size_t c = 0; c < (size_t)chains; c++)
        memcpy(start + c * dim, training->x + c * (size_t)training->count / (size_t)chains * dim, dim * sizeof *start);
    ais_sample_options options = {.seed = seed,
                                  .chains = chains,
                                  .warmup = warmup,
                                  .draws = atoi(text("draws", "1000")),
                                  .threads = atoi(text("threads", "0")),
                                  .start = start};
    ais_sink *memory = NULL;
    ais_status status = ais_sink_memory(context, &memory);
    if (status == AIS_OK) status = ais_sample(context, target, kernel, &options, &memory, 1, result);
    if (status == AIS_OK) *draws = ais_sink_memory_take(memory);
    ais_sink_free(memory);
    free(start);
    return status;
}

/* 1 when all modes are in the draws with their weights. */
static int run(const struct row *row, uint64_t seed) {
    ais_context context = {0};
    ais_target target = make_target(row, seed);
    ais_kernel *kernel = NULL;
    ais_training *training = NULL;
    ais_draws *draws = NULL;
    ais_diagnosis *diagnosis = NULL, *blind = NULL; /* knowing the truth, and as for a target of one's own */
    ais_sample_result result;
    outcome got = {0};
    int warmup = 100;
    ais_train_options options = {
        .seed = seed, .scale = row->scale, .threads = atoi(text("threads", "0")), .seconds = number("seconds", 0)};
    ais_status status = ais_train(&context, &target, &options, &kernel, &training);
    if (status == AIS_OK) status = join_rival(&context, training, &kernel, &warmup);
    if (status == AIS_OK) status = draw(&context, &target, kernel, training, seed, warmup, &result, &draws);
    if (status == AIS_OK) status = ais_diagnose(&context, draws, &target, &diagnosis);
    if (status == AIS_OK) status = ais_diagnose(&context, draws, NULL, &blind);
    if (status == AIS_OK) {
        got = judge_weights(draws, &target, diagnosis);
        int trusted = !blind->warnings && !training->warning[0];
        printf("%-13s %3d  %5.2f %6.2f  %2d  %2d/%-2d  %5.3f  %4.0f  %6.4f  %6.4f  %4.1f  %+7.4f  %2d  %d  %s%s%s\n",
               row->name, (int)seed, training->start_seconds, training->train_seconds, training->modes, got.found,
               mixture.count, result.acceptance, diagnosis->worst_ess, diagnosis->worst_rhat, got.error, got.units,
               training->log_z, diagnosis->fewest_modes, trusted ? 0 : 3, ais_kernel_name(kernel),
               training->warning[0] ? "; " : "", training->warning);
    } else {
        printf("%-13s %3d  %s\n", row->name, (int)seed, context.message);
    }
    fflush(stdout);
    ais_diagnosis_free(diagnosis);
    ais_diagnosis_free(blind);
    ais_draws_free(draws);
    ais_training_free(training);
    ais_kernel_free(kernel);
    return status == AIS_OK && got.found == mixture.count && got.error <= row->allowed;
}

int main(int count, char **argument) {
    words = count;
    word = argument;
    int seeds = atoi(text("seeds", "10")), first = atoi(text("first", "1")), all = atoi(text("all", "0")), bad = 0;
    const char *only = text("only", NULL);
    printf("%-13s %3s  %5s %6s  %2s  %5s  %5s  %4s  %6s  %6s  %4s  %7s  %2s  %s\n", "target", "seed", "start", "train",
           "hm", "found", "acc", "bulk", "R-hat", "weight", "unit", "log Z", "fm", "exit, kernel, warning");
    for (size_t r = 0; r < sizeof rows / sizeof *rows; r++) {
        if (only ? !strstr(rows[r].name, only) : rows[r].hopeless && !all) continue;
        int good = 0;
        for (int s = first; s < first + seeds; s++) good += run(&rows[r], (uint64_t)s);
        printf("%-13s all modes with weights within %.2f: %d of %d seeds\n", rows[r].name, rows[r].allowed, good,
               seeds);
        bad += !rows[r].hopeless && 10 * good < 9 * seeds;
    }
    return bad > 0;
}
