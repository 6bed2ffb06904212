/* Training of flow kernels, measured: a research program.
 *     flow_training TARGET [key=value...]
 * keys: seeds (number of them), map (spline, realnvp), layers, hidden, depth, bins, marginal, w0, rate, first, last
 * (rates of first and last layers, as shares), beta2 (Adam's), batch, steps, share (of likelihood), second (pair,
 * path), sweeps, walks, per (steps per round), chains (population), scale (of the search), full (whitening: 0 sd, 1
 * principal axes, 2 governed), laplace (whitening by the only mode), fit (rounds of the pivot layer's), pivot, bound,
 * average, clip, mchains, mdraws (measuring). One row per seed: seconds of the start and of training, acceptance, worst
 * ESS as a share of the draws: bulk, Song, error; R-hat; log Z error of the start.
 *
 *     cc -O2 -D_DEFAULT_SOURCE -Iinclude -Isrc bench/flow_training.c -Lbuild -laisampler -lm \
 *        -Wl,-rpath,$PWD/build -o build/flow_training */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <aisampler/aisampler.h>

#include "trainer/flow_trainer.h"
#include "trainer/start.h"
#include "words.h"

static double cpu(void) { return (double)clock() / CLOCKS_PER_SEC; }

static bool show(void *data, const ais_flow_progress *p) {
    (void)data;
    if (number("verbose", 0) > 0)
        fprintf(stderr, "  %s %ld/%ld loss %.4f acceptance %.3f worst %.3f best %.3f rollbacks %d\n", p->stage, p->step,
                p->steps, p->loss, p->acceptance, p->worst_ess, p->best_ess, p->rollbacks);
    return true;
}

static int check(ais_status status, const ais_context *context) {
    if (status != AIS_OK) fprintf(stderr, "%s\n", context->message);
    return status == AIS_OK;
}

static void measure(const ais_target *target, const ais_kernel *kernel, const ais_population *population,
                    uint64_t seed) {
    ais_context context = {0};
    int chains = (int)number("mchains", target->dim == 2 ? 2000 : 50),
        draws = (int)number("mdraws", target->dim == 2 ? 1000 : 5000);
    double *start = malloc((size_t)chains * (size_t)target->dim * sizeof *start);
    for (int c = 0; c < chains; c++) ais_population_point(population, c % population->chains, start + c * target->dim);
    ais_sink *memory;
    ais_sample_result result;
    ais_diagnosis *diagnosis = NULL;
    ais_sample_options options = {
        .seed = seed + 1000, .chains = chains, .warmup = 1000, .draws = draws, .start = start};
    if (!check(ais_sink_memory(&context, &memory), &context)) return;
    if (check(ais_sample(&context, target, kernel, &options, &memory, 1, &result), &context)) {
        ais_draws *draws_taken = ais_sink_memory_take(memory);
        if (check(ais_diagnose(&context, draws_taken, target, &diagnosis), &context))
            printf("acc %.3f  bulk %.0f (%s)  Song %.0f  error %.0f  mean-Song %.0f  rhat %.4f  kl %.4f  steps/s %.3g",
                   result.acceptance, diagnosis->worst_ess, diagnosis->worst_ess_function, diagnosis->worst_ess_song,
                   diagnosis->worst_ess_error, diagnosis->mean_ess_song, diagnosis->worst_rhat, diagnosis->mode_kl,
                   (double)chains * draws / result.sample_seconds);
        ais_diagnosis_free(diagnosis);
        ais_draws_free(draws_taken);
    }
    ais_sink_free(memory);
    free(start);
}

static void train(const ais_target *target, ais_pool *pool, uint64_t seed) {
    ais_context context = {0};
    ais_start *start = NULL;
    ais_population *population = NULL;
    ais_kernel *kernel = NULL;
    double t0 = now();
    int chains = (int)number("chains", 512);
    ais_start_options cold = {.seed = seed, .pool = pool, .population = chains, .scale = number("scale", 0)};
    if (!check(ais_cold_start(&context, target, &cold, &start), &context)) return;
    double t1 = now(), c1 = cpu();
    bool two = target->dim == 2;
    ais_shape shape = {.map = strcmp(text("map", "spline"), "spline") == 0 ? AIS_SPLINE : AIS_REALNVP,
                       .reversal = AIS_SWAP,
                       .dim = target->dim,
                       .layers = (int)number("layers", 2),
                       .hidden = (int)number("hidden", 32),
                       .depth = (int)number("depth", 1),
                       .bins = (int)number("bins", two ? 24 : 8),
                       .marginal_bins = (int)number("marginal", two ? 0 : 24),
                       .bound = number("bound", 4),
                       .pivot = number("pivot", 0) > 0,
                       .permutation = seed,
                       .activation = AIS_TANH};
    ais_flow_plan plan = {.steps = (long)number("steps", 800),
                          .rate = number("rate", 1e-2),
                          .first_rate = number("first", 0),
                          .last_rate = number("last", 0),
                          .beta2 = number("beta2", 0),
                          .likelihood_share = number("share", 0.5),
                          .second = strcmp(text("second", "pair"), "path") == 0 ? AIS_FLOW_PATH : AIS_FLOW_PAIR,
                          .batch = (int)number("batch", 128),
                          .steps_per_round = (long)number("per", 20),
                          .sweeps = (int)number("sweeps", 8),
                          .walks = (int)number("walks", 1),
                          .average = number("average", 0),
                          .clip = number("clip", 0),
                          .checks = (int)number("checks", 2),
                          .check_chains = 64,
                          .check_draws = 200,
                          .progress = show};
    ais_flow_result result = {0};
    if (check(ais_population_new(&context, pool, target, seed, chains, start->x, &population), &context) &&
        check(ais_kernel_learned(&context, &shape, seed, &kernel), &context)) {
        ais_population_scale_walk(population);
        ais_flow_spread(kernel, seed, number("w0", 2));
        bool laplace = number("laplace", !two) > 0 && start->modes == 1 && start->trusted;
        int kind = (int)number("full", !two);
        if (check(laplace ? ais_kernel_whiten(&context, kernel, start->mode_mean, start->mode_factor)
                          : ais_flow_whiten(&context, kernel, population, (ais_whitening_kind)kind),
                  &context) &&
            check(ais_flow_settle(&context, kernel, population, (int)number("fit", 0)), &context) &&
            check(ais_flow_train(&context, kernel, population, seed, &plan, &result), &context)) {
            double t2 = now();
            printf(
                "%-10s seed %d  start %.2f s (modes %d%s, log Z %+.3f)  train %.2f s (cpu %.2f, %d rollbacks)  fresh "
                "%.3f  ",
                target->name, (int)seed, t1 - t0, start->separate, start->annealed ? ", annealed" : "",
                start->log_z - (target->reference ? target->reference->log_z : 0), t2 - t1, cpu() - c1,
                result.rollbacks, result.worst_ess);
            measure(target, kernel, population, seed);
            printf("\n");
            fflush(stdout);
        }
    }
    ais_kernel_free(kernel);
    ais_population_free(population);
    ais_start_free(start);
}

int main(int count, char **argument) {
    words = count;
    word = argument;
    ais_context context = {0};
    ais_target *target;
    ais_pool *pool;
    if (count < 2 || !check(ais_target_open(&context, argument[1], &target), &context) ||
        !check(ais_pool_new(&context, (int)number("threads", 0), &pool), &context))
        return 1;
    for (int s = 1; s <= (int)number("seeds", 1); s++) train(target, pool, (uint64_t)s);
    ais_pool_free(pool);
    ais_target_close(target);
    return 0;
}
