/* Exploring with NUTS, in stretches that double; the affine map of each is fitted to the stretch before. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <aisampler/diagnostics.h>

#include "base/stop.h"
#include "diagnostics/worst.h"
#include "explore/affine.h"
#include "explore/chains.h"
#include "learned/learned.h"
#include "trainer/map_learning.h"

typedef struct plan {
    int warmup, draws, max_depth;
} plan;

/* Two stretches to find metric and step size, then draws, as often as it takes: the last one is repeated, twice as
 * long each time. Shallow trees at first, where the metric is a guess. */
static const plan stretches[] = {{40, 0, 6}, {80, 0, 8}, {40, 160, 10}};
enum { STRETCHES = sizeof stretches / sizeof *stretches, MOST_STRETCHES = 4 };
static const double enough = 40; /* effective draws: fit and verdict rest on them */

/* Of the points from number `first` on, but for those far below the highest; of draws alone and without gradients for
 * proposals, which have to cover all of p; of all with gradients for NUTS, whose steps follow its narrowest parts. */
static ais_status refit(ais_context *context, ais_map_learning *this, size_t first, bool proposals, double *mean,
                        double *factor) {
    const ais_archive *archive = &this->archive;
    size_t dim = (size_t)archive->dim, n = 0;
    double *x = malloc((archive->count - first + 1) * 2 * dim * sizeof *x), top = -INFINITY;
    if (!x) return ais_fail_memory(context, "an affine map", archive->count * dim * sizeof *x);
    double *gradient = x + (archive->count - first + 1) * dim;
    for (size_t c = first; c < archive->count; c++) top = fmax(top, archive->logp[c]);
    for (size_t c = first; c < archive->count; c++) {
        bool whole = archive->logp[c] > top - 10 - 2 * (double)dim;
        if (proposals) whole = archive->from[c] == AIS_FROM_CHAIN;
        if (!whole || !ais_archive_has_gradient(archive, c)) continue;
        memcpy(x + n * dim, archive->x + c * dim, dim * sizeof *x);
        memcpy(gradient + n++ * dim, archive->gradient + c * dim, dim * sizeof *x);
    }
    ais_status status =
        n > 1 ? ais_affine_fit(context, (int)dim, n, x, proposals ? NULL : gradient, mean, factor) : AIS_OK;
    free(x);
    return status;
}

/* One stretch of the chains from where they are, within what is left to spend. run has its number, steps and map. */
static ais_status go(ais_context *context, ais_map_learning *this, ais_stretch *run) {
    ais_evaluator *evaluator = &this->evaluator;
    long spent = evaluator->densities + evaluator->gradients, left = evaluator->most - spent;
    if (evaluator->most && left < AIS_EXPLORING) {
        ais_kernel_free(run->map);
        return ais_fail(context, AIS_SPENT, "the budget of %ld evaluations was used up by exploration: allow more",
                        evaluator->most);
    }
    run->seed = this->job->options->seed;
    run->chains = AIS_EXPLORING;
    run->x = this->chain;
    run->most = evaluator->most ? left / AIS_EXPLORING : 0;
    run->price = evaluator->price ? evaluator->price : 1;
    run->deadline = evaluator->deadline;
    run->stop = evaluator->stop;
    run->tick = evaluator->tick;
    run->tick_data = evaluator->tick_data;
    run->before = spent;
    ais_status status = ais_explore_stretch(context, evaluator->target, this->job->pool, run, &this->archive);
    evaluator->densities += run->densities;
    ais_count_gradients(evaluator, run->gradients);
    if (status != AIS_OK || !run->cut_short) return status;
    return ais_asked_to_stop(evaluator->stop) ? ais_fail(context, AIS_STOPPED, "stopped while exploring")
                                              : ais_fail(context, AIS_SPENT, "the budget was spent on exploring");
}

/* Where more trajectories diverge than the verdict bears, by how much steps should be smaller: enough for an acceptance
 * of about .95 in place of .8. */
static double careful(const ais_stretch *run) {
    static const double most = 1e-3, smaller = 0.6;
    return (double)run->divergences > most * run->chains * run->draws ? smaller : 1;
}

static ais_status stretch(ais_context *context, ais_map_learning *this, int number) {
    const plan *of = &stretches[number < STRETCHES ? number : STRETCHES - 1];
    int times = number < STRETCHES ? 1 : 1 << (number - STRETCHES + 1), draws = of->draws * times;
    size_t dim = (size_t)this->archive.dim, first = this->archive.count;
    double *state = malloc(dim * AIS_EXPLORING * (size_t)(draws + 1) * sizeof *state);
    if (!state) return ais_fail_memory(context, "draws", dim * (size_t)draws * sizeof *state);
    ais_stretch run = {.number = number,
                       .warmup = of->warmup,
                       .draws = draws,
                       .max_depth = of->max_depth,
                       .state = draws ? state : NULL};
    ais_status status = ais_map_affine(context, this->explored.mean, this->explored.factor, (int)dim, &run.map);
    if (status == AIS_OK && this->evaluator.price) ais_map_difference_steps(this, ais_as_learned(run.map));
    if (status == AIS_OK) status = go(context, this, &run);
    this->explored.stretches = number + 1;
    double ess = 0;
    if (status == AIS_OK && draws) status = ais_find_worst_ess(context, (int)dim, AIS_EXPLORING, draws, state, &ess);
    if (status == AIS_OK && draws) {
        this->explored.any = ess > 4;
        double steps = careful(&run);
        this->explored.step_size = steps * run.step_size;
        this->explored.per_effective = run.leapfrogs / ess / steps;
        if (ess < enough && number + 1 < MOST_STRETCHES) this->explored.any = false;
    }
    free(state);
    if (status != AIS_OK || this->explored.any) return status;
    /* A full archive has moved its points: then all of them are used. */
    return refit(context, this, first < this->archive.count ? first : 0, false, this->explored.mean,
                 this->explored.factor);
}

ais_status ais_map_tune(ais_context *context, ais_map_learning *this, const ais_kernel *map, int warmup, int draws,
                        double *step_size) {
    ais_stretch run = {.number = MOST_STRETCHES, .warmup = warmup, .draws = draws, .max_depth = 6};
    ais_status status = ais_learned_copy(context, map, &run.map);
    if (status == AIS_OK) status = go(context, this, &run);
    *step_size = run.step_size;
    return status;
}

ais_status ais_map_explore(ais_context *context, ais_map_learning *this) {
    size_t dim = (size_t)this->archive.dim;
    ais_status status = AIS_OK;
    memcpy(this->explored.mean, this->mean, dim * sizeof(double));
    memcpy(this->explored.factor, this->factor, dim * dim * sizeof(double));
    /* In a plane splines follow any shape, from weights alone: chains only look for a bend. */
    int most = dim > 2 ? MOST_STRETCHES : STRETCHES - 1;
    while (status == AIS_OK && !this->bent && !this->explored.any && this->explored.stretches < most) {
        ais_training_run_start_progress("exploring", (double)this->explored.stretches / MOST_STRETCHES, this->job);
        size_t first = this->archive.count;
        status = stretch(context, this, this->explored.stretches);
        if (status == AIS_OK && !this->explored.any) status = ais_map_bend(context, this, first);
    }
    if (this->bent || dim <= 2) return status;
    return status == AIS_OK ? refit(context, this, 0, true, this->mean, this->factor) : status;
}
