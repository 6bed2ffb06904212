#include "trainer/empirical.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "fit/flow_start.h"
#include "judge/fresh.h"
#include "trainer/training.h"

enum { POPULATION = 4096, REPORTS = 16, FRESH_CHAINS = 64, FRESH_DRAWS = 250 };

typedef struct job {
    const ais_target *target;
    const ais_train_options *options;
    ais_pool *pool;
    ais_population *population; /* draws to whiten by and to start fresh chains at */
    ais_training *training;
    ais_sample_split split;
    ais_arena arena;
    ais_kernel *kernel;
    double began, stage_began;
    const char *stage;
    ais_checkpoint *checkpoint; /* or NULL */
    ais_empirical_stage flow, ratio;
    int number; /* of the present stage: 0 the map, 1 the discriminator, 2 neither */
} job;

/* What to fit. Few dimensions: few layers with many bins, which does for ring5 as well (docs/notebook/flows.md). */
typedef struct fit_plan {
    ais_shape shape;
    ais_whitening_kind whitening;
    double bump_slope;
    int ratio_hidden;
    ais_recipe map, ratio;
} fit_plan;

/* "adversarial" from the identity, or after likelihood. */
static bool is_joint(const ais_train_options *options) {
    const char *objective = options->objective ? options->objective : "";
    return strcmp(objective, "adversarial") == 0 || strcmp(objective, "likelihood+adversarial") == 0;
}

static fit_plan plan_for(const ais_train_options *options, int dim) {
    bool low = dim <= 2;
    fit_plan made = {.shape = {.map = AIS_SPLINE,
                               .reversal = AIS_SWAP,
                               .dim = dim,
                               .layers = low ? 2 : 4,
                               .hidden = 64,
                               .depth = 2,
                               .bins = low ? 32 : 8,
                               .marginal_bins = low ? 0 : 24,
                               .activation = AIS_TANH},
                     .whitening = low ? AIS_WHITEN_SD : AIS_WHITEN_FULL,
                     .bump_slope = low ? 4 : 0,
                     .ratio_hidden = 64,
                     .map = ais_recipe_table[low ? AIS_DRAWS_MAP_PLANE : AIS_DRAWS_MAP],
                     .ratio = ais_recipe_table[is_joint(options) ? AIS_DRAWS_JOINT : AIS_DRAWS_RATIO]};
    if (options->shape) made.shape = *options->shape;
    if (options->shape && options->shape->depth < 0) made.bump_slope = 0;
    if (options->steps > 0) made.map.steps = made.ratio.steps = options->steps;
    if (options->rate > 0) made.map.pace.rate = options->rate;
    made.ratio.report_every = (made.ratio.steps + REPORTS - 1) / REPORTS;
    made.shape.permutation = options->seed;
    return made;
}

static ais_status check_options(ais_context *context, const ais_target *target, const ais_train_options *options) {
    const ais_shape *shape = options->shape;
    if (options->paper || options->ladder || options->rlogr || options->method != AIS_START_SEARCH ||
        options->scale > 0 || options->screen > 0 || options->population > 0 || options->seconds > 0 ||
        (options->objective && strcmp(options->objective, "likelihood") != 0 && !is_joint(options)))
        return ais_fail(context, AIS_BAD_ARGUMENT,
                        "%s is a set of draws: a map is fitted to it by likelihood and a discriminator by the logistic "
                        "loss, or both together (objective adversarial or likelihood+adversarial), and no other "
                        "preset, ladder, objective, loss, start, scale, screen, population or time limit applies",
                        target->name);
    if (shape && (shape->map == AIS_HENON || shape->reversal != AIS_SWAP || shape->joint))
        return ais_fail(context, AIS_BAD_ARGUMENT,
                        "%s is a set of draws, from which only spline and realnvp kernels with swap are learned",
                        target->name);
    if (shape && shape->dim != target->dim)
        return ais_fail(context, AIS_BAD_ARGUMENT, "the kernel's shape has dimension %d, but %s has %d", shape->dim,
                        target->name, target->dim);
    return AIS_OK;
}

/* ---- progress and curve -------------------------------------------------------------------------- */

/* What is shown of both stages is the held-out loss; the discriminator's per point, so that 0.693 is blindness. While
 * map and discriminator learn together nothing is held out, and it is the loss of a pair. */
static void tell(void *data, const ais_loop_progress *p) {
    job *this = data;
    bool ratio = strcmp(p->stage, "likelihood") != 0;
    if (p->stage != this->stage) this->stage_began = this->stage ? ais_now() : this->began;
    this->stage = p->stage;
    const ais_train_progress progress = {.stage = p->stage,
                                         .share = (double)p->step / (double)p->steps,
                                         .loss = ratio ? NAN : -p->score,
                                         .discriminator_loss = !ratio      ? NAN
                                                               : p->judged ? -p->score / 2
                                                                           : p->other_loss,
                                         .acceptance = NAN,
                                         .worst_ess = NAN,
                                         .best_ess = NAN,
                                         .rollbacks = p->rollbacks};
    ais_training_tell(this->training, this->began, this->stage_began, progress, true, this->options->progress,
                      this->options->progress_data);
}

/* ---- stages -------------------------------------------------------------------------------------- */

/* Some of the draws, spread evenly over the file. */
static ais_status begin(ais_context *context, job *this) {
    const ais_draws *draws = this->target->draws;
    ais_training *training = this->training;
    size_t dim = (size_t)draws->dim, total = (size_t)draws->chains * (size_t)draws->draws;
    size_t wanted = total < POPULATION ? total : POPULATION;
    training->dim = draws->dim;
    training->count = (int)wanted;
    training->log_z = training->log_z_error = NAN;
    training->trusted = true;
    training->x = malloc(wanted * dim * sizeof(double));
    training->point = malloc(AIS_MOST_POINTS * sizeof *training->point);
    if (!training->x || !training->point) return ais_fail_memory(context, "draws", wanted * dim * sizeof(double));
    for (size_t k = 0; k < wanted; k++)
        for (size_t i = 0; i < dim; i++) training->x[k * dim + i] = draws->value[i * total + k * total / wanted];
    return ais_population_new(context, this->pool, this->target, this->options->seed, (int)wanted, training->x,
                              &this->population);
}

static ais_status make_kernel(ais_context *context, job *this, fit_plan *plan) {
    uint64_t seed = this->options->seed;
    if (plan->shape.bound == 0) plan->shape.bound = ais_flow_bound(this->population);
    ais_status status = ais_kernel_learned(context, &plan->shape, seed, &this->kernel);
    if (status != AIS_OK) return status;
    ais_flow_spread(this->kernel, seed, plan->bump_slope);
    status = ais_flow_whiten(context, this->kernel, this->population, plan->whitening);
    if (status == AIS_OK) status = ais_learned_add_ratio(context, this->kernel, plan->ratio_hidden, 2, 0);
    const ais_learned *learned = (const ais_learned *)this->kernel;
    if (status == AIS_OK && !ais_sample_split_new(this->target->draws, &learned->whitening, &this->arena, &this->split))
        status = ais_fail_memory(context, "draws", (size_t)this->target->dim * sizeof(double));
    return status;
}

ais_status ais_empirical_run(ais_context *context, const ais_method *method, void *self) {
    const ais_empirical_stage *stage = *(ais_empirical_stage **)self;
    ais_loop loop = {.method = method, .self = self, .recipe = &stage->recipe, .watch = stage->watch};
    return ais_loop_run(context, &loop);
}

ais_status ais_empirical_memory(ais_context *context, const ais_loop *loop) {
    const ais_empirical_stage *stage = *(ais_empirical_stage **)loop->self;
    return ais_fail_memory(context, "training", stage->split->count * sizeof(double));
}

void ais_empirical_end(ais_loop *loop) {
    ais_empirical_stage *stage = *(ais_empirical_stage **)loop->self;
    ais_loop_take_best(loop);
    if (!isnan(loop->best.score)) stage->best_loss = -loop->best.score;
    if (!isnan(loop->last.score)) stage->last_loss = -loop->last.score;
    stage->rollbacks = loop->rollbacks;
}

/* Population, split and whitening follow from the draws; the stage at work has a section of its own. */
static void exchange(ais_checkpoint *checkpoint, void *data) {
    job *this = data;
    const ais_learned *learned = (const ais_learned *)this->kernel;
    ais_began_exchange(checkpoint, &this->began);
    ais_training_exchange(checkpoint, this->training);
    AIS_FIELD(checkpoint, this, number);
    ais_empirical_stage *flow = &this->flow;
    AIS_FIELD(checkpoint, flow, first_loss);
    AIS_FIELD(checkpoint, flow, last_loss);
    AIS_FIELD(checkpoint, flow, rollbacks);
    ais_checkpoint_bytes(checkpoint, "map", learned->weights, learned->weight_count * sizeof(ais_real));
}

static void conclude(job *this) {
    const ais_empirical_stage *flow = &this->flow, *ratio = &this->ratio;
    ais_training *training = this->training;
    const ais_sample_split *split = &this->split;
    training->attempts = 1;
    training->rollbacks = flow->rollbacks + ratio->rollbacks;
    if (this->number < 2) {
        snprintf(training->sentence, sizeof training->sentence,
                 "learned from %zu draws, but stopped %s: the kernel was not judged, its accept test %s, and the "
                 "draws are biased wherever the map is wrong",
                 split->count, this->number == 0 ? "while the map was learned" : "while the discriminator was learned",
                 this->number == 0 ? "takes every proposal" : "is an unfinished discriminator");
        return;
    }
    snprintf(training->sentence, sizeof training->sentence,
             "learned from %zu draws and judged on %zu others: the discriminator tells draws from proposals with loss "
             "%.4f (0.6931: it cannot). It is the accept test and an estimate: the draws can be biased where it is "
             "wrong, and they lack what the data lack",
             split->count, split->held_count, ratio->best_loss / 2);
    if (training->acceptance < 0.5)
        snprintf(training->warning, sizeof training->warning,
                 "the map fits the data badly (acceptance %.2f), so everything depends on the discriminator: train "
                 "longer, or with more layers or bins",
                 training->acceptance);
    else if (ratio->last_loss > 2 * log(2) && flow->last_loss > flow->first_loss)
        snprintf(training->warning, sizeof training->warning,
                 "training made the map worse on held-out draws: there are too few draws, or they repeat");
}

static ais_status learn(ais_context *context, job *this) {
    const ais_train_options *options = this->options;
    fit_plan plan = plan_for(options, this->target->dim);
    ais_status status = make_kernel(context, this, &plan);
    if (status != AIS_OK) return status;
    const double blind = 2 * log(2); /* the loss of D = 0 */
    this->flow = (ais_empirical_stage){
        .learned = (ais_learned *)this->kernel,
        .split = &this->split,
        .seed = options->seed,
        .pool = this->pool,
        .recipe = plan.map,
        .watch = {.progress = tell, .data = this, .stop = options->stop, .checkpoint = this->checkpoint}};
    this->ratio = this->flow;
    this->ratio.recipe = plan.ratio;
    this->ratio.first_loss = this->ratio.best_loss = this->ratio.last_loss = blind;
    bool resumed, joint = is_joint(options);
    status = ais_checkpoint_enter(context, this->checkpoint, "empirical", exchange, this, &resumed);
    if (status == AIS_OK && this->number == 0) {
        if (!joint || options->objective[0] == 'l') status = ais_empirical_flow(context, &this->flow);
        if (status == AIS_OK) this->number = 1;
    }
    if (status == AIS_OK) {
        status = joint ? ais_empirical_joint(context, &this->ratio) : ais_empirical_ratio(context, &this->ratio);
        if (status == AIS_OK) this->number = 2;
    }
    ais_fresh_result fresh = {.worst_ess = NAN, .acceptance = NAN}; /* of a training that was stopped */
    if (status == AIS_OK)
        status =
            ais_fresh_chains(context, this->population, this->kernel, options->seed, FRESH_CHAINS, FRESH_DRAWS, &fresh);
    this->training->acceptance = fresh.acceptance;
    this->training->worst_ess = fresh.worst_ess;
    conclude(this);
    return status;
}

ais_status ais_train_empirical(ais_context *context, const ais_target *target, const ais_train_options *options,
                               ais_kernel **kernel, ais_training **training) {
    job this = {.target = target, .options = options, .began = ais_now()};
    ais_status status = check_options(context, target, options);
    if (status != AIS_OK) return status;
    this.training = calloc(1, sizeof *this.training);
    if (!this.training) return ais_fail_memory(context, "a training", sizeof *this.training);
    status = ais_training_checkpoint(context, target, options, &this.checkpoint);
    if (status == AIS_OK) status = ais_pool_new(context, options->threads, &this.pool);
    if (status == AIS_OK) status = begin(context, &this);
    if (status == AIS_OK) status = learn(context, &this);
    this.training->train_seconds = ais_now() - this.began;
    ais_population_free(this.population);
    ais_pool_free(this.pool);
    ais_arena_free(&this.arena);
    ais_checkpoint_close(this.checkpoint);
    if (status == AIS_OK || (status == AIS_STOPPED && this.kernel)) {
        *kernel = this.kernel;
        *training = this.training;
        return status;
    }
    ais_kernel_free(this.kernel);
    ais_training_free(this.training);
    return status;
}
