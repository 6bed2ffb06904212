/* Training of henon kernels, measured.
 *     henon_training TARGETS [key=value...]
 * TARGETS: names joined by commas. keys: stages (letters: l likelihood, e exact, d exact by differences of the
 * density, a adversarial, p the paper's), seeds (a-b), layers, hidden, depth, act (relu, tanh), swap, chains,
 * spread, last, whiten (0 no, 1 mean and scale, 2 scale, 3 full), measured (chains, 2000), and the fields of a stage
 * as letter.field (l.steps=1000 d.rate=1e-3). The start is the cold start of the library. Prints one row per target,
 * seed and stage: seconds of training so far, acceptance, worst Song and worst error ESS of 1000 over x, x^2 and mode
 * indicators, 2,000 chains x 1000 draws after 1000, and the mean-only Song ESS.
 *
 *     cc -O2 -D_DEFAULT_SOURCE -Iinclude -Isrc bench/henon_training.c -Lbuild -laisampler -lm \
 *        -Wl,-rpath,$PWD/build -o build/henon_training */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <aisampler/diagnostics.h>

#include "arguments.h"
#include "fit/flow_start.h"
#include "fit/henon_trainer.h"
#include "look/start.h"

enum { CHAINS = 2000, BURN = 1000, DRAWS = 1000, MOST_MODES = 64 };

/* ---- measuring --------------------------------------------------------------------------------- */

typedef struct measure {
    const ais_target *target;
    const ais_kernel *kernel;
    const ais_population *population;
    uint64_t seed;
    int chains, blocks;
    float *x; /* dim x chains x draws */
    double *acceptance;
} measure;

static void run_block(void *data, int b) {
    const measure *this = data;
    int dim = this->target->dim;
    ais_context context = {0};
    ais_state *state = NULL;
    ais_info info[AIS_BLOCK];
    void *own;
    double *start = malloc(sizeof *start * (size_t)(AIS_BLOCK * dim));
    for (int c = 0; c < AIS_BLOCK; c++)
        ais_population_point(this->population, (b * AIS_BLOCK + c) % this->population->chains, start + c * dim);
    ais_status status =
        ais_state_new(&context, this->target, this->seed, (uint32_t)(b * AIS_BLOCK), AIS_BLOCK, 0, start, &state);
    if (status == AIS_OK) status = this->kernel->type->init(&context, this->kernel, state, &own);
    for (int t = 0; status == AIS_OK && t < BURN + DRAWS; t++, state->step++) {
        status = this->kernel->type->step(&context, this->kernel, state, own, info);
        if (t < BURN) continue;
        for (int c = 0; c < AIS_BLOCK; c++) {
            this->acceptance[b] += info[c].accept_stat;
            for (int i = 0; i < dim; i++)
                this->x[((size_t)i * (size_t)this->chains + (size_t)(b * AIS_BLOCK + c)) * DRAWS + (size_t)(t - BURN)] =
                    (float)state->x[i * AIS_BLOCK + c];
        }
    }
    if (status != AIS_OK) fprintf(stderr, "%s\n", context.message);
    ais_state_free(state);
    free(start);
}

typedef struct result {
    double song, error, mean_song, acceptance, mode_miss;
    char what[32];
} result;

static void judge(const measure *this, double *f, double mean, double variance, const char *what, int which,
                  bool mean_only, result *r) {
    double song = 0, error = ais_ess_error(f, this->chains, DRAWS, mean, variance);
    for (int c = 0; c < 100; c++) song += ais_ess_song(f + (size_t)c * DRAWS, DRAWS, mean, variance, 0.05) / 100;
    if (number("verbose", 0) > 0)
        printf("      %s%d: song %.0f error %.0f bulk %.0f\n", what, which + 1, song, error,
               ais_ess_bulk(f, 128, DRAWS) / 128);
    if (song < r->song) r->song = song;
    if (mean_only && song < r->mean_song) r->mean_song = song;
    if (error < r->error) {
        r->error = error;
        snprintf(r->what, sizeof r->what, "%s%d", what, which + 1);
    }
}

static result evaluate(const ais_target *target, const ais_kernel *kernel, const ais_population *population,
                       uint64_t seed) {
    int dim = target->dim, blocks = ((int)number("measured", CHAINS) + AIS_BLOCK - 1) / AIS_BLOCK;
    measure this = {.target = target, .kernel = kernel, .population = population, .seed = seed};
    this.blocks = blocks;
    this.chains = blocks * AIS_BLOCK;
    size_t size = (size_t)this.chains * DRAWS;
    this.x = malloc(size * (size_t)dim * sizeof *this.x);
    this.acceptance = calloc((size_t)blocks, sizeof *this.acceptance);
    double *f = malloc(size * sizeof *f);
    result r = {.song = INFINITY, .error = INFINITY, .mean_song = INFINITY};
    ais_pool_run(population->pool, blocks, run_block, &this);
    for (int b = 0; b < blocks; b++) r.acceptance += this.acceptance[b] / (double)size;
    const ais_reference *reference = target->reference;
    for (int i = 0; i < dim; i++)
        for (int power = 1; power <= 2; power++) {
            for (size_t k = 0; k < size; k++) {
                double x = (double)this.x[(size_t)i * size + k];
                f[k] = power == 1 ? x : x * x;
            }
            judge(&this, f, power == 1 ? reference->mean[i] : reference->square_mean[i],
                  power == 1 ? reference->variance[i] : reference->square_variance[i], power == 1 ? "x" : "sq", i,
                  power == 1, &r);
        }
    for (int m = 0; m < reference->modes; m++) {
        double weight = reference->mode_weight[m], point[64], share = 0;
        for (size_t k = 0; k < size; k++) {
            for (int i = 0; i < dim; i++) point[i] = (double)this.x[(size_t)i * size + k];
            f[k] = reference->mode(point, target->data) == m;
            share += f[k] / (double)size;
        }
        r.mode_miss = fmax(r.mode_miss, fabs(share - weight));
        judge(&this, f, weight, weight * (1 - weight), "mode", m, false, &r);
    }
    free(this.x);
    free(this.acceptance);
    free(f);
    return r;
}

/* ---- training ---------------------------------------------------------------------------------- */

static void show(void *data, const ais_loop_progress *p) {
    (void)data;
    if (number("verbose", 0) > 0)
        printf("    %-12s %6ld  loss %8.4f  d %7.4f  acc %.3f  ess %.3f  best %.3f  rollbacks %d\n", p->stage, p->step,
               p->loss, p->other_loss, p->acceptance, p->score, p->best_score, p->rollbacks);
}

static ais_henon_stage stage_of(char letter, int dim) {
    ais_henon_stage stage = letter == 'p' ? ais_henon_stage_paper(dim, false)
                                          : ais_henon_stage_default(letter == 'l'   ? AIS_LIKELIHOOD
                                                                    : letter == 'a' ? AIS_ADVERSARIAL
                                                                                    : AIS_EXACT);
    char key[32];
#define TAKE_AS(name, field)                                                                                           \
    snprintf(key, sizeof key, "%c.%s", letter, name);                                                                  \
    stage.field = number(key, (double)stage.field)
#define TAKE(field) TAKE_AS(#field, field)
    TAKE_AS("steps", recipe.steps);
    TAKE_AS("rate", recipe.pace.rate);
    TAKE_AS("final_share", recipe.pace.final_share);
    TAKE_AS("clip", recipe.pace.clip);
    TAKE_AS("average", recipe.pace.average);
    TAKE_AS("batch", recipe.batch);
    TAKE(walks);
    TAKE(mixing);
    TAKE(mixing_weight);
    TAKE(waves);
    TAKE(ripples);
    TAKE(likelihood);
    TAKE(hidden);
    TAKE(depth);
    TAKE(tanh);
    TAKE(exact);
    TAKE(form);
    TAKE(loss);
    TAKE_AS("discriminator_rate", recipe.helper.rate);
    TAKE_AS("first_steps", recipe.helper_first);
    TAKE_AS("discriminator_steps", recipe.helper_turns);
    TAKE_AS("check_every", recipe.judge_every);
    TAKE_AS("check_chains", recipe.judge_chains);
    TAKE_AS("check_draws", recipe.judge_draws);
#undef TAKE
#undef TAKE_AS
    stage.differences = letter == 'd';
    return stage;
}

static ais_status train(ais_context *context, ais_pool *pool, const char *name, uint64_t seed) {
    ais_target *target = NULL;
    ais_kernel *kernel = NULL;
    ais_population *population = NULL;
    ais_henon_trainer *trainer = NULL;
    const char *stages = text("stages", "la");
    bool paper = strchr(stages, 'p') != NULL;
    ais_status status = ais_target_open(context, name, &target);
    if (status != AIS_OK) return status;
    ais_shape shape = {.map = AIS_HENON,
                       .reversal = number("swap", 0) > 0 ? AIS_SWAP : AIS_FLIP,
                       .dim = target->dim,
                       .layers = (int)number("layers", paper ? 5 : 12),
                       .hidden = (int)number("hidden", 32),
                       .depth = (int)number("depth", 1),
                       .activation = number("relu", paper) > 0 ? AIS_RELU : AIS_TANH};
    double start = now();
    ais_start *cold = NULL;
    int chains = (int)number("chains", 1024);
    status =
        ais_cold_start(context, target, &(ais_start_options){.seed = seed, .population = chains, .pool = pool}, &cold);
    if (status == AIS_OK) status = ais_population_new(context, pool, target, seed, chains, cold->x, &population);
    ais_start_free(cold);
    if (status == AIS_OK) ais_population_scale_walk(population);
    if (status == AIS_OK) status = ais_kernel_learned(context, &shape, seed, &kernel);
    double whiten = number("whiten", 1);
    if (status == AIS_OK && whiten == 3) status = ais_flow_whiten(context, kernel, population, AIS_WHITEN_FULL);
    if (status == AIS_OK && whiten > 0 && whiten < 3)
        status = ais_henon_whiten(context, kernel, population, whiten == 1);
    if (status == AIS_OK && number("spread", !paper) > 0) ais_henon_spread(kernel, seed);
    if (status == AIS_OK) ais_henon_scale_last(kernel, number("last", 1));
    if (status == AIS_OK) status = ais_henon_trainer_new(context, kernel, population, seed, &trainer);
    double seconds = now() - start;
    for (const char *s = stages; status == AIS_OK && *s; s++) {
        ais_henon_stage stage = stage_of(*s, target->dim);
        start = now();
        status = ais_henon_train(context, trainer, &stage, &(ais_watch){.progress = show});
        seconds += now() - start;
        if (status != AIS_OK || (number("every", 1) == 0 && s[1])) continue;
        result r = evaluate(target, kernel, population, seed + 1000);
        printf("| %-8s | %d | %-5s %c | %5.1f | %.3f | %4.0f | **%4.0f** %-6s | %4.0f | %.3f |\n", name, (int)seed,
               text("tag", stages), *s, seconds, r.acceptance, r.song, r.error, r.what, r.mean_song, r.mode_miss);
        fflush(stdout);
    }
    ais_henon_trainer_free(trainer);
    ais_population_free(population);
    ais_kernel_free(kernel);
    ais_target_close(target);
    return status;
}

int main(int count, char **argument) {
    if (count < 2) {
        fprintf(stderr, "usage: henon_training TARGETS [key=value...]\n");
        return 2;
    }
    words = count - 1;
    word = argument + 1;
    ais_context context = {0};
    ais_pool *pool = NULL;
    int first = 1, last = 1;
    sscanf(text("seeds", "1-1"), "%d-%d", &first, &last);
    ais_status status = ais_pool_new(&context, (int)number("threads", 0), &pool);
    char names[256];
    snprintf(names, sizeof names, "%s", argument[1]);
    for (char *name = strtok(names, ","); name && status == AIS_OK; name = strtok(NULL, ","))
        for (int seed = first; seed <= last && status == AIS_OK; seed++)
            status = train(&context, pool, name, (uint64_t)seed);
    if (status != AIS_OK) fprintf(stderr, "henon_training: %s\n", context.message);
    ais_pool_free(pool);
    return status != AIS_OK;
}
