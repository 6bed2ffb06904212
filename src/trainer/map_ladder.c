/* The ladder, for densities for which no map, mixture or chain alone will do. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <aisampler/diagnostics.h>

#include "base/stop.h"
#include "diagnostics/worst.h"
#include "explore/affine.h"
#include "fit/flow_start.h"
#include "learned/learned.h"
#include "look/modes.h"
#include "trainer/map_learning.h"

enum { AFFINE_ROUNDS = 5, LEARNED_ROUNDS = 3 }; /* at the most */

/* The search region, wider along coordinates where modes lie farther out. What the look found says where p is, never
 * where it is not: a base that is narrow because of it would miss the same as the look. */
static ais_status first_base(ais_context *context, ais_map_learning *this, ais_kernel **map) {
    const ais_components *mixture = &this->mixture;
    size_t dim = (size_t)this->archive.dim;
    double *mean = calloc(dim + dim * dim, sizeof *mean);
    if (!mean) return ais_fail_memory(context, "a ladder", dim * dim * sizeof *mean);
    double *factor = mean + dim;
    for (size_t i = 0; i < dim; i++) {
        double square = this->scale * this->scale;
        for (size_t k = 0; k < (size_t)mixture->count; k++)
            square = fmax(square, mixture->mean[k * dim + i] * mixture->mean[k * dim + i]);
        factor[i * dim + i] = sqrt(square);
    }
    ais_status status = ais_map_affine(context, mean, factor, (int)dim, map);
    free(mean);
    return status;
}

static void keep_diagonal(size_t dim, double *factor) {
    for (size_t i = 0; i < dim; i++) {
        double square = 0;
        for (size_t j = 0; j < dim; j++) {
            square += factor[i * dim + j] * factor[i * dim + j];
            factor[i * dim + j] = 0;
        }
        factor[i * dim + i] = sqrt(square);
    }
}

static ais_status affine_base(ais_context *context, size_t dim, size_t n, const double *x, bool diagonal,
                              ais_kernel **map) {
    double *mean = malloc((dim + dim * dim) * sizeof *mean);
    if (!mean) return ais_fail_memory(context, "a ladder's base", dim * dim * sizeof *mean);
    ais_status status = ais_affine_fit(context, (int)dim, n, x, NULL, mean, mean + dim);
    if (status == AIS_OK && diagonal) keep_diagonal(dim, mean + dim);
    if (status == AIS_OK) status = ais_map_affine(context, mean, mean + dim, (int)dim, map);
    free(mean);
    return status;
}

/* How far the points reach in the space of an affine map. */
static double reach_of(const ais_kernel *affine, size_t n, const double *x) {
    const ais_whitening *whitening = &ais_as_learned(affine)->whitening;
    size_t dim = (size_t)whitening->dim;
    double reach = 0;
    for (size_t c = 0; c < n; c++)
        for (size_t i = 0; i < dim; i++) {
            double u = 0;
            for (size_t j = 0; j < dim; j++)
                u += whitening->inverse[i * dim + j] * (x[c * dim + j] - whitening->mean[j]);
            reach = fmax(reach, fabs(u));
        }
    return reach;
}

/* Fits a map to points that follow p, by likelihood. */
static ais_status fit_base(ais_context *context, ais_map_learning *this, size_t n, const double *x, ais_kernel *map) {
    ais_training_run *job = this->job;
    size_t dim = (size_t)this->archive.dim;
    ais_flow_data data = {0};
    ais_archive tops;
    ais_recipe recipe = {.name = "likelihood",
                         .batch = 256,
                         .steps = 300,
                         .pace = {.rate = 1e-2, .warmup = 0.1, .clip = 5},
                         .round = 20,
                         .report_every = 20};
    double *weight = malloc(2 * n * sizeof *weight);
    if (!weight) return ais_fail_memory(context, "a ladder's base", n * dim * sizeof *weight);
    for (size_t c = 0; c < n; c++) weight[c] = -INFINITY, weight[n + c] = 0;
    ais_archive_begin(&tops, (int)dim, false, n);
    ais_status status = ais_archive_add(context, &tops, AIS_FROM_CHAIN, n, x, weight + n, NULL);
    if (status == AIS_OK) status = ais_flow_data_draws(context, &data, &tops, ais_as_learned(map), weight);
    ais_flow_fit self = {.learned = (ais_learned *)map,
                         .data = &data,
                         .pool = job->pool,
                         .seed = job->options->seed,
                         .likelihood_share = 1,
                         .second = AIS_FLOW_PAIR};
    ais_loop loop = {.method = &ais_flow_method,
                     .self = &self,
                     .recipe = &recipe,
                     .watch = ais_training_run_watch(job, this->evaluator.deadline, false)};
    if (status == AIS_OK) status = ais_loop_run(context, &loop);
    ais_flow_data_free(&data);
    ais_archive_free(&tops);
    free(weight);
    return status;
}

/* The mean of log q over the points. */
static ais_status height_of(ais_context *context, const ais_map_learning *this, const ais_kernel *map, size_t n,
                            const double *x, double *height) {
    double *logq = malloc(n * sizeof *logq);
    ais_status status =
        logq ? ais_source_logq(context, &(ais_source){.map = map}, this->archive.dim, this->job->pool, n, x, logq)
             : ais_fail_memory(context, "a ladder's base", n * sizeof *logq);
    *height = 0;
    for (size_t c = 0; c < n && status == AIS_OK; c++) *height += logq[c] / (double)n;
    free(logq);
    return status;
}

/* Splines along the coordinates, or along the principal axes, followed by one coupling layer: whichever makes the tops
 * more likely. */
static ais_status learn_base(ais_context *context, ais_map_learning *this, const ais_climb *climb, ais_kernel **best) {
    size_t dim = (size_t)this->archive.dim, n;
    double *x = ais_climb_tops(climb, &n), highest = -INFINITY, height = -INFINITY;
    ais_status status = x ? AIS_OK : ais_fail_memory(context, "a ladder's base", n * dim * sizeof *x);
    for (int diagonal = 0; diagonal < 2 && status == AIS_OK; diagonal++) {
        ais_kernel *affine = NULL, *map = NULL;
        ais_shape shape = {.map = AIS_SPLINE,
                           .reversal = AIS_SWAP,
                           .dim = (int)dim,
                           .layers = 1,
                           .hidden = 8,
                           .depth = 1,
                           .bins = 4,
                           .marginal_bins = 24,
                           .activation = AIS_TANH,
                           .pivot = dim > 1,
                           .permutation = this->job->options->seed};
        status = affine_base(context, dim, n, x, diagonal, &affine);
        if (status == AIS_OK) shape.bound = fmin(fmax(1.25 * reach_of(affine, n, x), 4), 40);
        if (status == AIS_OK) status = ais_kernel_learned(context, &shape, shape.permutation, &map);
        if (status == AIS_OK) {
            const ais_whitening *whitening = &ais_as_learned(affine)->whitening;
            ais_flow_spread(map, shape.permutation, 0);
            status = ais_kernel_whiten(context, map, whitening->mean, whitening->factor);
        }
        if (status == AIS_OK) status = fit_base(context, this, n, x, map);
        if (status == AIS_OK) status = height_of(context, this, map, n, x, &height);
        ais_kernel_free(affine);
        if (status == AIS_OK && height > highest) {
            ais_kernel_free(*best);
            *best = map;
            highest = height;
        } else {
            ais_kernel_free(map);
        }
    }
    free(x);
    return status;
}

/* As a share of the draws. */
static double worth_of(const ais_climb *climb) {
    return fmin(climb->worst_ess / ((double)AIS_CLIMBERS * climb->steps), 1);
}

static ais_status go(ais_context *context, ais_map_learning *this, ais_climb *climb, int steps, bool tune) {
    ais_evaluator *evaluator = &this->evaluator;
    int number = climb->round, rounds = AFFINE_ROUNDS + 1 + 2 * LEARNED_ROUNDS;
    long spent = evaluator->densities + evaluator->gradients;
    climb->most = evaluator->most ? evaluator->most - spent : 0;
    climb->before = spent;
    ais_training_run_climbs(this->job, number, rounds);
    ais_status status = ais_climb_round(context, climb, steps, tune);
    evaluator->densities += climb->densities;
    evaluator->gradients += climb->gradients;
    if (status == AIS_OK && climb->cut_short)
        return ais_asked_to_stop(evaluator->stop)
                   ? ais_fail(context, AIS_STOPPED, "stopped on the ladder")
                   : ais_fail(context, AIS_SPENT, "the budget was used up in round %d of the ladder: allow more",
                              number + 1);
    if (status == AIS_OK)
        status = ais_find_worst_ess(context, climb->target->dim, AIS_CLIMBERS, climb->steps, climb->draws,
                                    &climb->worst_ess);
    if (status == AIS_OK)
        ais_training_run_climbed(this->job, number, rounds, climb->accepted[climb->rungs - 1], worth_of(climb));
    return status;
}

/* What an effective draw of the last round took, in evaluations. */
static double cost_of(const ais_climb *climb) {
    double ess = climb->worst_ess;
    return ess > 0 ? (double)(climb->densities + climb->gradients) / ess : INFINITY;
}

static ais_status keep(ais_context *context, ais_map_learning *this, const ais_climb *climb) {
    ais_climbed *to = &this->climbed;
    size_t dim = (size_t)climb->target->dim, steps = (size_t)climb->steps;
    ais_kernel_free(to->kernel);
    free(to->x);
    *to = (ais_climbed){.per_effective = cost_of(climb),
                        .acceptance = climb->accepted[climb->rungs - 1],
                        .worst_ess = worth_of(climb),
                        .rungs = {.count = climb->rungs},
                        .base = ais_kernel_name(climb->map),
                        .log_z = climb->log_z,
                        .log_z_error = climb->log_z_error,
                        .barrier = climb->barrier,
                        .trips = climb->trips,
                        .count = AIS_CLIMBERS * steps,
                        .x = malloc(AIS_CLIMBERS * steps * dim * sizeof *to->x)};
    if (!to->x) return ais_fail_memory(context, "a ladder", steps * dim * sizeof *to->x);
    memcpy(to->rungs.beta, climb->beta, sizeof to->rungs.beta);
    memcpy(to->rungs.rejection, climb->rejection, sizeof to->rungs.rejection);
    for (size_t c = 0; c < AIS_CLIMBERS; c++)
        for (size_t t = 0; t < steps; t++)
            for (size_t i = 0; i < dim; i++)
                to->x[(c * steps + t) * dim + i] = climb->draws[(i * AIS_CLIMBERS + c) * steps + t];
    return ais_climb_kernel(context, climb, &to->kernel);
}

/* Rounds that double, each with rungs and a base that follow from the one before, until enough replicas reach the top
 * from the bottom; then one with all of it fixed. Where a ladder is all that will do, a budget that ends on the way
 * leaves the ladder of the round before. */
static ais_status affine_rounds(ais_context *context, ais_map_learning *this, ais_climb *climb) {
    enum { FIRST = 32, LAST = 512, MOST = AFFINE_ROUNDS + 3 };
    ais_status status = AIS_OK;
    for (int r = 0; r < MOST && (r < AFFINE_ROUNDS || climb->trips < AIS_ENOUGH_ARRIVED); r++) {
        status = go(context, this, climb, r < AFFINE_ROUNDS ? FIRST << r : LAST, true);
        if (status == AIS_OK && this->job->options->ladder) status = keep(context, this, climb);
        if (status == AIS_OK) status = ais_climb_refit(context, climb);
        if (status != AIS_OK) return status;
        ais_climb_respace(climb);
    }
    status = go(context, this, climb, LAST, false);
    return status == AIS_OK ? keep(context, this, climb) : status;
}

/* From maps that are learned from the tops, as long as they lower the barrier; kept where an effective draw then takes
 * less. A map has no mass where no top was: tops that did not come from the base are not learned from. */
static ais_status learned_rounds(ais_context *context, ais_map_learning *this, ais_climb *climb) {
    enum { SHORT = 64, LONG = 512 };
    static const double lower = 0.8;
    double before = climb->barrier;
    ais_status status = AIS_OK;
    for (int r = 0; r < LEARNED_ROUNDS && status == AIS_OK && climb->trips >= AIS_ENOUGH_ARRIVED; r++) {
        ais_kernel *map = NULL;
        status = learn_base(context, this, climb, &map);
        if (status != AIS_OK) return status;
        ais_climb_rebase(climb, map);
        status = go(context, this, climb, SHORT, true);
        if (status != AIS_OK || !(climb->barrier < lower * before)) return status;
        ais_climb_respace(climb);
        status = go(context, this, climb, LONG, true);
        before = climb->barrier;
        if (status == AIS_OK && cost_of(climb) < this->climbed.per_effective) status = keep(context, this, climb);
    }
    return status;
}

/* Tops begin at the modes that were found, as often as they weigh, and then see what else there is. */
static ais_status begin(ais_context *context, ais_map_learning *this, ais_climb *climb) {
    enum { RUNGS = 12 };
    const ais_components *mixture = &this->mixture;
    size_t dim = (size_t)this->archive.dim;
    double reached = 0, *x = malloc(AIS_CLIMBERS * dim * sizeof *x);
    ais_kernel *map = NULL;
    if (!x) return ais_fail_memory(context, "a ladder", AIS_CLIMBERS * dim * sizeof *x);
    for (int c = 0, k = 0; c < AIS_CLIMBERS; c++) {
        while (k + 1 < mixture->count && reached + mixture->weight[k] < (c + 0.5) / AIS_CLIMBERS)
            reached += mixture->weight[k++];
        memcpy(x + (size_t)c * dim, mixture->count ? mixture->mean + (size_t)k * dim : this->mean, dim * sizeof *x);
    }
    ais_status status = first_base(context, this, &map);
    if (status == AIS_OK)
        status = ais_climb_begin(context, climb, this->job->target, this->job->pool, this->job->options->seed, map,
                                 RUNGS, AIS_CLIMBERS, x);
    free(x);
    climb->deadline = this->evaluator.deadline;
    climb->stop = this->evaluator.stop;
    climb->tick = this->evaluator.tick;
    climb->tick_data = this->evaluator.tick_data;
    return status;
}

/* Modes of some weight of their own that the look found and the ladder has never been near: then it has lost them. */
static int lost_modes(const ais_map_learning *this) {
    static const double some = 0.02;
    const ais_components *mixture = &this->mixture;
    const ais_climbed *climbed = &this->climbed;
    size_t dim = (size_t)this->archive.dim;
    int lost = 0;
    for (int k = 0; k < mixture->count; k++) {
        bool seen = !(mixture->weight[k] - AIS_MODES_EVEN / mixture->count > some);
        for (size_t c = 0; c < climbed->count && !seen; c++) {
            double own = ais_components_distance(mixture, k, climbed->x + c * dim, INFINITY);
            seen = true;
            for (int j = 0; j < mixture->count && seen; j++)
                seen = j == k || !(ais_components_distance(mixture, j, climbed->x + c * dim, own) < own);
        }
        lost += !seen;
    }
    return lost;
}

ais_status ais_map_climb(ais_context *context, ais_map_learning *this) {
    ais_climb climb = {0};
    ais_status status = begin(context, this, &climb);
    if (status == AIS_OK) status = affine_rounds(context, this, &climb);
    if (status == AIS_OK) status = learned_rounds(context, this, &climb);
    if (this->climbed.kernel) this->climbed.lost = lost_modes(this);
    ais_climb_free(&climb);
    return status;
}
