#include "look/start.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/block.h"
#include "base/streams.h"
#include "look/anneal.h"
#include "look/lines.h"
#include "look/refit.h"
#include "look/suspect.h"
#include "look/weighted.h"

/* Squares of distances, with room for the farthest ones, are numbers. */
static const double SMALLEST_SCALE = 1e-100, LARGEST_SCALE = 1e100;

enum { COMPONENTS = 16, REFIT_DRAWS = 3072, TEMPERATURES = 400, SUMMITS_TELL = 3 };

typedef struct session {
    const ais_start_options *options;
    ais_evaluator evaluator;
    ais_search search;
    ais_modes modes;
    ais_components adapted;  /* from population Monte Carlo after annealing */
    ais_components *mixture; /* the one of the two in use */
    ais_weighted weighted;
    uint64_t attempt; /* of weighted draws */
    double scale;
    ais_start *start;
    ais_arena arena;
    ais_annealing annealing;
    bool missing; /* annealing has found more mass than the mixture has */
    bool rising;  /* the last optimisations from anywhere still found modes */
} session;

static void tell(const session *s, const char *stage, double share) {
    if (s->options->progress) s->options->progress(stage, share, s->options->progress_data);
}

static const char *name_of(const ais_target *target) { return target->name ? target->name : "(without a name)"; }

static ais_status refuse(ais_context *context, const ais_target *target, const ais_start_options *options) {
    if (target->dim < 1 || !target->logp)
        return ais_fail(context, AIS_BAD_ARGUMENT, "a cold start needs a target with a dimension and a log density");
    if (target->dim > AIS_START_MOST_DIM)
        return ais_fail(
            context, AIS_BAD_ARGUMENT,
            "a cold start handles up to %d dimensions, and target %.100s has %d: draw with sample --sampler nuts",
            AIS_START_MOST_DIM, name_of(target), target->dim);
    if (!target->grad && target->dim > AIS_START_MOST_DIM_DIFFERENCES)
        return ais_fail(context, AIS_BAD_ARGUMENT,
                        "without a gradient a cold start handles up to %d dimensions, and target %.100s has %d: give a "
                        "gradient, or draw with sample --sampler rwm",
                        AIS_START_MOST_DIM_DIFFERENCES, name_of(target), target->dim);
    double scale = options->scale != 0 ? options->scale : target->start_scale;
    if (scale != 0 && !(scale >= SMALLEST_SCALE && scale <= LARGEST_SCALE))
        return ais_fail(
            context, AIS_BAD_ARGUMENT,
            "the start scale is %g: it must be a number from %g to %g; measure the parameters in other units", scale,
            SMALLEST_SCALE, LARGEST_SCALE);
    if (options->population < 0 || options->population > 1 << 18 || options->screen < 0 || options->screen > 1L << 28)
        return ais_fail(context, AIS_BAD_ARGUMENT,
                        "population is %d, but may be at most %d; screen is %ld, but may be at most %ld",
                        options->population, 1 << 18, options->screen, 1L << 28);
    return AIS_OK;
}

/* Whether another batch may begin: within the effort, or within twice of it, but no more than a quarter of a budget,
 * where the last one found a mode. */
static bool goes_on(const session *s, bool found) {
    const ais_evaluator *evaluator = &s->evaluator;
    long limit = 2 * s->search.effort;
    if (evaluator->most && limit > evaluator->most / 4) limit = evaluator->most / 4;
    if (ais_search_goes_on(&s->search)) return true;
    return found && s->modes.mixture.count > 1 && evaluator->densities + evaluator->gradients < limit;
}

/* Optimisations in batches, as long as they find something: one batch in vain is enough for a density with one mode,
 * two for others. Differences make a gradient dear; in few dimensions the screen's summits are better places to begin
 * at. */
static ais_status optimise(session *s) {
    bool slopes = s->evaluator.target->grad, few = s->search.weighed;
    int usual = slopes || s->modes.mixture.dim <= 2 ? 8 : 4, most = few ? usual : 64, vain = 0;
    int runs = s->modes.mixture.count ? usual : usual / 2; /* the first know nothing of scales, and take longer */
    ais_status status = AIS_OK;
    for (int done = 0; done < most && vain < (s->modes.mixture.count > 1 ? 2 : 1) && status == AIS_OK; done += runs) {
        if (done && !goes_on(s, vain == 0)) break;
        int before = s->modes.mixture.count;
        tell(s, "optimising", (double)done / most);
        status = ais_search_begin(&s->search, runs);
        runs = usual;
        vain = s->modes.mixture.count > before ? 0 : vain + 1;
    }
    s->rising = !few && vain == 0 && s->modes.mixture.count > 1;
    return status;
}

/* Parts of the density that a valley divides and that have some of its mass. */
static int relevant_groups(const session *s) {
    int count = 0;
    for (int g = 0; g < s->modes.mixture.count; g++) {
        bool relevant = false;
        for (int k = 0; k < s->modes.mixture.count; k++)
            relevant |= s->search.group[k] == g && ais_search_relevant(&s->search, k);
        count += relevant;
    }
    return count;
}

static ais_status look(session *s) {
    ais_start *start = s->start;
    ais_status status = optimise(s);
    if (status == AIS_OK) status = ais_suspect(&s->search, start->warning, sizeof start->warning);
    if (status != AIS_OK) return status;
    if (ais_search_widen(&s->search) && (status = optimise(s)) != AIS_OK) return status;
    /* If the screen leads to few optimisations, and shows too little by itself. */
    if (!s->evaluator.target->grad && !s->search.weighed && (status = ais_search_lines(&s->search)) != AIS_OK)
        return status;
    tell(s, "screening", 0);
    long wanted = s->options->screen, dim = s->modes.mixture.dim;
    if (!wanted) wanted = dim <= 8 ? 4000 * dim : 24000 + 1000 * dim;
    s->search.planes = s->options->planes ? s->options->planes : 4 * wanted;
    if ((status = ais_search_screen(&s->search, wanted, 4 * wanted)) != AIS_OK) return status;
    if (s->modes.mixture.count) ais_modes_weigh(&s->modes);
    status = ais_search_join(&s->search);
    start->separate = s->search.groups > 1 ? relevant_groups(s) : s->search.groups;
    return status;
}

static ais_status draw(session *s, ais_components *mixture) {
    s->mixture = mixture;
    tell(s, "weighing", 0);
    return ais_weighted_draw(&s->weighted, &s->evaluator, mixture, s->options->seed,
                             ais_stream_step(AIS_USE_LOOK_DRAWS) * ++s->attempt, 2.0 * s->start->count);
}

static bool good(const session *s, double share, double pareto_k) {
    const ais_weighing *weighing = &s->weighted.weighing;
    return weighing->ess >= 256 && weighing->ess >= share * (double)s->weighted.n && weighing->pareto_k < pareto_k;
}

/* Weights that are nearly good (worse ones would hide arms that no draw has reached): the mixture is moved to where
 * they say, and drawn from again. */
static ais_status adapt(session *s, ais_components *mixture, int rounds) {
    double before = 0;
    for (int round = 0; round < rounds; round++) {
        double ess;
        tell(s, "adapting", (double)round / rounds);
        ais_status status =
            ais_refit_round(&s->evaluator, s->options->seed, ais_stream_step(AIS_USE_REFIT) + (uint64_t)round,
                            REFIT_DRAWS, mixture, &ess);
        if (status != AIS_OK) return status;
        if (round && fmin(ess, before) > 0.6 * REFIT_DRAWS) break;
        before = ess;
    }
    return draw(s, mixture);
}

/* Optima whose evidence is not negligible: local chains start there too. */
static int worthy_optima(const session *s, double *start) {
    size_t dim = (size_t)s->modes.mixture.dim;
    int count = 0;
    double top = s->annealing.log_z;
    for (int k = 0; k < s->modes.mixture.count; k++) top = fmax(top, ais_modes_evidence(&s->modes, k));
    for (int k = 0; k < s->modes.mixture.count && count < 64; k++)
        if (ais_modes_evidence(&s->modes, k) > top - 20)
            memcpy(start + (size_t)count++ * dim, s->modes.mixture.mean + (size_t)k * dim, dim * sizeof *start);
    return count;
}

/* Members first .. count - 1 of the population, from the weighted draws. */
static ais_status take_population(session *s, size_t first) {
    ais_start *start = s->start;
    ais_stream stream = ais_stream_for(AIS_USE_POPULATION, s->options->seed, 0, 0);
    size_t count = (size_t)start->count - first, *index = AIS_TAKE(&s->arena, size_t, count);
    if (!index) return ais_fail_memory(s->evaluator.context, "a population", count * sizeof *index);
    ais_weighted_resample(&s->weighted, ais_random_uniform(&stream, 0), count, index,
                          start->x + first * (size_t)start->dim, start->logp + first);
    return AIS_OK;
}

/* Where the weights stay bad: half of the population from annealing, half from the weighted draws,
 * both moved. */
static ais_status compromise(session *s) {
    ais_start *start = s->start;
    size_t dim = (size_t)start->dim, half = (size_t)start->count / 2;
    if (!s->mixture->count) return AIS_OK;
    if (s->weighted.weighing.ess > 10) {
        for (size_t c = 1; c < half; c++) { /* every second of the annealed */
            memcpy(start->x + c * dim, start->x + 2 * c * dim, dim * sizeof *start->x);
            start->logp[c] = start->logp[2 * c];
        }
        ais_status status = take_population(s, half);
        if (status != AIS_OK) return status;
    }
    return ais_weighted_sweep(&s->weighted, &s->evaluator, s->mixture, s->options->seed,
                              ais_stream_step(AIS_USE_SWEEPS), 20, s->annealing.step, (size_t)start->count, start->x,
                              start->logp);
}

/* A mixture from local chains that begin at the population. */
static ais_status refit(session *s, uint64_t turn) {
    size_t dim = (size_t)s->modes.mixture.dim;
    double *optima = AIS_TAKE(&s->arena, double, 64 * dim);
    if (!optima || !ais_components_take(&s->adapted, &s->arena, (int)dim, 16 * COMPONENTS))
        return ais_fail_memory(s->evaluator.context, "a mixture", dim * dim);
    int worthy = worthy_optima(s, optima);
    ais_refit_options options = {.seed = s->options->seed,
                                 .turn = turn,
                                 .scale = s->scale,
                                 .count = s->start->count,
                                 .x = s->start->x,
                                 .start = optima,
                                 .starts = worthy,
                                 .components = 2 * worthy > COMPONENTS ? 2 * worthy : COMPONENTS,
                                 .rounds = 14};
    tell(s, "adapting", 0);
    return ais_refit(&s->evaluator, &options, &s->adapted, &s->start->separate);
}

/* Arms that annealing hardly reached show up as a log Z that rises from one fit to the next. */
static ais_status refit_until_settled(session *s) {
    enum { TURNS = 5 };
    for (uint64_t turn = 0; turn < TURNS; turn++) {
        ais_weighing before = s->weighted.weighing;
        ais_status status = refit(s, turn);
        if (status != AIS_OK) return status;
        if (!s->adapted.count) break;
        if ((status = draw(s, &s->adapted)) != AIS_OK) return status;
        const ais_weighing *now = &s->weighted.weighing;
        double noise = sqrt(now->log_error * now->log_error + before.log_error * before.log_error);
        if (turn && fabs(now->log_mean - before.log_mean) < 0.005 + noise) break;
        if (now->ess < 50 || turn + 1 == TURNS) break;
        if ((status = take_population(s, 0)) != AIS_OK) return status;
    }
    if (s->adapted.count) return AIS_OK;
    s->mixture = &s->adapted;
    s->weighted.n = 0;
    s->weighted.weighing = (ais_weighing){0, s->annealing.log_z, s->annealing.log_z_error, INFINITY};
    return AIS_OK;
}

static ais_status anneal(session *s) {
    ais_start *start = s->start;
    int dim = start->dim;
    ais_anneal_options options = {.seed = s->options->seed,
                                  .scale = s->scale,
                                  .population = start->count,
                                  .moves = dim <= 2 ? 6 : 20,
                                  .temperatures = TEMPERATURES,
                                  .progress = s->options->progress,
                                  .progress_data = s->options->progress_data};
    start->annealed = true;
    ais_status status = ais_anneal(&s->evaluator, &options, start->x, start->logp, &s->annealing);
    if (status == AIS_OK) status = refit_until_settled(s);
    if (status != AIS_OK || !s->adapted.count) return status;
    double noise = 1 + 3 * (s->annealing.log_z_error + s->weighted.weighing.log_error);
    s->missing = s->annealing.reached >= 1 && s->annealing.log_z > s->weighted.weighing.log_mean + noise;
    start->trusted = good(s, 0.02, 0.7) && !s->missing && s->annealing.reached >= 1;
    return start->trusted ? AIS_OK : compromise(s);
}

static ais_status populate(session *s) {
    ais_start *start = s->start;
    ais_status status = AIS_OK;
    if (s->modes.mixture.count) status = draw(s, &s->modes.mixture);
    start->trusted = status == AIS_OK && s->modes.mixture.count && good(s, 0.02, 0.5);
    if (status == AIS_OK && !start->trusted && s->modes.mixture.count &&
        (good(s, 0.02, 0.7) || good(s, 0.1, INFINITY))) {
        status = adapt(s, &s->modes.mixture, 8);
        start->trusted = status == AIS_OK && good(s, 0.02, 0.5);
    }
    if (status == AIS_OK && (!start->trusted || s->options->anneal)) status = anneal(s);
    if (status == AIS_OK && start->trusted) status = take_population(s, 0);
    return status;
}

static void append(char *text, const char *format, double a, double b) {
    size_t used = strlen(text);
    snprintf(text + used, AIS_START_TEXT - used, format, a, b);
}

static void write_sentences(session *s) {
    ais_start *start = s->start;
    char *warning = start->warning, sparse[64] = "";
    if (start->sparse) snprintf(sparse, sizeof sparse, " and %ld near modes", start->sparse);
    snprintf(start->sentence, sizeof start->sentence,
             "%ld points%s screened, %d mode%s%s, fewest hits %d; a mode that dominates less than %.2g of the search "
             "region N(0, %.3g^2) may be missed",
             start->screened, sparse, start->separate, start->separate == 1 ? "" : "s",
             start->annealed ? " (annealed)" : "", start->fewest_hits,
             s->search.anywhere > 3 ? 3.0 / (double)s->search.anywhere : 1.0, start->scale);
    /* How often the only mode was hit says nothing of others. */
    if (!start->annealed && start->fewest_hits < 5 && start->separate > 1)
        append(warning, "a mode was hit by only %.0f of %.0f points, so that others like it may have been missed; ",
               start->fewest_hits, (double)(start->screened + start->sparse));
    if (!start->annealed && s->rising && !s->search.dry)
        append(warning, "the search still found modes when it ended, after %.0f of them: there are likely to be more; ",
               (double)s->modes.mixture.count, 0);
    if (s->missing)
        append(warning, "annealing found more mass (log Z %.3g) than the mixture holds (%.3g); ", s->annealing.log_z,
               s->weighted.weighing.log_mean);
    if (start->annealed && s->annealing.reached < 1)
        append(warning, "annealing did not end: temperature %.3g of 1 was reached in %.0f steps; ",
               s->annealing.reached, s->annealing.temperatures);
    if (!start->trusted && !s->options->look_only)
        append(warning,
               "the weights of the start cannot be trusted (ESS %.3g, Pareto k %.2g): mode weights and log Z are "
               "guesses; ",
               start->importance_ess, start->pareto_k);
    if (2 * (s->search.stuck + s->search.fled) > s->search.runs && !start->trusted && !s->options->look_only)
        append(warning, "%.0f of %.0f optimisations did not converge; ", s->search.stuck + s->search.fled,
               s->search.runs);
    size_t used = strlen(warning);
    if (used > 1) warning[used - 2] = '\0'; /* the last "; " */
}

static ais_status export_modes(session *s) {
    ais_start *start = s->start;
    const ais_components *mixture = s->mixture;
    size_t dim = (size_t)start->dim, count = (size_t)mixture->count;
    start->modes = mixture->count;
    start->mode_mean = AIS_TAKE(&start->arena, double, count *dim);
    start->mode_factor = AIS_TAKE(&start->arena, double, count *dim *dim);
    start->mode_weight = AIS_TAKE(&start->arena, double, count);
    bool room = ais_components_take(&start->mixture, &start->arena, start->dim, (int)count);
    if (!start->mode_mean || !start->mode_factor || !start->mode_weight || !room)
        return ais_fail_memory(s->evaluator.context, "modes", count * dim * dim * sizeof(double));
    ais_components_copy(&start->mixture, mixture);
    memcpy(start->mode_mean, mixture->mean, count * dim * sizeof(double));
    memcpy(start->mode_factor, mixture->factor, count * dim * dim * sizeof(double));
    memcpy(start->mode_weight, mixture->weight, count * sizeof(double));
    return AIS_OK;
}

static ais_status conclude(session *s) {
    ais_start *start = s->start;
    const ais_weighing *weighing = &s->weighted.weighing;
    start->log_z = weighing->log_mean;
    start->log_z_error = weighing->log_error;
    if (start->annealed && !start->trusted && (s->missing || !(weighing->ess > 10))) {
        start->log_z = s->annealing.log_z;
        start->log_z_error = s->annealing.log_z_error;
    }
    start->importance_ess = weighing->ess;
    start->importance_n = (double)s->weighted.n;
    start->pareto_k = weighing->pareto_k;
    start->scale = s->scale;
    start->screened = s->search.screened;
    start->sparse = s->search.sparse;
    start->screens = s->search.screens;
    memcpy(start->screen, s->search.screen, sizeof start->screen);
    start->fewest_hits = (int)ais_search_fewest_hits(&s->search);
    start->densities = s->evaluator.densities;
    start->gradients = s->evaluator.gradients;
    start->peak = AIS_TAKE(&start->arena, double, start->dim);
    if (!start->peak) return ais_fail_memory(s->evaluator.context, "modes", (size_t)start->dim * sizeof(double));
    memcpy(start->peak, s->search.peak, (size_t)start->dim * sizeof(double));
    ais_status status = export_modes(s);
    if (status == AIS_OK && start->trusted && s->weighted.n) { /* else the room of the draws was used for sweeps */
        double *share = AIS_TAKE(&s->arena, double, AIS_BLOCK *(size_t)start->modes);
        if (share) ais_weighted_modes(&s->weighted, s->mixture, share, start->mode_weight);
    }
    write_sentences(s);
    return status;
}

static ais_status prepare(session *s, ais_context *context, const ais_target *target) {
    ais_start *start = s->start;
    size_t dim = (size_t)target->dim, count = s->options->population ? (size_t)s->options->population : 1024;
    /* Fits cost dim^3: fewer modes where there are many dimensions. */
    int most = dim <= 4 ? 128 : dim <= 32 ? 64 : dim <= 128 ? 16 : 6;
    s->scale = s->options->scale > 0 ? s->options->scale : target->start_scale > 0 ? target->start_scale : 1;
    s->evaluator = (ais_evaluator){.context = context,
                                   .target = target,
                                   .pool = s->options->pool,
                                   .stop = s->options->stop,
                                   .most = s->options->most,
                                   .deadline = s->options->deadline,
                                   .tick = s->options->tick,
                                   .tick_data = s->options->progress_data,
                                   .difference = 1e-5 * s->scale};
    start->dim = target->dim;
    start->count = (int)count;
    start->x = AIS_TAKE(&start->arena, double, count *dim);
    start->logp = AIS_TAKE(&start->arena, double, count);
    if (!start->x || !start->logp ||
        !ais_weighted_take(&s->weighted, &s->arena, count > 1024 ? 16 * count : 16384, target->dim))
        return ais_fail_memory(context, "a population", 17 * count * dim * sizeof(double));
    ais_status status =
        ais_search_new(&s->search, &s->evaluator, s->options->seed, s->scale, most, &s->modes, &start->arena);
    s->search.effort = s->options->effort;
    s->search.weighed = !target->grad && target->dim <= SUMMITS_TELL;
    return status;
}

ais_status ais_cold_start(ais_context *context, const ais_target *target, const ais_start_options *options,
                          ais_start **out) {
    *out = NULL;
    ais_status status = refuse(context, target, options);
    if (status != AIS_OK) return status;
    session s = {.options = options, .start = ais_allocate(sizeof(ais_start))};
    if (!s.start) return ais_fail_memory(context, "a cold start", sizeof(ais_start));
    status = prepare(&s, context, target);
    s.mixture = &s.modes.mixture;
    if (status == AIS_OK) status = look(&s);
    if (status == AIS_OK && !options->look_only) status = populate(&s);
    if (status == AIS_OK && options->look_only) s.start->trusted = s.modes.mixture.count > 0;
    s.start->spent = status == AIS_SPENT && s.search.peak_logp > -INFINITY;
    if (s.start->spent && s.start->separate > 1) s.start->separate = 1; /* modes were not joined */
    if (status == AIS_OK || s.start->spent) status = conclude(&s);
    ais_evaluator_free(&s.evaluator);
    ais_arena_free(&s.arena);
    if (status != AIS_OK)
        ais_start_free(s.start);
    else
        *out = s.start;
    return status;
}

void ais_start_free(ais_start *start) {
    if (!start) return;
    ais_arena_free(&start->arena);
    free(start);
}
