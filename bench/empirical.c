/* Empirical mode, measured: a kernel is learned from exact draws of a built-in target, without its density, and what
 * it draws is compared with the truth.
 *     empirical [TARGET...]     (mog6 and triangle; seeds=N, draws=N, steps=N, objective=adversarial, realnvp: a poor
 *                               map, left to the discriminator)
 * One row per seed: seconds of training, acceptance, worst bulk ESS of 1000, the largest error of a mode's weight, and
 * total variation to the truth of as many draws of the chains ("learned"), of the map alone ("map", D = 0), and of
 * fresh exact draws ("exact": what the grid and the number of draws give by themselves); of the data likewise. Exits
 * with 1 when a mode's weight is off by more than 0.03. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <aisampler/aisampler.h>

#include "learned/learned.h"

enum { CHAINS = 50, DRAWS = 1000, ALL = CHAINS * DRAWS };

static int data_draws = 50000;
static bool realnvp;
static const char *objective;
static long steps;

typedef struct numbers {
    double acceptance, worst_ess, weight_error, variation;
} numbers;

static void check(ais_status status, const ais_context *context) {
    if (status == AIS_OK) return;
    fprintf(stderr, "empirical: %s\n", context->message);
    exit(1);
}

static void write_data(const ais_target *truth, uint64_t seed, const char *path) {
    FILE *file = fopen(path, "w");
    double x[64];
    for (int i = 0; i < truth->dim; i++) fprintf(file, "%sx.%d", i ? "," : "", i + 1);
    for (int k = 0; k < data_draws; k++) {
        truth->reference->draw(seed, (uint64_t)k, x, truth->data);
        for (int i = 0; i < truth->dim; i++) fprintf(file, "%s%.17g", i ? "," : "\n", x[i]);
    }
    fputc('\n', file);
    fclose(file);
}

static numbers compare(const ais_draws *draws, const ais_target *truth) {
    ais_context context = {0};
    ais_diagnosis *diagnosis;
    check(ais_diagnose(&context, draws, truth, &diagnosis), &context);
    numbers result = {
        .acceptance = diagnosis->acceptance,
        .worst_ess = diagnosis->worst_ess * 1000 / draws->draws,
        .variation = diagnosis->total_variation,
    };
    for (int k = 0; k < diagnosis->modes; k++)
        result.weight_error =
            fmax(result.weight_error, fabs(diagnosis->mode_share[k] - truth->reference->mode_weight[k]));
    ais_diagnosis_free(diagnosis);
    return result;
}

static numbers compare_exact(const ais_target *truth, uint64_t seed, int count) {
    ais_context context = {0};
    ais_draws *draws;
    double x[64];
    check(ais_draws_new(&context, truth->dim, 1, count, 0, &draws), &context);
    for (int k = 0; k < count; k++) {
        truth->reference->draw(seed, (uint64_t)k, x, truth->data);
        for (int i = 0; i < truth->dim; i++) draws->value[(size_t)i * (size_t)count + (size_t)k] = x[i];
    }
    numbers result = compare(draws, truth);
    ais_draws_free(draws);
    return result;
}

static numbers compare_sample(const ais_target *data, const ais_kernel *kernel, const ais_target *truth,
                              uint64_t seed) {
    ais_context context = {0};
    ais_sink *sink;
    check(ais_sink_memory(&context, &sink), &context);
    ais_sample_options options = {.seed = seed, .chains = CHAINS, .draws = DRAWS, .warmup = 100};
    check(ais_sample(&context, data, kernel, &options, &sink, 1, NULL), &context);
    ais_draws *draws = ais_sink_memory_take(sink);
    numbers result = compare(draws, truth);
    ais_draws_free(draws);
    ais_sink_free(sink);
    return result;
}

static double one_seed(const char *name, uint64_t seed) {
    ais_context context = {0};
    char path[] = "/tmp/aisampler-empirical-XXXXXX", spec[64];
    int file = mkstemp(path);
    if (file < 0) exit(1);
    ais_target *truth, *data;
    ais_kernel *kernel;
    ais_training *training;
    check(ais_target_open(&context, name, &truth), &context);
    write_data(truth, 1000 + seed, path);
    snprintf(spec, sizeof spec, "data:%s", path);
    check(ais_target_open(&context, spec, &data), &context);
    ais_shape poor = {.map = AIS_REALNVP, .reversal = AIS_SWAP, .dim = truth->dim, .activation = AIS_TANH};
    ais_train_options options = {.seed = seed, .shape = realnvp ? &poor : NULL, .objective = objective, .steps = steps};
    check(ais_train(&context, data, &options, &kernel, &training), &context);
    numbers learned = compare_sample(data, kernel, truth, seed);
    ais_ratio *ratio = &((ais_learned *)kernel)->ratio;
    memset(ratio->weights, 0, ratio->count * sizeof *ratio->weights);
    numbers map = compare_sample(data, kernel, truth, seed);
    numbers exact = compare_exact(truth, 5000 + seed, ALL), given = compare_exact(truth, 1000 + seed, data_draws);
    printf("%-9s %4d  %6.2f  %6.3f  %9.0f    %.4f  %.4f  %.4f  %.4f    %.4f  %.4f  %.4f  %.4f\n", name, (int)seed,
           training->train_seconds, learned.acceptance, learned.worst_ess, learned.weight_error, map.weight_error,
           given.weight_error, exact.weight_error, learned.variation, map.variation, given.variation, exact.variation);
    fflush(stdout);
    ais_training_free(training);
    ais_kernel_free(kernel);
    ais_target_close(data);
    ais_target_close(truth);
    remove(path);
    return learned.weight_error;
}

int main(int argc, char **argv) {
    const char *const usual[] = {"mog6", "triangle"};
    const char *names[16];
    int count = 0, seeds = 5;
    for (int i = 1; i < argc; i++) {
        if (strncmp(argv[i], "seeds=", 6) == 0)
            seeds = atoi(argv[i] + 6);
        else if (strncmp(argv[i], "draws=", 6) == 0)
            data_draws = atoi(argv[i] + 6);
        else if (strncmp(argv[i], "steps=", 6) == 0)
            steps = atol(argv[i] + 6);
        else if (strncmp(argv[i], "objective=", 10) == 0)
            objective = argv[i] + 10;
        else if (strcmp(argv[i], "realnvp") == 0)
            realnvp = true;
        else if (count < 16)
            names[count++] = argv[i];
    }
    if (count == 0)
        for (; count < 2; count++) names[count] = usual[count];
    printf("                                              largest error of a mode's weight    total variation\n"
           "target    seed seconds accept. worst ESS   learned     map    data   exact   learned     map    data   "
           "exact\n");
    double worst = 0;
    for (int k = 0; k < count; k++)
        for (int seed = 1; seed <= seeds; seed++) worst = fmax(worst, one_seed(names[k], (uint64_t)seed));
    if (worst > 0.03) printf("a mode's weight is off by %.4f, more than 0.03\n", worst);
    return worst > 0.03;
}
