/* Learning from nothing but the density: maps on x alone in rounds (map_learning.h), henon kernels from a population
 * that they move themselves. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <aisampler/trainer.h>

#include "base/clock.h"
#include "fit/flow_start.h"
#include "judge/henon_judge.h"
#include "judge/short_run.h"
#include "look/start.h"
#include "trainer/empirical.h"
#include "trainer/learned_discriminator.h"
#include "trainer/map_learning.h"
#include "trainer/rival.h"
#include "trainer/training_run.h"

enum { DEFAULT_POPULATION = 512, HENON_POPULATION = 1024, PAPER_POPULATION = 4096 };
static const double rivals_below = 0.7; /* worst ESS */
/* Below this there is a second attempt at a henon kernel: chains leave some part of the space too seldom
 * (docs/notebook/henon.md). */
static const double henon_enough = 0.35;

static bool is_henon(const ais_train_options *options) {
    return options->paper || (options->shape && options->shape->map == AIS_HENON);
}

/* Whether an option was set that a ladder does not use. */
static bool of_maps(const ais_train_options *options) {
    return options->shape || options->objective || options->rlogr || options->paper || options->steps ||
           options->rate != 0 || options->population || options->method != AIS_START_SEARCH;
}

/* ---- start --------------------------------------------------------------------------------------- */

static ais_status take_draws(ais_context *context, ais_training_run *this, const ais_draws *draws, int wanted) {
    ais_training *training = this->training;
    if (draws->dim != this->target->dim)
        return ais_fail(context, AIS_BAD_ARGUMENT,
                        "the draws to start from have %d parameters, but %s has dimension %d", draws->dim,
                        this->target->name, this->target->dim);
    size_t total = (size_t)draws->chains * (size_t)draws->draws;
    for (int k = 0; k < wanted; k++) {
        size_t member = (size_t)k * total / (size_t)wanted;
        for (int i = 0; i < draws->dim; i++)
            training->x[(size_t)k * (size_t)draws->dim + (size_t)i] = draws->value[(size_t)i * total + member];
    }
    snprintf(training->sentence, sizeof training->sentence,
             "training started from %zu given draws: modes that they lack will be missed", total);
    training->log_z = training->log_z_error = NAN;
    training->trusted = true;
    return AIS_OK;
}

static ais_status search(ais_context *context, ais_training_run *this, int wanted) {
    ais_start *start;
    const ais_train_options *options = this->options;
    ais_start_options cold = {.seed = options->seed,
                              .scale = options->scale,
                              .population = wanted,
                              .screen = options->screen,
                              .anneal = options->method == AIS_START_ANNEAL,
                              .pool = this->pool,
                              .stop = options->ranks ? NULL : options->stop, /* ranks stop together, later */
                              .progress = ais_training_run_start_progress,
                              .progress_data = this};
    ais_status status = ais_cold_start(context, this->target, &cold, &start);
    if (status != AIS_OK) return status;
    ais_training *training = this->training;
    for (int k = 0; k < wanted; k++)
        memcpy(training->x + (size_t)k * (size_t)start->dim, start->x + (size_t)(k % start->count) * (size_t)start->dim,
               (size_t)start->dim * sizeof(double));
    training->log_z = start->log_z;
    training->log_z_error = start->log_z_error;
    training->modes = start->separate;
    training->trusted = start->trusted;
    training->densities = start->densities;
    training->gradients = start->gradients;
    training->start_evaluations = start->densities + start->gradients;
    memcpy(training->sentence, start->sentence, sizeof training->sentence);
    memcpy(training->warning, start->warning, sizeof training->warning);
    ais_start_free(start);
    return AIS_OK;
}

static ais_status start_with_nuts(ais_context *context, ais_training_run *this, int wanted) {
    enum { CHAINS = 8, WARMUP = 500 };
    int draws = (wanted + CHAINS - 1) / CHAINS;
    size_t dim = (size_t)this->target->dim, size = (size_t)CHAINS * (size_t)draws;
    ais_training *training = this->training;
    ais_kernel *nuts;
    ais_short_run run = {.chains = CHAINS, .warmup = WARMUP, .draws = draws, .seed = this->options->seed};
    ais_status status = ais_kernel_nuts(context, NULL, &nuts);
    if (status != AIS_OK) return status;
    run.x = malloc(dim * size * sizeof *run.x);
    status = run.x ? ais_short_run_go(context, this->target, nuts, this->pool, &run)
                   : ais_fail_memory(context, "draws of NUTS", dim * size * sizeof *run.x);
    for (size_t k = 0; status == AIS_OK && k < (size_t)wanted; k++)
        for (size_t i = 0; i < dim; i++) training->x[k * dim + i] = run.x[i * size + k];
    free(run.x);
    ais_kernel_free(nuts);
    training->log_z = training->log_z_error = NAN;
    training->trusted = true;
    snprintf(training->sentence, sizeof training->sentence,
             "training started from %d chains of NUTS: modes that they did not find will be missed", CHAINS);
    return status;
}

/* Room for points to start from and for the curve. */
static ais_status take_record(ais_context *context, ais_training_run *this) {
    const ais_train_options *options = this->options;
    int usual = options->paper ? PAPER_POPULATION : is_henon(options) ? HENON_POPULATION : DEFAULT_POPULATION;
    int wanted = options->population > 0 ? options->population : usual, dim = this->target->dim;
    ais_training *training = this->training;
    training->dim = dim;
    training->count = wanted;
    training->x = malloc((size_t)wanted * (size_t)dim * sizeof(double));
    training->point = malloc(AIS_MOST_POINTS * sizeof *training->point);
    if (!training->x || !training->point)
        return ais_fail_memory(context, "a population", (size_t)wanted * (size_t)dim * sizeof(double));
    return AIS_OK;
}

static ais_status begin(ais_context *context, ais_training_run *this) {
    const ais_train_options *options = this->options;
    ais_training *training = this->training;
    int wanted = training->count;
    bool resumed;
    ais_status status =
        ais_checkpoint_enter(context, this->checkpoint, "training", ais_training_run_exchange, this, &resumed);
    if (status == AIS_OK && !resumed) {
        status = options->method == AIS_START_DRAWS  ? take_draws(context, this, options->start, wanted)
                 : options->method == AIS_START_NUTS ? start_with_nuts(context, this, wanted)
                                                     : search(context, this, wanted);
        training->start_seconds = ais_now() - this->began;
    }
    if (status != AIS_OK) return status;
    status =
        ais_population_new(context, this->pool, this->target, options->seed, wanted, training->x, &this->population);
    if (status == AIS_OK) ais_population_scale_walk(this->population);
    return status;
}

/* ---- henon --------------------------------------------------------------------------------------- */

static ais_status run_henon_stage(ais_context *context, ais_training_run *this, ais_henon_trainer *trainer,
                                  ais_henon_stage stage) {
    const ais_watch watch = {.progress = ais_training_run_progress,
                             .data = this,
                             .stop = this->options->stop,
                             .deadline = this->options->seconds > 0 ? this->began + this->options->seconds : 0,
                             .ranks = this->options->ranks,
                             .checkpoint = this->checkpoint};
    if (this->options->steps > 0) stage.recipe.steps = this->options->steps;
    if (this->options->rate > 0) stage.recipe.pace.rate = this->options->rate;
    if (this->options->rlogr) stage.loss = AIS_RLOGR;
    stage.differences = !this->target->grad;
    return ais_henon_train(context, trainer, &stage, &watch);
}

/* The untrained map is approximately x -> -x: where that is almost never accepted, training takes longer. */
static ais_status run_paper(ais_context *context, ais_training_run *this, ais_henon_trainer *trainer) {
    enum { CHAINS = 128, DRAWS = 50, NEAR = 1, FAR };
    static const double hardly = 0.1;
    const ais_population *population = this->population;
    ais_fresh_result fresh;
    if (this->paper_start == 0) { /* else resumed */
        ais_status status =
            ais_henon_judge(context, population, population->kernel, this->options->seed, CHAINS, DRAWS, &fresh);
        if (status != AIS_OK) return status;
        this->paper_start = fresh.acceptance < hardly ? FAR : NEAR;
    }
    return run_henon_stage(context, this, trainer, ais_henon_stage_paper(this->target->dim, this->paper_start == FAR));
}

static ais_status run_henon_stages(ais_context *context, ais_training_run *this, ais_henon_trainer *trainer,
                                   const char *objective) {
    static const struct {
        const char *name;
        ais_henon_kind kind;
    } known[] = {{"likelihood", AIS_LIKELIHOOD}, {"exact", AIS_EXACT}, {"adversarial", AIS_ADVERSARIAL}};
    if (this->options->paper) return run_paper(context, this, trainer);
    char stages[128], *rest = stages;
    snprintf(stages, sizeof stages, "%s", objective);
    ais_status status = AIS_OK;
    int done = this->stages_done; /* above 0 when resumed */
    this->stages_done = 0;
    for (char *name; status == AIS_OK && (name = strtok_r(rest, "+", &rest)); this->stages_done++) {
        int k = 0;
        if (this->stages_done < done) continue;
        while (k < 3 && strcmp(name, known[k].name) != 0) k++;
        if (k == 3)
            return ais_fail(
                context, AIS_BAD_ARGUMENT,
                "objective '%s' is not one of likelihood, exact and adversarial, the stages of a henon kernel", name);
        status = run_henon_stage(context, this, trainer, ais_henon_stage_default(known[k].kind));
    }
    if (status == AIS_OK) this->stages_done = 0;
    return status;
}

/* The paper's map on a plane starts near x -> -x, unwhitened: what its printed numbers rest on (docs/paper.md). In more
 * dimensions it starts near -0.8 x + 0.6 v about the population's mean: starting from the reflection, some chains
 * hardly move where it is seldom accepted (docs/notebook/paper.md). */
static ais_status make_henon(ais_context *context, ais_training_run *this, const ais_shape *shape) {
    ais_status status = ais_kernel_learned(context, shape, this->options->seed, &this->present);
    if (status != AIS_OK) return status;
    if (!this->options->paper) {
        ais_henon_spread(this->present, this->options->seed);
        return ais_henon_whiten(context, this->present, this->population, true);
    }
    if (this->target->dim <= 2) return AIS_OK;
    ais_henon_scale_last(this->present, 0.1);
    ais_henon_turn(this->present, 0.32);
    return ais_flow_whiten(context, this->present, this->population, AIS_WHITEN_FULL);
}

/* Replaces that of the previous kernel. */
static ais_status keep_discriminator(ais_context *context, const ais_training_run *this,
                                     const ais_henon_trainer *trainer) {
    ais_discriminator shape;
    const ais_real *weights = ais_henon_trainer_discriminator(trainer, &shape);
    ais_training *training = this->training;
    ais_learned_discriminator_free(training->discriminator);
    training->discriminator = NULL;
    if (!weights) return AIS_OK;
    return ais_learned_discriminator_new(context, &shape, weights, &ais_as_learned(this->present)->whitening,
                                         &training->discriminator);
}

static ais_status attempt_henon(ais_context *context, ais_training_run *this, const ais_shape *shape,
                                const char *objective) {
    ais_henon_trainer *trainer = NULL;
    bool resumed;
    ais_status status =
        ais_checkpoint_enter(context, this->checkpoint, "attempt", ais_training_run_exchange_present, this, &resumed);
    if (status == AIS_OK && !resumed) status = make_henon(context, this, shape);
    if (status == AIS_OK)
        status = ais_henon_trainer_new(context, this->present, this->population, this->options->seed, &trainer);
    if (status == AIS_OK) status = run_henon_stages(context, this, trainer, objective);
    ais_checkpoint_leave(this->checkpoint);
    double worst_ess = trainer ? ais_henon_trainer_best(trainer) : -1;
    bool better = !this->best || worst_ess > this->best_ess;
    if (status == AIS_OK && better) status = keep_discriminator(context, this, trainer);
    ais_henon_trainer_free(trainer);
    ais_population_use(context, this->population, NULL); /* the kernel may be freed below */
    this->training->attempts++;
    if (better) {
        ais_kernel_free(this->best);
        this->best = this->present;
        this->best_ess = worst_ess;
    } else {
        ais_kernel_free(this->present);
    }
    this->present = NULL;
    return status;
}

static ais_status train_henon(ais_context *context, ais_training_run *this) {
    const ais_train_options *options = this->options;
    int dim = this->target->dim;
    ais_shape paper = {.map = AIS_HENON, .dim = dim, .hidden = dim <= 2 ? 32 : 64};
    ais_shape first = {.map = AIS_HENON, .dim = dim, .layers = 24, .activation = AIS_TANH}, second = first;
    const char *objective = options->objective ? options->objective : "likelihood+exact";
    second.reversal = AIS_SWAP;
    if (options->paper) return attempt_henon(context, this, &paper, NULL);
    if (options->shape->layers) return attempt_henon(context, this, options->shape, objective);
    first.hidden = second.hidden = options->shape->hidden;
    first.depth = second.depth = options->shape->depth;
    ais_status status = AIS_OK;
    if (this->number == 0) { /* else resumed in the second */
        status = attempt_henon(context, this, &first, objective);
        this->number = 1;
    }
    if (status == AIS_OK && !options->objective && this->best_ess < henon_enough)
        status = attempt_henon(context, this, &second, "likelihood+adversarial");
    return status;
}

/* ---- all ----------------------------------------------------------------------------------------- */

/* The population as it is now: better starting points than those of the start. */
static void keep_points(const ais_training_run *this) {
    int dim = this->target->dim;
    for (int c = 0; c < this->training->count; c++)
        ais_population_point(this->population, c % this->population->chains,
                             this->training->x + (size_t)c * (size_t)dim);
}

ais_status ais_train(ais_context *context, const ais_target *target, const ais_train_options *options,
                     ais_kernel **kernel, ais_training **training) {
    ais_training_run this = {.target = target, .options = options, .began = ais_now(), .best_ess = -1};
    bool henon = is_henon(options);
    *kernel = NULL;
    *training = NULL;
    if (target->draws) {
        ais_train_options alone = *options; /* ranks do the same there, each for itself */
        if (options->ranks) alone.stop = NULL;
        return ais_train_empirical(context, target, &alone, kernel, training);
    }
    if (options->method == AIS_START_DRAWS && !options->start)
        return ais_fail(context, AIS_BAD_ARGUMENT, "no draws were given to start from");
    if (options->shape && options->shape->dim != target->dim)
        return ais_fail(context, AIS_BAD_ARGUMENT, "the kernel's shape has dimension %d, but %s has %d",
                        options->shape->dim, target->name, target->dim);
    if (henon && (options->effective > 0 || options->evaluations > 0))
        return ais_fail(context, AIS_BAD_ARGUMENT,
                        "a henon kernel learns from a population for a fixed number of steps: neither the effective "
                        "draws wanted nor a budget of evaluations can shorten that; give a number of steps or seconds");
    if (options->ladder && of_maps(options))
        return ais_fail(context, AIS_BAD_ARGUMENT,
                        "a ladder finds its own base, starting from the search region: shape, objective, preset, "
                        "steps, rate, population and another start do not apply to it");
    this.training = calloc(1, sizeof *this.training);
    if (!this.training) return ais_fail_memory(context, "a training", sizeof *this.training);
    ais_status status = ais_training_checkpoint(context, target, options, &this.checkpoint);
    if (status == AIS_OK) status = ais_pool_new(context, options->threads, &this.pool);
    if (status == AIS_OK) ais_pool_join(this.pool, options->ranks);
    if (status == AIS_OK) status = take_record(context, &this);
    if (status == AIS_OK && !henon) status = ais_learn_map(context, &this);
    if (status == AIS_OK && henon) status = begin(context, &this);
    if (status == AIS_OK && henon) status = train_henon(context, &this);
    this.training->worst_ess = this.best_ess < 0 ? NAN : this.best_ess;
    if (this.best_ess < 0) this.training->acceptance = NAN;
    if (status == AIS_OK && henon && this.best_ess < rivals_below)
        status = ais_compare_rivals(context, this.population, this.best, options->seed, this.training);
    this.training->train_seconds = ais_now() - this.began - this.training->start_seconds;
    if (this.population) keep_points(&this);
    ais_population_free(this.population);
    ais_pool_free(this.pool);
    ais_checkpoint_close(this.checkpoint);
    if (status == AIS_OK || (status == AIS_STOPPED && this.best)) {
        *kernel = this.best;
        *training = this.training;
        return status;
    }
    ais_kernel_free(this.best);
    ais_training_free(this.training);
    return status;
}
