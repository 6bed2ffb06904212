/* Exact draws of a target after many steps of a kernel, against what they should still be. */
#ifndef AIS_TESTS_INVARIANCE_H
#define AIS_TESTS_INVARIANCE_H

#include "support.h"

#include <aisampler/aisampler.h>

enum { STEPS = 50, BATCH = 50000 };

/* AIS_INVARIANCE_DRAWS exact draws per target and kernel; 10^6 is the full form. */
static int draws_wanted(void) {
    const char *text = getenv("AIS_INVARIANCE_DRAWS");
    return text ? atoi(text) : 100000;
}

static const char *const targets[] = {"mog2", "mog6", "ring", "ring5", "triangle", "gaussian:dim=2,cond=9", "banana"};
enum { TARGETS = sizeof targets / sizeof *targets };

typedef struct sums {
    double n, x[2], square[2], acceptance;
    double *mode;
} sums;

static void add_batch(sums *sum, const ais_target *target, const ais_kernel *kernel, int threads, int chains,
                      uint64_t seed) {
    ais_context context = {0};
    ais_sink *memory;
    ais_sample_result result;
    const ais_reference *truth = target->reference;
    double *start = malloc((size_t)chains * 2 * sizeof *start);
    for (int c = 0; c < chains; c++) truth->draw(seed, (uint64_t)c, start + 2 * (size_t)c, target->data);
    ais_sample_options options = {
        .seed = seed, .chains = chains, .draws = 1, .thin = STEPS, .start = start, .threads = threads};
    assert_ok(context, ais_sink_memory(&context, &memory));
    assert_ok(context, ais_sample(&context, target, kernel, &options, &memory, 1, &result));
    ais_draws *draws = ais_sink_memory_take(memory);
    for (int c = 0; c < chains; c++) {
        double x[2] = {draws->value[c], draws->value[chains + c]};
        for (int i = 0; i < 2; i++) sum->x[i] += x[i], sum->square[i] += x[i] * x[i];
        if (truth->modes) sum->mode[truth->mode(x, target->data)]++;
    }
    sum->n += chains;
    sum->acceptance += result.acceptance * chains;
    ais_draws_free(draws);
    ais_sink_free(memory);
    free(start);
}

/* The largest deviation of any moment or mode weight, in standard errors. */
static double worst_z(const ais_target *target, const ais_kernel *kernel, int threads, double *acceptance) {
    const ais_reference *truth = target->reference;
    double mode[32] = {0}, worst = 0;
    sums sum = {.mode = mode};
    int wanted = draws_wanted();
    for (int b = 0; b * BATCH < wanted; b++) {
        int left = wanted - b * BATCH;
        add_batch(&sum, target, kernel, threads, left < BATCH ? left : BATCH, (uint64_t)b + 2385);
    }
    for (int i = 0; i < 2; i++) {
        double z = (sum.x[i] / sum.n - truth->mean[i]) / sqrt(truth->variance[i] / sum.n);
        double z_square = (sum.square[i] / sum.n - truth->square_mean[i]) / sqrt(truth->square_variance[i] / sum.n);
        worst = fmax(worst, fmax(fabs(z), fabs(z_square)));
    }
    for (int m = 0; m < truth->modes; m++) {
        double w = truth->mode_weight[m];
        worst = fmax(worst, fabs(mode[m] / sum.n - w) / sqrt(w * (1 - w) / sum.n));
    }
    *acceptance = sum.acceptance / sum.n;
    return worst;
}

#endif
