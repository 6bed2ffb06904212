/* Fit and judge in turn. */
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/ranks.h"
#include "base/streams.h"
#include "explore/affine.h"
#include "fit/flow_start.h"
#include "learned/learned.h"
#include "trainer/map_learning.h"

/* Random numbers of proposals, apart from those of the look. */

ais_status ais_map_affine(ais_context *context, const double *mean, const double *factor, int dim,
                          ais_kernel **kernel) {
    const ais_shape shape = {.map = AIS_AFFINE, .reversal = AIS_SWAP, .dim = dim};
    ais_status status = ais_kernel_learned(context, &shape, 0, kernel);
    return status == AIS_OK ? ais_kernel_whiten(context, *kernel, mean, factor) : status;
}

void ais_map_forget(ais_map_learning *this) {
    ais_kernel_free(this->best);
    this->best = NULL;
    this->vain = 0;
    this->evidence = (ais_weighing){.log_mean = NAN, .log_error = INFINITY};
    this->most_accepted = 0;
}

/* A mode whose share is nothing, e^-800 of the others', keeps the least that a number can say. */
static ais_status copy_mixture(ais_context *context, const ais_components *from, ais_kernel **out) {
    size_t count = (size_t)from->count;
    double *weight = malloc(count * sizeof *weight);
    if (!weight) return ais_fail_memory(context, "a mixture", count * sizeof *weight);
    for (size_t k = 0; k < count; k++) weight[k] = fmax(from->weight[k], DBL_MIN);
    const ais_mixture_options options = {.dim = from->dim,
                                         .count = from->count,
                                         .mean = from->mean,
                                         .factor = from->factor,
                                         .weight = weight,
                                         .freedom = from->freedom};
    ais_status status = ais_kernel_mixture(context, &options, out);
    free(weight);
    return status;
}

/* ---- judge ----------------------------------------------------------------------------------------- */

/* Numbers of archived points that follow p, whoever proposed them: the chains' draws, evenly spread over all of them,
 * or, without chains, proposals so far by their weights, as many as they stand for. How many. */
static size_t follow(const ais_archive *archive, const double *weight, double *room, size_t most, size_t *index) {
    size_t total = 0, n = 0, seen = 0;
    for (size_t c = 0; c < archive->count; c++) total += archive->from[c] == AIS_FROM_CHAIN;
    size_t many = total < most ? total : most;
    for (size_t c = 0; c < archive->count && n < many; c++)
        if (archive->from[c] == AIS_FROM_CHAIN && seen++ * many / total >= n) index[n++] = c;
    if (total || archive->dim <= AIS_FEW_DIMENSIONS) return n; /* in few the next fit learns of them soon enough */
    double ess = archive->count ? ais_weigh(archive->count, weight, room).ess : 0;
    if (!(ess > 0)) return 0;
    n = ess < (double)most ? (size_t)ess : most;
    ais_systematic(archive->count, weight, 0.5, n, index);
    return n;
}

/* Log weights under the map of points that follow p; *many of them, released by free(). */
static ais_status weigh_others(ais_context *context, const ais_map_learning *this, const ais_source *source,
                               double **weight, size_t *many) {
    enum { MOST = 2048 };
    const ais_archive *archive = &this->archive;
    size_t dim = (size_t)archive->dim, n = archive->count;
    *many = 0;
    *weight = malloc((2 * n + MOST * (dim + 1) + 1) * sizeof **weight);
    size_t *index = malloc(MOST * sizeof *index);
    if (!*weight || !index) {
        free(index);
        return ais_fail_memory(context, "weights of draws", n * sizeof **weight);
    }
    double *room = *weight + n, *x = room + n, *logq = x + MOST * dim;
    ais_status status = ais_archive_weigh(context, archive, this->job->pool, *weight);
    if (status == AIS_OK) *many = follow(archive, *weight, room, MOST, index);
    for (size_t c = 0; c < *many; c++) memcpy(x + c * dim, archive->x + index[c] * dim, dim * sizeof *x);
    if (*many) status = ais_source_logq(context, source, archive->dim, this->job->pool, *many, x, logq);
    for (size_t c = 0; c < *many; c++) (*weight)[c] = archive->logp[index[c]] - logq[c];
    free(index);
    return status;
}

/* As many as the budget allows. */
static size_t affordable(const ais_map_learning *this, size_t n) {
    const ais_evaluator *evaluator = &this->evaluator;
    long left = evaluator->most - evaluator->densities - evaluator->gradients;
    return evaluator->most && left < (long)n ? (size_t)(left > 0 ? left : 0) : n;
}

/* Of a mixture with a box: puts what lies in it first; how many. */
static size_t within(const ais_source *source, int dim, size_t n, double *x) {
    size_t kept = 0, row = (size_t)dim;
    if (!source->mixture || !source->box.low) return n;
    for (size_t c = 0; c < n; c++) {
        if (!(ais_box_logq(&source->box, dim, x + c * row) > -INFINITY)) continue;
        for (size_t i = 0; i < row && kept < c; i++) {
            double swapped = x[kept * row + i];
            x[kept * row + i] = x[c * row + i];
            x[c * row + i] = swapped;
        }
        kept++;
    }
    return kept;
}

ais_status ais_map_draw(ais_context *context, ais_map_learning *this, int from, size_t n, double *room) {
    size_t dim = (size_t)this->archive.dim, inside;
    n = affordable(this, n);
    double *x = room, *logp = x + n * dim;
    ais_status status = ais_source_draw(
        context, &this->archive.source[from], (int)dim, this->job->pool, this->job->options->seed,
        ais_stream_step(AIS_USE_WIDELY) + (uint64_t)this->round * AIS_MOST_SOURCES + (uint64_t)from, n, x, NULL);
    if (status != AIS_OK) return status;
    inside = within(&this->archive.source[from], this->archive.dim, n, x);
    for (size_t c = inside; c < n; c++) logp[c] = -INFINITY;
    status = ais_evaluate(&this->evaluator, inside, x, logp);
    return status == AIS_OK ? ais_archive_add(context, &this->archive, from, n, x, logp, NULL) : status;
}

ais_status ais_map_source(ais_context *context, ais_map_learning *this, const ais_source *source, int *from) {
    ais_kernel *snapshot = NULL;
    ais_status status = source->map ? ais_learned_copy(context, source->map, &snapshot) : AIS_OK;
    if (status != AIS_OK) return status;
    if (this->archive.sources == AIS_MOST_SOURCES) { /* the oldest one goes */
        ais_kernel_free(this->snapshot[0]);
        memmove(this->snapshot, this->snapshot + 1, (AIS_MOST_SOURCES - 1) * sizeof *this->snapshot);
    }
    ais_source kept = *source;
    if (source->map) kept.map = snapshot;
    *from = ais_archive_source(&this->archive, &kept);
    this->snapshot[*from] = snapshot;
    return AIS_OK;
}

/* A judgement of the best by more draws. */
static bool judged_before(const ais_map_learning *this, const ais_source *source) {
    return this->best && source->map == this->best;
}

static ais_status draw_and_weigh(ais_context *context, ais_map_learning *this, const ais_source *source, size_t n,
                                 double *room, ais_verdict *verdict) {
    int dim = this->archive.dim;
    bool slopes = this->slopes && !judged_before(this, source); /* a fit may follow */
    double *x = room, *gradient = x + n * (size_t)dim, *logp = gradient + n * (size_t)dim, *logq = logp + n;
    double *given = NULL;
    size_t many;
    int from = -1;
    ais_status status = ais_source_draw(context, source, dim, this->job->pool, this->job->options->seed,
                                        ais_stream_step(AIS_USE_JUDGE) + (uint64_t)this->round, n, x, logq);
    if (status == AIS_OK)
        status = slopes ? ais_evaluate_gradient(&this->evaluator, n, x, logp, gradient)
                        : ais_evaluate(&this->evaluator, n, x, logp);
    for (size_t c = 0; c < n && status == AIS_OK; c++)
        if (logq[c] == INFINITY) logp[c] = -INFINITY; /* a draw that was lost: it must have no weight later, either */
    if (status == AIS_OK) status = ais_map_source(context, this, source, &from);
    if (status == AIS_OK) status = ais_archive_add(context, &this->archive, from, n, x, logp, slopes ? gradient : NULL);
    if (status == AIS_OK) status = weigh_others(context, this, source, &given, &many);
    this->judged = from;
    for (size_t c = 0; c < n && status == AIS_OK; c++) logq[c] = logp[c] - logq[c];
    if (status == AIS_OK) status = ais_judge_weights(context, n, logq, many, given, this->economy.wanted, verdict);
    free(given);
    return status;
}

/* A map that is fitted to weighted draws of its own learns tails that are too light, and light tails propose nothing
 * that could teach it better. So some draws come from beyond: a normal in its latent space that is wider, by about the
 * same distance in any dimension. */
static ais_status draw_beyond(ais_context *context, ais_map_learning *this, const ais_source *source, size_t n,
                              double *room) {
    static const double distance = 3.35; /* docs/notebook/maps.md */
    int from;
    ais_source wide = *source;
    wide.width = 1 + distance / sqrt(this->archive.dim);
    ais_status status = ais_map_source(context, this, &wide, &from);
    return status == AIS_OK ? ais_map_draw(context, this, from, n, room) : status;
}

/* Some draws of the widest source beside those of a map that is still rough: it may have forgotten something. */
static ais_status draw_widely(ais_context *context, ais_map_learning *this, size_t n, double *room) {
    return this->archive.sources ? ais_map_draw(context, this, 0, n, room) : AIS_OK;
}

/* Points beside those of the last judgement, which a fit to come will want. */
static ais_status draw_beside(ais_context *context, ais_map_learning *this) {
    const ais_source *source = &this->archive.source[this->judged];
    size_t n = this->judged < 0 ? 0 : (size_t)this->archive.drawn[this->judged];
    double *room = malloc((n + 1) * ((size_t)this->archive.dim + 1) * sizeof *room);
    ais_status status = room ? AIS_OK : ais_fail_memory(context, "proposals", n * sizeof *room);
    if (status == AIS_OK && n && !this->fine) status = draw_widely(context, this, n / 9, room);
    if (status == AIS_OK && n && source->map) status = draw_beyond(context, this, source, n / 2, room);
    this->judged = -1;
    free(room);
    return status;
}

/* Draws of a map are fresh: what they say of Z depends on no other estimate, and is unbiased whatever the map was
 * fitted to. So they are combined, each by the number of its draws: its own error would prefer draws that have met no
 * large weight, and say too little. A few hundred draws of a map that misses a part of p also give too small a value,
 * without showing it: so only maps are used that are accepted about as often as the best, also at points that others
 * proposed. */
static void add_evidence(ais_map_learning *this, const ais_verdict *verdict, double n) {
    static const double as_good = 0.75;
    const ais_weighing *term = &verdict->weighing;
    double accepted = verdict->acceptance;
    ais_weighing *sum = &this->evidence;
    if (!(term->log_error > 0 && term->log_error < 0.5) || accepted < as_good * this->most_accepted) return;
    if (isnan(sum->log_mean) || as_good * accepted > this->most_accepted) {
        *sum = *term;
        sum->ess = n; /* of evidence: draws */
    } else {
        double a = sum->ess / (sum->ess + n), b = 1 - a;
        sum->log_mean += log(a + b * exp(term->log_mean - sum->log_mean));
        sum->log_error = hypot(a * sum->log_error, b * term->log_error);
        sum->ess += n;
    }
    this->most_accepted = fmax(this->most_accepted, accepted);
}

/* Proposals that an effective draw costs: with steps of NUTS after every *proposals of them where there
 * are gradients; alone (0) where there are none, where a map is so bad that NUTS knows nothing of its latent space, or
 * where the caller chose its shape: then it draws by proposals alone, as requested. Of a mixture NUTS steps in the
 * space of its modes' common covariance, unless the mixture is fair enough by itself or the dimensions are few, where
 * weights teach any shape. */
static double effective_cost(const ais_map_learning *this, bool map, const ais_verdict *verdict, int *proposals) {
    /* Of a step of NUTS where p is about normal; the less it is so in the latent space, the more. */
    static const double usual_leapfrogs = 7, hopeless = 0.1, of_modes = 0.5, fair = 3;
    bool free = !this->job->options->shape && this->job->target->grad;
    bool leads = map ? this->slopes && verdict->acceptance > hopeless
                     : this->archive.dim > AIS_FEW_DIMENSIONS && verdict->seen > fair;
    bool relief = free && leads;
    double leapfrogs = usual_leapfrogs / (map ? verdict->acceptance : of_modes);
    double least = relief ? INFINITY : verdict->seen, step = leapfrogs * this->economy.gradient / this->economy.density;
    *proposals = 0;
    for (int k = 0; k < AIS_RELIEFS && relief; k++) {
        double many = ais_relief_proposals(k), cost = verdict->relieved[k] * (many + step) / (many + 1);
        if (!(cost < least)) continue;
        least = cost;
        *proposals = (int)many;
    }
    return least;
}

/* Proposals beyond one that an effective draw of a map without any flaw costs, judged by n draws. */
static double open_waste(const ais_map_learning *this, bool map, size_t n) {
    const ais_verdict flawless = ais_flawless(n);
    int proposals;
    return effective_cost(this, map, &flawless, &proposals) - 1;
}

static double flaw(const ais_map_learning *this) { return fmax(this->waste - this->open, 0); }

ais_status ais_map_judge(ais_context *context, ais_map_learning *this, const ais_source *source, size_t n) {
    enum { LEAST = 32 };
    static const double worth = 0.95; /* of the waste before: a round that leaves more was as good as in vain */
    ais_verdict verdict;
    n = affordable(this, n);
    if (n < LEAST)
        return ais_fail(context, AIS_SPENT,
                        "a budget of %ld evaluations is too small: %ld were used before a map was "
                        "judged",
                        this->evaluator.most, this->evaluator.densities + this->evaluator.gradients);
    double *room = malloc(n * (2 * (size_t)this->archive.dim + 2) * sizeof *room);
    ais_status status = room ? draw_and_weigh(context, this, source, n, room, &verdict)
                             : ais_fail_memory(context, "proposals", n * sizeof *room);
    free(room);
    this->round++;
    if (status != AIS_OK) return status;
    this->share_before = this->share;
    this->share = verdict.weighing.ess / (double)n;
    add_evidence(this, &verdict, (double)n);
    int proposals;
    double cost = fmin(effective_cost(this, source->map, &verdict, &proposals), 1e6), waste = cost - 1;
    bool again = judged_before(this, source);
    ais_training_run_judged(this->job, &verdict, 1 / ais_draws_per_effective(&verdict, proposals));
    if (this->best && !again && !(waste < this->waste)) {
        this->vain++;
        return AIS_OK;
    }
    bool known = this->best != NULL;
    double left = known ? flaw(this) : NAN;
    ais_kernel *kept;
    status =
        source->map ? ais_learned_copy(context, source->map, &kept) : copy_mixture(context, source->mixture, &kept);
    if (status != AIS_OK) return status;
    ais_kernel_free(this->best);
    this->best = kept;
    if (!again) {
        this->vain = known && waste > worth * this->waste ? this->vain + 1 : 0;
        this->flaw_before = left;
    }
    this->waste = waste;
    this->open = open_waste(this, source->map, n);
    this->judged_by = n;
    this->verdict = verdict;
    this->proposals = proposals;
    return AIS_OK;
}

/* ---- fit ------------------------------------------------------------------------------------------- */

/* Passes of a map per point and step: fisher goes three times forward, three times back and twice to the weights; the
 * others once each. */
static double passes(const ais_map_learning *this) { return this->slopes ? 8 : 3; }

static double map_work(const ais_kernel *kernel) {
    const ais_learned *learned = ais_as_learned(kernel);
    double dim = ais_kernel_dim(kernel);
    return learned ? (double)learned->weight_count + dim * dim : 0; /* a mixture's is little beside a density */
}

static const double small_map = 5000; /* about as many weights has the first map of a plan */

static double proposal_cost(const ais_map_learning *this) {
    return this->economy.density + this->economy.arithmetic * map_work(this->best);
}

double ais_map_cost(const ais_map_learning *this) {
    return this->best ? (1 + this->waste) * proposal_cost(this) : INFINITY;
}

double ais_nuts_cost(const ais_map_learning *this) {
    bool drawn = this->explored.any && this->job->target->grad; /* differences serve for learning alone */
    return drawn ? this->explored.per_effective * this->economy.gradient : INFINITY;
}

static double fit_work(const ais_map_learning *this) {
    double map = this->present ? map_work(this->present) : small_map;
    return (double)this->fit.steps * this->plan->recipe.batch * passes(this) * map;
}

/* The whitening of a new map: mean and factor as they are (fisher), or those of the weighted points. */
static ais_status whiten(ais_context *context, ais_map_learning *this, const double *weight, double *bound) {
    enum { POINTS = 4096 };
    static const double room = 1.25, least = 4, most = 40;
    const ais_archive *archive = &this->archive;
    size_t dim = (size_t)archive->dim, *index = malloc(POINTS * sizeof *index);
    double *x = malloc(POINTS * dim * sizeof *x), reach = 0;
    ais_status status = index && x ? AIS_OK : ais_fail_memory(context, "a whitening", POINTS * dim * sizeof *x);
    if (status == AIS_OK) {
        ais_stream stream = ais_stream_for(AIS_USE_WHITENING, this->job->options->seed, (uint64_t)this->round, 0);
        ais_systematic(archive->count, weight, ais_random_uniform(&stream, 0), POINTS, index);
        for (size_t c = 0; c < POINTS; c++) memcpy(x + c * dim, archive->x + index[c] * dim, dim * sizeof *x);
        status = ais_affine_fit(context, (int)dim, POINTS, x, NULL, this->mean, this->factor);
    }
    for (size_t i = 0; i < dim && status == AIS_OK && this->plan->diagonal; i++) {
        double square = 0;
        for (size_t j = 0; j < dim; j++) {
            square += this->factor[i * dim + j] * this->factor[i * dim + j];
            this->factor[i * dim + j] = 0;
        }
        this->factor[i * dim + i] = sqrt(square);
    }
    ais_kernel *map = NULL;
    if (status == AIS_OK) status = ais_map_affine(context, this->mean, this->factor, (int)dim, &map);
    for (size_t c = 0; c < POINTS && status == AIS_OK; c++)
        for (size_t i = 0; i < dim; i++) {
            double u = 0;
            for (size_t j = 0; j < dim; j++)
                u += ais_as_learned(map)->whitening.inverse[i * dim + j] * (x[c * dim + j] - this->mean[j]);
            reach = fmax(reach, fabs(u));
        }
    *bound = fmin(fmax(room * reach, least), most);
    ais_kernel_free(map);
    free(index);
    free(x);
    return status;
}

/* A map that is about the identity on the whitened space. */
static ais_status begin_map(ais_context *context, ais_map_learning *this, const double *weight) {
    const uint64_t seed = this->job->options->seed;
    ais_shape shape = this->plan->shape;
    ais_status status = AIS_OK;
    double bound;
    shape.dim = this->archive.dim;
    shape.permutation = seed;
    if (!this->slopes) {
        status = whiten(context, this, weight, &bound);
        if (shape.bound == 0) shape.bound = bound;
    }
    ais_kernel_free(this->present);
    this->present = NULL;
    if (status == AIS_OK) status = ais_kernel_learned(context, &shape, seed, &this->present);
    if (status != AIS_OK) return status;
    ais_flow_spread(this->present, seed, this->plan->spread);
    return ais_kernel_whiten(context, this->present, this->mean, this->factor);
}

/* The points of the fit to come, after a new map was begun where one is due. */
static ais_status take_data(ais_context *context, ais_map_learning *this, ais_flow_data *data) {
    static const double hold = 0.1; /* of the points: to stop before they are learned by heart */
    *data = (ais_flow_data){0};
    double *weight = NULL;
    ais_status status = AIS_OK;
    if (!this->slopes) {
        weight = malloc((this->archive.count + 1) * sizeof *weight);
        status = weight ? ais_archive_weigh(context, &this->archive, this->job->pool, weight)
                        : ais_fail_memory(context, "weights", this->archive.count * sizeof *weight);
    }
    if (status == AIS_OK && this->fit.new_map) status = begin_map(context, this, weight);
    this->fit.new_map = false;
    if (status == AIS_OK)
        status = this->slopes
                     ? ais_flow_data_slopes(context, data, &this->archive, ais_as_learned(this->present), hold)
                     : ais_flow_data_draws(context, data, &this->archive, ais_as_learned(this->present), weight);
    if (status == AIS_OK && !data->count)
        status =
            ais_fail(context, AIS_BAD_DENSITY,
                     "none of %zu points has a positive density: there is nothing to learn from; give a --start-scale "
                     "of the region where %s is",
                     this->archive.count, this->job->target->name);
    free(weight);
    return status;
}

static ais_status fit(ais_context *context, ais_map_learning *this) {
    ais_flow_data data;
    ais_recipe recipe = this->plan->recipe;
    ais_training_run *job = this->job;
    ais_status status = take_data(context, this, &data);
    recipe.steps = this->fit.steps;
    if (this->fine && !isnan(this->given_share)) this->fit.likelihood_share = this->given_share;
    ais_flow_fit self = {.learned = (ais_learned *)this->present,
                         .data = &data,
                         .pool = job->pool,
                         .seed = job->options->seed,
                         .batches = this->batches,
                         .likelihood_share = this->fit.likelihood_share,
                         .second = this->slopes ? AIS_FLOW_FISHER : AIS_FLOW_PAIR,
                         .first_rate = this->plan->first_rate,
                         .last_rate = this->plan->last_rate};
    ais_loop loop = {.method = &ais_flow_method,
                     .self = &self,
                     .recipe = &recipe,
                     .watch = ais_training_run_watch(job, this->evaluator.deadline, true)};
    if (status == AIS_OK) status = ais_loop_run(context, &loop);
    this->batches += (uint64_t)recipe.steps;
    job->training->rollbacks += loop.rollbacks;
    if (status == AIS_OK && this->economy.measured) {
        double *cost = &this->economy.arithmetic;
        double seconds = (ais_processor_now() - this->fit_began) / ais_pool_threads(job->pool);
        *cost = ais_coarse(seconds / fit_work(this));
        status = ais_ranks_first(context, job->options->ranks, cost, sizeof *cost);
    }
    ais_flow_data_free(&data);
    return status;
}

/* ---- rounds ---------------------------------------------------------------------------------------- */

/* All that is left to spend if the best is judged again, by n draws. */
static double cost_again(const ais_map_learning *this, size_t n) {
    const ais_verdict more = ais_verdict_of_more(&this->verdict, (double)n / (double)this->judged_by);
    int proposals;
    double draw = effective_cost(this, true, &more, &proposals) * proposal_cost(this);
    return (double)n * this->economy.density + this->economy.wanted * draw;
}

/* How many draws that should be; 0: it is not worth it. More of them serve to propose more often between two steps of
 * NUTS. Where the map has flaws these steps do more than lead out of what was not seen, and are worth keeping. */
static size_t draws_again(const ais_map_learning *this) {
    enum { MOST = 1 << 14 };
    static const double most_flaw = 0.1; /* beside what is open: notebook */
    size_t best = 0;
    bool map = this->best && this->slopes && ais_as_learned(this->best);
    if (!map || !(flaw(this) < most_flaw * this->open)) return 0;
    double least = this->economy.wanted * fmin(ais_map_cost(this), ais_nuts_cost(this));
    for (size_t n = 2 * this->judged_by; n <= MOST && affordable(this, n) == n; n *= 2) {
        double cost = cost_again(this, n);
        if (!(cost < least)) continue;
        least = cost;
        best = n;
    }
    return best;
}

/* Whether what a fit and the judgement after it cost is less than what they are likely to save in draws. */
static bool pays(const ais_map_learning *this) {
    enum { VAIN = 1, MOST_VAIN = 8 };
    static const double much_more = 1.5; /* a map that has become so much better than the one before is not in vain */
    static const double stake = 0.1;     /* of what the draws would cost, for rounds that may be in vain */
    const ais_economy *economy = &this->economy;
    if (!this->best) return true;
    double waste = ais_waste_after(this->flaw_before, flaw(this)) + open_waste(this, this->present, this->fit.draws);
    double points = (double)this->fit.draws * (this->slopes ? 1 : 1.5); /* with those beyond */
    double cost = points * (this->slopes ? economy->gradient : economy->density) + economy->arithmetic * fit_work(this);
    double draw = fmin(ais_map_cost(this), ais_nuts_cost(this)), stop = economy->wanted * draw;
    size_t again = draws_again(this);
    if (again) stop = cost_again(this, again);
    if (!this->evaluator.most) stop = fmin(stop, ais_map_explored_cost(this)); /* a budget may not last for it */
    bool rises = this->share > much_more * this->share_before;
    bool cheap = !this->slopes && this->vain * cost < stake * stop;
    bool bold = this->vain <= MOST_VAIN && (rises || cheap);
    return (this->vain <= VAIN || bold) && cost + economy->wanted * (1 + waste) * proposal_cost(this) < stop;
}

/* Fisher: every point that was evaluated comes 20 times; as many more follow, up to what a verdict needs. */
static ais_status plan_slopes(ais_context *context, ais_map_learning *this, bool *due) {
    enum { MOST_DRAWS = 2048, MOST_POINTS = 8192 };
    ais_status status = this->present ? AIS_OK : begin_map(context, this, NULL);
    double points = fmin((double)this->archive.count, MOST_POINTS);
    this->fit.steps = (long)ceil(20 * points / this->plan->recipe.batch);
    this->fit.draws = this->archive.count < MOST_DRAWS ? this->archive.count : MOST_DRAWS;
    *due = status == AIS_OK && pays(this);
    return status;
}

/* The next larger map, where this one has stopped improving. */
static bool enlarge(ais_map_learning *this) {
    static const double much = 0.5; /* waste that a first fit should not have left */
    const ais_map_plan *next = ais_map_plan_for(this->archive.dim, this->slopes, this->plan_number + 1);
    if (this->plan == &this->own_plan || !next || !(this->waste > much)) return false;
    this->plan = next;
    this->plan_number++;
    this->fit.new_map = true;
    this->flaw_before = NAN;
    return true;
}

/* Draws that the archive's weights stand for. */
static ais_status archive_ess(ais_context *context, const ais_map_learning *this, double *ess) {
    size_t n = this->archive.count;
    double *weight = malloc(2 * (n + 1) * sizeof *weight);
    ais_status status = weight ? ais_archive_weigh(context, &this->archive, this->job->pool, weight)
                               : ais_fail_memory(context, "weights", n * sizeof *weight);
    if (status == AIS_OK) *ess = ais_weigh(n, weight, weight + n).ess;
    free(weight);
    return status;
}

/* Importance sampling: rough fits by likelihood, with new draws after each, as long as the weights of the map's draws
 * become more even, or until there are points enough in few dimensions; then fits with the pair loss, as long as they
 * pay. */
static ais_status plan_weights(ais_context *context, ais_map_learning *this, bool *due) {
    enum { ROUGH = 300, SHORT = 150, FINE = 1500, DRAWS = 500, NEW_MAPS = 3, MOST_ROUGH = 8 };
    static const double even = 0.7, growth = 1.1, hopeless = 0.02, enough = 500;
    ais_fit_plan *fit = &this->fit;
    int number = fit->number++;
    *due = false;
    if (number == 0 && this->best) { /* a mixture may do: would all that a map takes pay? */
        fit->steps = NEW_MAPS * ROUGH + FINE;
        fit->draws = (NEW_MAPS + 1) * DRAWS;
        this->flaw_before = NAN; /* what mixtures gained says nothing of maps */
        if (!pays(this)) return AIS_OK;
    }
    /* The first fit has shown what a step costs: the last one alone may take longer than all draws by what there is. */
    fit->steps = FINE;
    if (number > 0 && !this->fine && this->best && this->economy.measured &&
        this->economy.arithmetic * fit_work(this) > this->economy.wanted * ais_map_cost(this))
        return AIS_OK;
    if (!this->fine) {
        double ess = 0;
        ais_status status = this->archive.dim <= AIS_FEW_DIMENSIONS ? archive_ess(context, this, &ess) : AIS_OK;
        if (status != AIS_OK) return status;
        bool settled = number >= NEW_MAPS && (this->share > even || !(this->share > growth * this->share_before));
        this->fine = settled || number >= MOST_ROUGH || ess > enough;
        /* Above a few dimensions there are other ways, and weights of a few points teach nothing. */
        if (this->fine && this->best && this->share<hopeless &&this->archive.dim> AIS_FEW_DIMENSIONS) return AIS_OK;
        fit->new_map = number < NEW_MAPS;
        fit->steps = this->fine ? FINE : fit->new_map ? ROUGH : SHORT;
        fit->likelihood_share = this->fine ? 0.4 : 1;
        fit->draws = DRAWS;
        *due = true;
        return AIS_OK;
    }
    fit->draws = (size_t)fmin((double)this->archive.count / 2, fmax(this->economy.wanted / 16, DRAWS));
    *due = (enlarge(this) || fit->steps) && pays(this);
    return AIS_OK;
}

/* One fit, as long as the caller wants it. */
static bool plan_given(ais_map_learning *this) {
    this->fit.new_map = true;
    this->fine = true;
    this->fit.steps = this->job->options->steps;
    this->fit.likelihood_share = this->slopes ? 0 : 0.4;
    this->fit.draws = 512;
    return this->fit.number++ == 0;
}

ais_status ais_map_rounds(ais_context *context, ais_map_learning *this) {
    ais_status status = AIS_OK;
    bool due = true;
    while (status == AIS_OK) {
        if (!this->fitting && this->job->options->steps)
            due = plan_given(this);
        else if (!this->fitting && this->slopes)
            status = plan_slopes(context, this, &due);
        else if (!this->fitting)
            status = plan_weights(context, this, &due);
        size_t again = due ? 0 : draws_again(this);
        if (status == AIS_OK && again) {
            status = ais_map_judge(context, this, &(ais_source){.map = this->best}, again);
            continue;
        }
        if (status != AIS_OK || !due) return status;
        if (!this->fitting && !this->slopes) status = draw_beside(context, this);
        if (status != AIS_OK) return status;
        if (!this->fitting) this->fit_began = ais_processor_now();
        this->fitting = true; /* a resumed training continues here */
        status = fit(context, this);
        this->fitting = false;
        this->job->training->attempts++;
        if (status == AIS_OK)
            status = ais_map_judge(context, this, &(ais_source){.map = this->present}, this->fit.draws);
    }
    return status;
}
