#include "trainer/map_learning.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/streams.h"
#include "explore/affine.h"
#include "explore/mixture_fit.h"
#include "learned/learned.h"
#include "simd/normal.h"
#include "trainer/identity.h"

/* Draws that are wanted by default, and the most points that the archive holds. */
static const double usual_wanted = 16000;
static const size_t most_points = 65536, most_bytes = (size_t)256 << 20;
enum { FEW_TRIPS = 100 }; /* of a ladder: the log Z and shares of fewer are uncertain */
enum { FIRST_JUDGEMENT = 256, LEAST_SCREEN = 256, SCREEN_SHARE = 16, POPULATION = 512 };

/* ---- look ------------------------------------------------------------------------------------------ */

static long screen_of(const ais_map_learning *this) {
    const ais_train_options *options = this->job->options;
    if (options->screen) return options->screen;
    double screen = this->economy.wanted / SCREEN_SHARE, most = 4000.0 * this->archive.dim;
    if (!this->job->target->grad && this->archive.dim <= AIS_FEW_DIMENSIONS)
        screen *= 2; /* it is what finds modes there */
    if (options->evaluations) screen = fmin(screen, (double)options->evaluations / SCREEN_SHARE);
    return (long)fmax(fmin(screen, most), LEAST_SCREEN);
}

/* Points in planes through the modes found: half as many as draws are wanted, but enough for planes of ten dimensions
 * where that is no more than all of them; an eighth of a budget at the most. */
static long planes_of(const ais_map_learning *this) {
    static const double enough = 4096;
    double wanted = this->economy.wanted, planes = fmax(wanted / 2, fmin(wanted, enough));
    if (this->job->options->evaluations) planes = fmin(planes, (double)this->job->options->evaluations / 8);
    return (long)fmax(planes, 1);
}

/* A copy that outlives the look. */
static ais_status keep_mixture(ais_context *context, ais_map_learning *this, const ais_components *from) {
    size_t dim = (size_t)from->dim;
    if (!from->count) return AIS_OK;
    if (!ais_components_take(&this->mixture, &this->arena, from->dim, from->count))
        return ais_fail_memory(context, "modes", dim * dim * sizeof(double));
    ais_components_copy(&this->mixture, from);
    return AIS_OK;
}

/* Points that the look has screened are draws like others. */
static ais_status keep_screen(ais_context *context, ais_map_learning *this, const ais_screened *screen) {
    size_t dim = (size_t)this->archive.dim;
    ais_source source = {.scale = this->scale};
    int from;
    if (screen->box.low) {
        source = (ais_source){.box = {AIS_TAKE(&this->arena, double, dim), AIS_TAKE(&this->arena, double, dim)}};
        if (!source.box.low || !source.box.high) return ais_fail_memory(context, "a box", dim * sizeof(double));
        memcpy(source.box.low, screen->box.low, dim * sizeof(double));
        memcpy(source.box.high, screen->box.high, dim * sizeof(double));
    }
    ais_status status = ais_map_source(context, this, &source, &from);
    if (status != AIS_OK) return status;
    return ais_archive_add(context, &this->archive, from, screen->n, screen->x, screen->logp, NULL);
}

/* Evaluations after which no further optimisation begins: as many as draws are wanted, half without a gradient, and
 * a quarter of a budget at the most; what is screened comes on top, since points that look odd lead to optimisations.
 */
static long effort_of(const ais_map_learning *this, long screen) {
    double effort = this->economy.wanted / (this->job->target->grad ? 1 : 2);
    if (this->evaluator.most) effort = fmin(effort, (double)this->evaluator.most / 4);
    return (long)effort + 2 * screen;
}

static ais_status begin_look(ais_context *context, ais_map_learning *this, bool anneal, ais_start **out) {
    ais_training_run *job = this->job;
    const ais_train_options *options = job->options;
    ais_training *training = job->training;
    long screen = screen_of(this), used = this->evaluator.densities;
    ais_start_options how = {.seed = options->seed,
                             .scale = options->scale,
                             .screen = screen,
                             .planes = planes_of(this),
                             .population = POPULATION,
                             .effort = effort_of(this, screen),
                             .look_only = !anneal,
                             .anneal = anneal,
                             .most = this->evaluator.most ? this->evaluator.most - used : 0,
                             .deadline = this->evaluator.deadline,
                             .pool = job->pool,
                             .stop = options->ranks ? NULL : options->stop, /* ranks stop together, later */
                             .progress = ais_training_run_start_progress,
                             .progress_data = job,
                             .tick = ais_training_run_tick};
    double began = ais_now();
    ais_status status = ais_cold_start(context, job->target, &how, out);
    if (status != AIS_OK) return status;
    const ais_start *start = *out;
    /* The look makes evaluations in batches, as later stages do. */
    ais_economy_measure(&this->economy, (ais_now() - began) / (double)(start->densities + start->gradients),
                        job->target->grad, start->separate > 1);
    this->evaluator.densities += start->densities;
    this->evaluator.gradients = start->gradients;
    training->start_evaluations = start->densities + start->gradients;
    training->modes = start->separate;
    training->trusted = start->trusted;
    memcpy(training->sentence, start->sentence, sizeof training->sentence);
    memcpy(training->warning, start->warning, sizeof training->warning);
    return ais_ranks_first(context, options->ranks, &this->economy, sizeof this->economy);
}

static ais_status look(ais_context *context, ais_map_learning *this) {
    ais_start *start;
    ais_status status = begin_look(context, this, false, &start);
    if (status != AIS_OK) return status;
    size_t dim = (size_t)start->dim;
    memcpy(this->mean, start->modes ? start->mode_mean : start->peak, dim * sizeof(double));
    for (size_t i = 0; i < dim; i++) this->factor[i * dim + i] = start->scale;
    if (start->modes) memcpy(this->factor, start->mode_factor, dim * dim * sizeof(double));
    this->scale = start->scale;
    status = keep_mixture(context, this, &start->mixture);
    for (int k = 0; k < start->screens && status == AIS_OK; k++) status = keep_screen(context, this, &start->screen[k]);
    ais_start_free(start);
    return status;
}

/* The plan, with what the caller chose of it. */
static void choose_plan(ais_map_learning *this) {
    const ais_train_options *options = this->job->options;
    const ais_shape *shape = options->shape;
    int dim = this->archive.dim;
    const ais_map_plan *usual = ais_map_plan_for(dim, this->slopes, this->plan_number);
    this->own_plan = *usual;
    if (shape) {
        this->own_plan.shape = *shape;
        this->own_plan.spread = shape->depth < 0 || dim > 2 ? 0 : 2;
    }
    if (options->rate > 0) this->own_plan.recipe.pace.rate = options->rate;
    this->plan = shape || options->rate > 0 ? &this->own_plan : usual;
}

/* ---- explore --------------------------------------------------------------------------------------- */

/* Where NUTS begins when the normal fit says nothing: all over the region, steps as large as it is. */
static ais_status place_anywhere(ais_map_learning *this) {
    size_t dim = (size_t)this->archive.dim;
    double scale = this->scale, logp = -INFINITY;
    memset(this->factor, 0, dim * dim * sizeof(double));
    memset(this->mean, 0, dim * sizeof(double));
    for (size_t i = 0; i < dim; i++) this->factor[i * dim + i] = scale;
    ais_status status = AIS_OK;
    for (uint64_t c = 0, step = 0; c < AIS_EXPLORING && status == AIS_OK; step++) {
        double *x = this->chain + c * dim;
        ais_stream stream = ais_stream_for(AIS_USE_ANYWHERE, this->job->options->seed, step, 0);
        ais_normals(&stream, dim, x);
        for (size_t i = 0; i < dim; i++) x[i] *= scale;
        status = ais_evaluate(&this->evaluator, 1, x, &logp);
        if (logp > -INFINITY || step >= 100 * AIS_EXPLORING) c++;
    }
    return status;
}

ais_status ais_map_place_chains(ais_context *context, ais_map_learning *this) {
    const ais_archive *archive = &this->archive;
    size_t dim = (size_t)archive->dim, index[AIS_EXPLORING];
    double *weight = malloc((archive->count + 1) * sizeof *weight);
    if (!weight) return ais_fail_memory(context, "weights", archive->count * sizeof *weight);
    ais_status status = ais_archive_weigh(context, archive, this->job->pool, weight);
    double top = -INFINITY;
    for (size_t c = 0; c < archive->count; c++) top = fmax(top, weight[c]);
    for (int c = 0; c < AIS_EXPLORING; c++) memcpy(this->chain + (size_t)c * dim, this->mean, dim * sizeof(double));
    if (status == AIS_OK && top > -INFINITY) {
        ais_stream stream = ais_stream_for(AIS_USE_CHAINS, this->job->options->seed, 0, 0);
        ais_systematic(archive->count, weight, ais_random_uniform(&stream, 0), AIS_EXPLORING, index);
        for (int c = 0; c < AIS_EXPLORING; c++)
            memcpy(this->chain + (size_t)c * dim, archive->x + index[c] * dim, dim * sizeof(double));
    }
    free(weight);
    return status;
}

static ais_status judge_normal_fit(ais_context *context, ais_map_learning *this) {
    ais_kernel *normal = NULL;
    ais_status status = ais_map_affine(context, this->mean, this->factor, this->archive.dim, &normal);
    if (status == AIS_OK) status = ais_map_judge(context, this, &(ais_source){.map = normal}, FIRST_JUDGEMENT);
    ais_kernel_free(normal);
    return status;
}

/* The best proposals lead somewhere when their weights are not all in a few of them. */
static bool leads_on(const ais_map_learning *this) {
    static const double some = 0.1; /* importance ESS per draw */
    return this->best && this->verdict.weighing.ess > some * (double)this->judged_by;
}

/* The mixture as all points so far, by their weights, would have it; a new one, since the archive's sources stay. */
static ais_status refit_mixture(ais_context *context, ais_map_learning *this, const ais_components *from,
                                ais_components *fitted) {
    const ais_archive *archive = &this->archive;
    double *weight = malloc((archive->count + 1) * sizeof *weight);
    ais_status status = AIS_OK;
    if (!weight || !ais_components_take(fitted, &this->arena, from->dim, from->count))
        status = ais_fail_memory(context, "a mixture", archive->count * sizeof *weight);
    if (status == AIS_OK) ais_components_copy(fitted, from);
    if (status == AIS_OK) status = ais_archive_weigh(context, archive, this->job->pool, weight);
    if (status == AIS_OK)
        status = ais_mixture_fit(context, fitted, this->job->pool, archive->count, archive->x, archive->logp, weight);
    free(weight);
    return status;
}

static ais_status judge_modes(ais_context *context, ais_map_learning *this) {
    return ais_map_judge(context, this, &(ais_source){.mixture = &this->mixture}, FIRST_JUDGEMENT);
}

/* The mixture with components for mass around its modes that it explains too little of; itself where there is none.
 * They are made again whenever there are more points: no optimum tells where they are. */
static ais_status widen(ais_context *context, ais_map_learning *this, const ais_components *modes,
                        const ais_components **wide) {
    enum { MOST = 3 };
    ais_components *wider;
    *wide = modes;
    for (int k = 0; k < MOST; k++) {
        ais_status status = ais_map_widen(context, this, *wide, &wider);
        if (status != AIS_OK || !wider) return status;
        *wide = wider;
    }
    return AIS_OK;
}

/* Mixtures fitted to what the one before has shown, as long as they become better. */
static ais_status fit_mixtures(ais_context *context, ais_map_learning *this) {
    enum { MOST = 6 };
    static const double worth = 0.9; /* of the waste before: what another one should leave at the most */
    const ais_components *modes = &this->mixture, *last = modes;
    ais_status status = AIS_OK;
    for (int k = 0, vain = 0; k < MOST && vain < 2 && status == AIS_OK; k++) { /* 256 draws may mislead once */
        ais_components *fitted = AIS_TAKE(&this->arena, ais_components, 1), *grown = NULL;
        const ais_components *wide = modes;
        double before = this->waste;
        status = fitted ? ais_map_missed(context, this, last, &grown) : ais_fail_memory(context, "a mixture", 0);
        if (grown) modes = wide = grown;
        if (status == AIS_OK && !grown) status = widen(context, this, modes, &wide);
        bool more = wide->count > last->count;
        if (more) ais_map_forget(this); /* what was judged lacks a part */
        if (status == AIS_OK) status = refit_mixture(context, this, wide, fitted);
        if (status == AIS_OK) status = ais_map_judge(context, this, &(ais_source){.mixture = fitted}, FIRST_JUDGEMENT);
        vain = more || this->waste < worth * before ? 0 : vain + 1;
        last = fitted;
        if (wide == modes) modes = fitted;
    }
    this->vain = 0; /* that mixtures have stopped improving says nothing of maps */
    return status;
}

/* Several modes, or no gradient: importance sampling, in few dimensions from all over the region, and from mixtures
 * that begin with one component at each mode. */
static ais_status with_weights(ais_context *context, ais_map_learning *this) {
    size_t dim = (size_t)this->archive.dim, n = FIRST_JUDGEMENT * (1 + dim);
    long left = this->evaluator.most - this->evaluator.densities - this->evaluator.gradients;
    if (this->evaluator.most && (long)n > left / 3) n = (size_t)(left / 3); /* something must be left for a verdict */
    double *room = malloc(n * (dim + 1) * sizeof *room);
    ais_status status = room ? AIS_OK : ais_fail_memory(context, "proposals", n * dim * sizeof *room);
    if (status == AIS_OK && (dim <= AIS_FEW_DIMENSIONS || !this->mixture.count) && !this->archive.sources) {
        int region;
        status = ais_map_source(context, this, &(ais_source){.scale = this->scale}, &region);
        if (status == AIS_OK) status = ais_map_draw(context, this, region, n, room);
    }
    this->round++;
    free(room);
    if (status == AIS_OK && this->mixture.count) status = judge_modes(context, this);
    if (status == AIS_OK) status = ais_map_surround(context, this);
    if (status == AIS_OK && this->mixture.count) status = fit_mixtures(context, this);
    return status == AIS_OK ? ais_map_unbend(context, this) : status;
}

/* NUTS, and the affine map that its draws show. */
static ais_status explore(ais_context *context, ais_map_learning *this) {
    static const double some = 26; /* effective draws, without which the normal fit says nothing */
    ais_status status = this->verdict.weighing.ess < some ? place_anywhere(this) : ais_map_place_chains(context, this);
    if (status == AIS_OK) status = ais_map_explore(context, this);
    if (status != AIS_OK || this->bent) return status;
    ais_map_forget(this); /* its verdict knew nothing of the chains' draws */
    ais_kernel_free(this->present);
    this->present = NULL;
    if (this->archive.dim <= 2 && !this->job->options->objective) {
        this->slopes = false;
        choose_plan(this);
        return with_weights(context, this);
    }
    return judge_normal_fit(context, this);
}

/* The tails of one mode may be heavier than a normal's, which no map that ends in a normal follows far, or there may be
 * mass of another width around it: where the points so far ask for a Student-t or for a wider component, mixtures are
 * judged. */
static ais_status with_tails(ais_context *context, ais_map_learning *this) {
    static const double heavy = 10; /* degrees of freedom */
    ais_components fitted = {0};
    const ais_components *wide = &this->mixture;
    if (this->job->options->shape || !this->mixture.count) return AIS_OK;
    ais_status status = ais_map_surround(context, this);
    if (status == AIS_OK) status = refit_mixture(context, this, &this->mixture, &fitted);
    if (status == AIS_OK) status = widen(context, this, &this->mixture, &wide);
    if (status != AIS_OK || !(fitted.freedom <= heavy || wide != &this->mixture)) return status;
    status = judge_modes(context, this);
    return status == AIS_OK ? fit_mixtures(context, this) : status;
}

/* One mode and a gradient. */
static ais_status with_gradient(ais_context *context, ais_map_learning *this) {
    ais_status status = judge_normal_fit(context, this);
    if (status == AIS_OK) status = with_tails(context, this);
    return status == AIS_OK && !leads_on(this) ? explore(context, this) : status;
}

double ais_map_explored_cost(const ais_map_learning *this) {
    static const double usual_gradients = 8000, hoped_waste = 1;
    const ais_train_options *options = this->job->options;
    const ais_economy *economy = &this->economy;
    bool grad = this->job->target->grad,
         free = !options->shape && !options->steps && !options->objective && options->method == AIS_START_SEARCH;
    bool follows = grad ? this->slopes : ais_map_differences_pay(this, usual_gradients);
    if (!(free && follows && !this->bent && !this->explored.stretches && this->best)) return INFINITY;
    double gradient = grad ? economy->gradient : (double)ais_differences_price(this->job->target) * economy->density;
    return usual_gradients * gradient + economy->wanted * (1 + hoped_waste) * economy->density;
}

/* Where rounds of the map's own proposals ended badly. */
static bool explore_after_all(const ais_map_learning *this) {
    return ais_map_explored_cost(this) < this->economy.wanted * (1 + this->waste) * this->economy.density;
}

/* By slopes, of differences where there are no others. Chains do not get from one mode to another, but what were taken
 * for several may be one that is bent. */
static ais_status explore_by_slopes(ais_context *context, ais_map_learning *this) {
    if (!this->job->target->grad) {
        ais_status status = ais_map_begin_differences(context, this);
        if (status != AIS_OK) return status;
        if (this->job->training->modes > 1) return ais_map_unbend(context, this);
        this->slopes = true;
        this->fine = false;
        this->plan_number = 0;
        choose_plan(this);
    }
    return explore(context, this);
}

/* Whether nothing so far will do: the look reports that it may have missed modes, or proposals are almost never
 * accepted. A ladder takes some hundred thousand evaluations to learn, and with a gradient a hundred or more per
 * effective draw: where NUTS leads through the modes, proposals need to cross less often. In few dimensions maps follow
 * any shape; so they may around a single mode, where they are tried before. */
static bool ladder_pays(const ais_map_learning *this, bool maps_tried) {
    static const double usual = 3e5, too_dear = 20, led = 200; /* evaluations in all; per effective draw */
    static const double good = 0.7;                            /* acceptance */
    const ais_train_options *options = this->job->options;
    const ais_economy *economy = &this->economy;
    bool free = !options->shape && !options->steps && options->method == AIS_START_SEARCH;
    bool missed = this->job->training->warning[0] && this->job->training->modes > 1;
    double spent = (double)(this->evaluator.densities + this->evaluator.gradients), map = ais_map_cost(this);
    bool affordable = !options->evaluations || usual < (double)options->evaluations - spent;
    bool quick = usual * economy->density < fmax(economy->wanted * map, 300); /* seconds */
    /* Slopes lead through one mode. That several were one bend must show, where the look was not sure of them all. */
    bool one = this->slopes && !this->evaluator.price && !(missed && this->verdict.acceptance < good);
    return free && this->archive.dim > AIS_FEW_DIMENSIONS && !one && affordable && quick &&
           (missed || ((maps_tried || this->job->training->modes > 1) &&
                       !(map < (this->proposals ? led : too_dear) * economy->density)));
}

/* ---- conclude -------------------------------------------------------------------------------------- */

/* NUTS in the latent space of the affine map, as it explored. */
static ais_status nuts_instead(ais_context *context, ais_map_learning *this, ais_kernel **kernel) {
    ais_kernel *map = NULL, *nuts = NULL;
    ais_status status = ais_map_affine(context, this->explored.mean, this->explored.factor, this->archive.dim, &map);
    if (status == AIS_OK)
        status =
            ais_kernel_nuts(context, &(ais_nuts_options){.unit = true, .step_size = this->explored.step_size}, &nuts);
    if (status == AIS_OK) return ais_kernel_latent(context, map, nuts, kernel);
    ais_kernel_free(map);
    return status;
}

/* All proposals together, those from all over the region among them, know of mass that the best map alone may not
 * reach: then their log Z lies above its. room: twice as many numbers as weights. */
static void compare_evidence(ais_map_learning *this, const double *weight, double *room) {
    static const double errors = 3, slack = 0.1; /* what maps were fitted to is among their draws: a little too low */
    const ais_archive *archive = &this->archive;
    ais_training *training = this->job->training;
    size_t many = 0, used = strlen(training->warning);
    for (size_t c = 0; c < archive->count; c++)
        if (archive->from[c] >= 0) room[many++] = weight[c];
    if (many < 2 || isnan(this->evidence.log_mean)) return;
    ais_weighing all = ais_weigh(many, room, room + many);
    double above = all.log_mean - this->evidence.log_mean, error = hypot(all.log_error, this->evidence.log_error);
    if (!(above > slack + errors * error)) return;
    snprintf(
        training->warning + used, sizeof training->warning - used,
        "%sall proposals together find more mass (log Z %.3f) than those of the kernel (%.3f): a part of the density "
        "may be missing",
        used ? "; " : "", all.log_mean, this->evidence.log_mean);
}

/* Points to start chains from: proposals by their weights; draws of NUTS, which may still be on their way, where the
 * weights of no map say anything. */
static ais_status take_points(ais_context *context, ais_map_learning *this) {
    static const double some = 64; /* effective draws */
    bool chains = this->explored.any && !(this->best && this->verdict.weighing.ess > some);
    const ais_archive *archive = &this->archive;
    ais_training *training = this->job->training;
    size_t dim = (size_t)archive->dim, n = archive->count, wanted = (size_t)training->count;
    double *weight = malloc((n + 1) * sizeof *weight), *room = malloc(2 * (n + 1) * sizeof *room);
    size_t *index = malloc(wanted * sizeof *index);
    ais_status status = weight && room && index ? AIS_OK : ais_fail_memory(context, "weights", n * sizeof *weight);
    if (status == AIS_OK) status = ais_archive_weigh(context, archive, this->job->pool, weight);
    if (status == AIS_OK) compare_evidence(this, weight, room);
    if (status == AIS_OK) {
        for (size_t c = 0; c < n && chains; c++) weight[c] = archive->from[c] == AIS_FROM_CHAIN ? 0 : -INFINITY;
        ais_stream stream = ais_stream_for(AIS_USE_POINTS, this->job->options->seed, 0, 0);
        ais_systematic(n, weight, ais_random_uniform(&stream, 0), wanted, index);
        /* Neighbours in the archive may be alike: chains take them from far apart. */
        for (size_t k = 0; k < wanted; k++) {
            size_t from = index[k * 191 % wanted];
            memcpy(training->x + k * dim, archive->x + from * dim, dim * sizeof(double));
        }
    }
    free(weight);
    free(room);
    free(index);
    return status;
}

/* The ladder is the kernel, and chains start at draws of its top. */
static void take_ladder(ais_map_learning *this) {
    ais_climbed *climbed = &this->climbed;
    ais_training *training = this->job->training;
    size_t dim = (size_t)this->archive.dim, wanted = (size_t)training->count;
    for (size_t k = 0; k < wanted; k++)
        memcpy(training->x + k * dim, climbed->x + k * climbed->count / wanted * dim, dim * sizeof(double));
    /* Replicas that do not get around agree with each other: their log Z, and its error, is not an estimate. */
    bool around = !climbed->lost && climbed->trips >= FEW_TRIPS;
    training->log_z = around ? climbed->log_z : NAN;
    training->log_z_error = around ? climbed->log_z_error : NAN;
    training->acceptance = climbed->acceptance;
    training->worst_ess = climbed->worst_ess;
    training->rungs = climbed->rungs;
    /* It does not rest on the modes that the look found, so that what they were short of is no warning any more. */
    snprintf(training->sentence, sizeof training->sentence,
             "a ladder of %d rungs from %s to the target: barrier %.2f, %ld round trips in %zu steps",
             climbed->rungs.count, climbed->base, climbed->barrier, climbed->trips, climbed->count);
    training->warning[0] = '\0';
    if (climbed->lost)
        snprintf(training->warning, sizeof training->warning,
                 "the ladder has lost %d of the modes that were found before: their mass is missing", climbed->lost);
    else if (climbed->trips < FEW_TRIPS)
        snprintf(training->warning, sizeof training->warning,
                 "replicas of the ladder made only %ld round trips: parts of the density that are hard to reach may be "
                 "missing or have wrong weights; ask for more effective draws",
                 climbed->trips);
    this->job->best = climbed->kernel;
    this->job->best_ess = climbed->worst_ess;
    climbed->kernel = NULL;
}

static ais_status conclude(ais_context *context, ais_map_learning *this) {
    ais_training_run *job = this->job;
    ais_training *training = job->training;
    if (this->climbed.kernel) {
        take_ladder(this);
        return AIS_OK;
    }
    ais_status status = take_points(context, this);
    double map = ais_map_cost(this), nuts = ais_nuts_cost(this);
    if (status == AIS_OK && !this->best && !this->explored.any)
        status =
            ais_fail(context, AIS_BAD_DENSITY, "no map was found for target %.100s: no proposal had a positive density",
                     job->target->name ? job->target->name : "");
    if (status != AIS_OK) return status;
    training->log_z = this->evidence.log_mean;
    training->log_z_error = this->evidence.log_error;
    double share = this->best ? 1 / ais_draws_per_effective(&this->verdict, this->proposals) : NAN;
    training->worst_ess = share;
    training->acceptance = this->best ? this->verdict.acceptance : NAN;
    job->best = this->best;
    job->best_ess = this->best ? share : -1;
    this->best = NULL;
    if (this->proposals && !(nuts < map)) return ais_map_relieve(context, this, &job->best);
    if (nuts < map) {
        ais_kernel *instead = NULL;
        status = nuts_instead(context, this, &instead);
        if (status != AIS_OK) return status;
        ais_kernel_free(job->best);
        job->best = instead;
    }
    return AIS_OK;
}

/* ---- all ------------------------------------------------------------------------------------------- */

static size_t room_for(int dim, bool gradient) {
    size_t row = (size_t)dim * sizeof(double) * (gradient ? 2 : 1) + sizeof(double) + sizeof(int);
    return most_bytes / row < most_points ? most_bytes / row : most_points;
}

static ais_status prepare(ais_context *context, ais_map_learning *this) {
    const ais_train_options *options = this->job->options;
    const ais_target *target = this->job->target;
    size_t dim = (size_t)target->dim;
    this->economy = ais_economy_begin(options->effective > 0 ? options->effective : usual_wanted,
                                      options->effective > 0 || options->seconds > 0);
    this->flaw_before = NAN;
    this->judged = -1;
    this->evidence = (ais_weighing){.log_mean = NAN, .log_error = INFINITY};
    this->evaluator = (ais_evaluator){.context = context,
                                      .target = target,
                                      .pool = this->job->pool,
                                      .stop = options->ranks ? NULL : options->stop,
                                      .most = options->evaluations,
                                      .deadline = options->seconds > 0 ? this->job->began + options->seconds : 0,
                                      .densities = options->checkpoint ? AIS_IDENTITY_POINTS : 0,
                                      .difference = 1e-5,
                                      .tick = ais_training_run_tick,
                                      .tick_data = this->job};
    bool gradients = target->grad || target->dim > AIS_FEW_DIMENSIONS; /* the latter may be differences */
    ais_archive_begin(&this->archive, target->dim, gradients, room_for(target->dim, gradients));
    this->mean = AIS_TAKE(&this->arena, double, dim);
    this->factor = AIS_TAKE(&this->arena, double, dim *dim);
    this->chain = AIS_TAKE(&this->arena, double, AIS_EXPLORING *dim);
    this->differences.step = AIS_TAKE(&this->arena, double, dim);
    this->explored.mean = AIS_TAKE(&this->arena, double, dim);
    this->explored.factor = AIS_TAKE(&this->arena, double, dim *dim);
    return this->mean && this->factor && this->chain && this->differences.step && this->archive.room &&
                   this->explored.mean && this->explored.factor
               ? AIS_OK
               : ais_fail_memory(context, "learning", dim * dim * sizeof(double));
}

static void release(ais_map_learning *this) {
    ais_evaluator_free(&this->evaluator);
    ais_archive_free(&this->archive);
    for (int s = 0; s < AIS_MOST_SOURCES; s++) ais_kernel_free(this->snapshot[s]);
    ais_kernel_free(this->present);
    ais_kernel_free(this->best);
    ais_kernel_free(this->climbed.kernel);
    free(this->climbed.x);
    ais_arena_free(&this->arena);
}

/* What the caller says of map and objective. Of a resumed training it is known whether it goes by slopes. */
static ais_status read_options(ais_context *context, ais_map_learning *this, bool resumed) {
    static const struct {
        const char *name;
        bool slopes;
        double likelihood_share;
    } known[] = {{"fisher", true, 0}, {"likelihood", false, 1}, {"likelihood+exact", false, 0.4}, {"exact", false, 0}};
    enum { KNOWN = sizeof known / sizeof *known };
    const ais_train_options *options = this->job->options;
    const ais_target *target = this->job->target;
    const ais_shape *shape = options->shape;
    int k = 0;
    /* In one dimension there is nothing to couple: splines, by weights. */
    if (!resumed) this->slopes = target->grad && target->dim > 1 && (this->bent || this->job->training->modes <= 1);
    this->given_share = NAN;
    while (options->objective && k < KNOWN && strcmp(options->objective, known[k].name) != 0) k++;
    if (k == KNOWN)
        return ais_fail(context, AIS_BAD_ARGUMENT,
                        "objective '%s' is not one of fisher, likelihood, exact and likelihood+exact, which spline and "
                        "realnvp kernels take",
                        options->objective);
    if (options->objective && known[k].slopes && !target->grad)
        return ais_fail(context, AIS_BAD_ARGUMENT,
                        "objective fisher needs the gradient of the log density, and target %s has none: use "
                        "likelihood+exact",
                        target->name);
    if (options->objective) {
        if (!resumed) this->slopes = known[k].slopes;
        this->given_share = known[k].likelihood_share;
    }
    if (options->population)
        return ais_fail(context, AIS_BAD_ARGUMENT,
                        "only henon kernels learn from a population: leave it out for other maps");
    if (shape && (shape->reversal != AIS_SWAP || shape->joint || shape->map == AIS_AFFINE))
        return ais_fail(context, AIS_BAD_ARGUMENT,
                        "a map that is learned for independent proposals is a spline or realnvp on x alone, with swap");
    choose_plan(this);
    return AIS_OK;
}

/* Points that follow p, from whatever source: the affine map is fitted to them. */
static ais_status take_points_from(ais_context *context, ais_map_learning *this, size_t n, const double *x) {
    size_t dim = (size_t)this->archive.dim;
    double *logp = malloc(n * (dim + 1) * sizeof *logp);
    ais_status status = logp ? AIS_OK : ais_fail_memory(context, "points to learn from", n * dim * sizeof *logp);
    bool gradient = this->job->target->grad != NULL;
    if (status == AIS_OK)
        status = gradient ? ais_evaluate_gradient(&this->evaluator, n, x, logp, logp + n)
                          : ais_evaluate(&this->evaluator, n, x, logp);
    if (status == AIS_OK)
        status = ais_archive_add(context, &this->archive, AIS_FROM_CHAIN, n, x, logp, gradient ? logp + n : NULL);
    free(logp);
    if (status == AIS_OK) status = ais_affine_fit(context, (int)dim, n, x, NULL, this->mean, this->factor);
    return status == AIS_OK ? judge_normal_fit(context, this) : status;
}

/* From draws that the caller has. */
static ais_status from_draws(ais_context *context, ais_map_learning *this, const ais_draws *draws) {
    enum { MOST = 4096 };
    ais_training *training = this->job->training;
    if (draws->dim != this->archive.dim)
        return ais_fail(context, AIS_BAD_ARGUMENT,
                        "the draws to start from have %d parameters, but %s has dimension %d", draws->dim,
                        this->job->target->name, this->archive.dim);
    size_t total = (size_t)draws->chains * (size_t)draws->draws, n = total < MOST ? total : MOST;
    size_t dim = (size_t)draws->dim;
    double *x = malloc(n * dim * sizeof *x);
    if (!x) return ais_fail_memory(context, "draws", n * dim * sizeof *x);
    for (size_t k = 0; k < n; k++)
        for (size_t i = 0; i < dim; i++) x[k * dim + i] = draws->value[i * total + k * total / n];
    snprintf(training->sentence, sizeof training->sentence,
             "training started from %zu given draws: modes that they lack will be missed", total);
    training->trusted = true;
    ais_status status = take_points_from(context, this, n, x);
    free(x);
    return status;
}

static ais_status from_nuts(ais_context *context, ais_map_learning *this) {
    ais_training *training = this->job->training;
    if (!this->job->target->grad)
        return ais_fail(context, AIS_BAD_ARGUMENT,
                        "a start from NUTS needs the gradient of the log density, and target "
                        "%s has none",
                        this->job->target->name);
    this->scale = this->job->target->start_scale > 0 ? this->job->target->start_scale : 1;
    ais_status status = place_anywhere(this);
    if (status == AIS_OK) status = ais_map_explore(context, this);
    snprintf(training->sentence, sizeof training->sentence,
             "training started from %d chains of NUTS: modes that they did not find will be missed", AIS_EXPLORING);
    training->trusted = true;
    return status == AIS_OK && !this->bent ? judge_normal_fit(context, this) : status;
}

/* Look and explore, as the caller wants it. */
static ais_status begin(ais_context *context, ais_map_learning *this) {
    const ais_train_options *options = this->job->options;
    ais_start *annealed = NULL;
    ais_status status = AIS_OK;
    if (options->method == AIS_START_SEARCH) status = look(context, this);
    if (options->method == AIS_START_ANNEAL) status = begin_look(context, this, true, &annealed);
    this->job->training->start_seconds = ais_now() - this->job->began;
    if (status == AIS_OK) status = read_options(context, this, false);
    if (status != AIS_OK)
        ; /* nothing more */
    else if (options->method == AIS_START_DRAWS)
        status = from_draws(context, this, options->start);
    else if (annealed)
        status = take_points_from(context, this, (size_t)annealed->count, annealed->x);
    else if (options->method == AIS_START_NUTS)
        status = from_nuts(context, this);
    else if (!options->ladder)
        status = this->slopes ? with_gradient(context, this) : with_weights(context, this);
    ais_start_free(annealed);
    return status;
}

ais_status ais_learn_map(ais_context *context, ais_training_run *job) {
    ais_map_learning this = {.job = job};
    ais_training *training = job->training;
    bool resumed = false;
    ais_status status = prepare(context, &this);
    if (status == AIS_OK)
        status = ais_checkpoint_enter(context, job->checkpoint, "map", ais_map_exchange, &this, &resumed);
    if (status == AIS_OK && !resumed) status = begin(context, &this);
    if (status == AIS_OK && resumed) status = read_options(context, &this, true);
    if (status == AIS_OK && !resumed && job->options->shape) { /* only the map that the caller wants will do */
        ais_kernel_free(this.best);
        this.best = NULL;
        this.explored.any = false;
    }
    if (status == AIS_OK && !resumed && (job->options->ladder || ladder_pays(&this, false)))
        status = ais_map_climb(context, &this);
    if (status == AIS_OK && !this.climbed.kernel) {
        status = ais_map_rounds(context, &this);
        if (status == AIS_OK && explore_after_all(&this)) {
            status = explore_by_slopes(context, &this);
            if (status == AIS_OK && this.slopes) status = ais_map_rounds(context, &this);
        }
        if (status == AIS_OK && ladder_pays(&this, true)) status = ais_map_climb(context, &this);
    }
    ais_checkpoint_leave(job->checkpoint);
    if ((status == AIS_SPENT || status == AIS_STOPPED) && (this.best || this.explored.any || this.climbed.kernel)) {
        ais_status end = conclude(context, &this);
        status = end == AIS_OK && status == AIS_SPENT ? AIS_OK : end == AIS_OK ? status : end;
    } else if (status == AIS_OK) {
        status = conclude(context, &this);
    }
    training->densities = this.evaluator.densities;
    training->gradients = this.evaluator.gradients;
    release(&this);
    return status;
}
