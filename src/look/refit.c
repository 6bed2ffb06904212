#include "look/refit.h"

#include <math.h>
#include <string.h>

#include "base/random.h"
#include "base/streams.h"
#include "look/eigen.h"
#include "look/local.h"

enum { STEPS = 60, MOST_CLUSTERS = 32, DRAWS = 3072 };

/* Mean and covariance of weighted rows, the covariance about that mean, divided by `total`. */
static void moments(size_t n, size_t dim, const double *x, const double *weight, double total, double *mean,
                    double *covariance) {
    double sum = 0;
    memset(mean, 0, dim * sizeof *mean);
    memset(covariance, 0, dim * dim * sizeof *covariance);
    for (size_t c = 0; c < n; c++) {
        sum += weight[c];
        for (size_t i = 0; i < dim; i++) mean[i] += weight[c] * x[c * dim + i];
    }
    for (size_t i = 0; i < dim; i++) mean[i] /= sum;
    for (size_t c = 0; c < n; c++) {
        if (!(weight[c] > 0)) continue;
        for (size_t i = 0; i < dim; i++) {
            double away = weight[c] / total * (x[c * dim + i] - mean[i]);
            for (size_t j = 0; j <= i; j++) covariance[i * dim + j] += away * (x[c * dim + j] - mean[j]);
        }
    }
    for (size_t i = 0; i < dim; i++)
        for (size_t j = 0; j < i; j++) covariance[j * dim + i] = covariance[i * dim + j];
}

/* Component k from a covariance, which is destroyed; left as it is where that is not possible. */
static void set_from(ais_components *components, int k, const double *mean, double *covariance, double *sd,
                     double *axis) {
    size_t dim = (size_t)components->dim;
    if (!ais_eigen(dim, covariance, sd, axis) || !(sd[dim - 1] > 0)) return;
    for (size_t j = 0; j < dim; j++) sd[j] = sqrt(fmax(sd[j], 1e-12 * sd[dim - 1]));
    ais_components_set_axes(components, k, mean, sd, axis);
}

typedef struct round_room {
    double *x, *logp, *logq, *share, *weight, *part; /* n x dim, n, n, n x count, n, n */
    double *mean, *covariance, *sd, *axis;
} round_room;

static bool take(round_room *room, ais_arena *arena, size_t n, size_t dim, size_t count) {
    room->x = AIS_TAKE(arena, double, n *dim);
    room->logp = AIS_TAKE(arena, double, n);
    room->logq = AIS_TAKE(arena, double, n);
    room->share = AIS_TAKE(arena, double, n *count);
    room->weight = AIS_TAKE(arena, double, n);
    room->part = AIS_TAKE(arena, double, n);
    room->mean = AIS_TAKE(arena, double, dim);
    room->covariance = AIS_TAKE(arena, double, dim *dim);
    room->sd = AIS_TAKE(arena, double, dim);
    room->axis = AIS_TAKE(arena, double, dim *dim);
    return room->x && room->logp && room->logq && room->share && room->weight && room->part && room->mean &&
           room->covariance && room->sd && room->axis;
}

/* Weights that sum to 1, the largest cut at sqrt(n) times the mean (Ionides 2008). Returns the ESS
 * before the cut, 0 when all weights are 0. */
static double weigh(round_room *room, size_t n) {
    double top = -INFINITY, sum = 0, squares = 0, cut = 0;
    for (size_t c = 0; c < n; c++) top = fmax(top, room->logp[c] - room->logq[c]);
    if (top == -INFINITY) return 0;
    for (size_t c = 0; c < n; c++) {
        room->weight[c] = exp(room->logp[c] - room->logq[c] - top);
        sum += room->weight[c];
        squares += room->weight[c] * room->weight[c];
    }
    double most = sum / (double)n * sqrt((double)n);
    for (size_t c = 0; c < n; c++) cut += room->weight[c] = fmin(room->weight[c], most);
    for (size_t c = 0; c < n; c++) room->weight[c] /= cut;
    return sum * sum / squares;
}

/* Moves component k toward the moments of its share; returns the share's weight. */
static double update(ais_components *components, int k, size_t n, round_room *room) {
    size_t dim = (size_t)components->dim, count = (size_t)components->count;
    double total = 0, squares = 0;
    for (size_t c = 0; c < n; c++) {
        double a = room->weight[c] * room->share[c * count + (size_t)k];
        double distance = ais_components_distance(components, k, room->x + c * dim, INFINITY);
        total += a;
        squares += a * a;
        room->part[c] = a * ais_components_pull(components, distance);
    }
    if (!(total > 0)) return 0;
    /* A covariance has dim (dim + 1) / 2 numbers to be known. */
    double effective = total * total / squares, numbers = 0.5 * (double)(dim * (dim + 1)) + 5 * (double)dim;
    double trust = effective / (effective + numbers);
    moments(n, dim, room->x, room->part, total, room->mean, room->covariance);
    const double *mean = components->mean + (size_t)k * dim, *factor = components->factor + (size_t)k * dim * dim;
    for (size_t i = 0; i < dim; i++) room->mean[i] = trust * room->mean[i] + (1 - trust) * mean[i];
    for (size_t i = 0; i < dim * dim; i++) room->covariance[i] *= trust;
    for (size_t i = 0; i < dim; i++)
        for (size_t l = 0; l < dim; l++)
            for (size_t j = 0; j < dim; j++)
                room->covariance[i * dim + l] += (1 - trust) * factor[i * dim + j] * factor[l * dim + j];
    set_from(components, k, room->mean, room->covariance, room->sd, room->axis);
    return total;
}

ais_status ais_refit_round(ais_evaluator *evaluator, uint64_t seed, uint64_t step, size_t n, ais_components *components,
                           double *ess) {
    ais_arena arena = {0};
    round_room room;
    ais_status status = AIS_OK;
    size_t dim = (size_t)components->dim;
    if (!take(&room, &arena, n, dim, (size_t)components->count))
        status = ais_fail_memory(evaluator->context, "a mixture", n * dim * sizeof(double));
    if (status == AIS_OK) {
        ais_components_draw(components, seed, step, n, room.x, evaluator->pool);
        status = ais_evaluate(evaluator, n, room.x, room.logp);
    }
    *ess = 0;
    if (status == AIS_OK) {
        ais_components_logq(components, n, room.x, room.logq, room.share, evaluator->pool);
        *ess = weigh(&room, n);
    }
    if (*ess > 0) {
        for (int k = 0; k < components->count; k++)
            components->weight[k] = 0.95 * update(components, k, n, &room) + 0.05 / components->count;
        ais_components_weigh(components);
    }
    ais_arena_free(&arena);
    return status;
}

/* Local chains' states by cluster, and room to choose centres among them. */
typedef struct pieces {
    size_t n, dim, members; /* points of one cluster are gathered into x */
    double *x, *nearest, *weight, *mean, *covariance, *sd, *axis, *spread;
} pieces;

/* The distance, per coordinate in units of the cluster's sd, between members a and b. */
static double apart(const pieces *p, size_t a, size_t b) {
    double sum = 0;
    for (size_t i = 0; i < p->dim; i++) {
        double away = (p->x[a * p->dim + i] - p->x[b * p->dim + i]) / p->spread[i];
        sum += away * away;
    }
    return sum;
}

/* A component from the `near` members closest to one of them, weighted 1 or 0. */
static void fit_around(pieces *p, size_t centre, size_t near, ais_components *components) {
    size_t dim = p->dim;
    for (size_t c = 0; c < p->members; c++) p->weight[c] = 0;
    double low = 0, high = 1e300;
    for (size_t c = 0; c < p->members; c++) low = fmax(low, apart(p, c, centre));
    high = low;
    low = 0;
    for (int i = 0; i < 40; i++) { /* the radius that holds about `near` of them */
        double radius = 0.5 * (low + high);
        size_t inside = 0;
        for (size_t c = 0; c < p->members; c++) inside += apart(p, c, centre) <= radius;
        if (inside >= near)
            high = radius;
        else
            low = radius;
    }
    double count = 0, trace = 0;
    for (size_t c = 0; c < p->members; c++) count += p->weight[c] = apart(p, c, centre) <= high;
    moments(p->members, dim, p->x, p->weight, count, p->mean, p->covariance);
    for (size_t i = 0; i < dim; i++) trace += p->covariance[i * dim + i] / (double)dim;
    double trust = count / (count + 2 * (double)dim);
    for (size_t i = 0; i < dim * dim; i++) p->covariance[i] *= trust;
    for (size_t i = 0; i < dim; i++) p->covariance[i * dim + i] += (1 - trust) * trace;
    set_from(components, components->count, p->mean, p->covariance, p->sd, p->axis);
}

/* k-means++ centres in one cluster, a component around each. */
static void cover(pieces *p, const ais_stream *stream, size_t wanted, ais_components *components) {
    size_t dim = p->dim, centre = ais_random_below(stream, 0, p->members);
    for (size_t c = 0; c < p->members; c++) p->weight[c] = 1;
    moments(p->members, dim, p->x, p->weight, (double)p->members, p->mean, p->covariance);
    for (size_t i = 0; i < dim; i++) p->spread[i] = sqrt(p->covariance[i * dim + i]) + 1e-300;
    for (size_t c = 0; c < p->members; c++) p->nearest[c] = INFINITY;
    size_t near = p->members / wanted > 6 * dim ? p->members / wanted : 6 * dim;
    for (size_t j = 0; j < wanted && components->count < components->room; j++) {
        fit_around(p, centre, near < p->members ? near : p->members, components);
        double total = 0;
        for (size_t c = 0; c < p->members; c++) {
            p->nearest[c] = fmin(p->nearest[c], apart(p, c, centre));
            total += p->nearest[c];
        }
        double left = total * ais_random_uniform(stream, (uint32_t)j + 1);
        for (centre = 0; centre + 1 < p->members && left >= p->nearest[centre]; centre++) left -= p->nearest[centre];
        if (!(total > 0)) break;
    }
}

static ais_status fit_clusters(ais_evaluator *evaluator, const ais_refit_options *options, size_t n,
                               const double *snapshot, const int *label, int *clusters, ais_components *components,
                               ais_arena *arena) {
    size_t dim = (size_t)components->dim, all = n * AIS_LOCAL_SNAPSHOTS;
    pieces p = {.n = n,
                .dim = dim,
                .x = AIS_TAKE(arena, double, all *dim),
                .nearest = AIS_TAKE(arena, double, all),
                .weight = AIS_TAKE(arena, double, all),
                .mean = AIS_TAKE(arena, double, dim),
                .covariance = AIS_TAKE(arena, double, dim *dim),
                .sd = AIS_TAKE(arena, double, dim),
                .axis = AIS_TAKE(arena, double, dim *dim),
                .spread = AIS_TAKE(arena, double, dim)};
    if (!p.x || !p.nearest || !p.weight || !p.mean || !p.covariance || !p.sd || !p.axis || !p.spread)
        return ais_fail_memory(evaluator->context, "clusters", all * dim * sizeof(double));
    int used = 0, each = options->components / *clusters > 2 ? options->components / *clusters : 2;
    for (int k = 0; k < *clusters; k++) {
        p.members = 0;
        for (size_t c = 0; c < all; c++)
            if (label[c % n] == k) memcpy(p.x + dim * p.members++, snapshot + c * dim, dim * sizeof *p.x);
        if (p.members < 3 * AIS_LOCAL_SNAPSHOTS) continue;
        used++;
        ais_stream stream = ais_stream_for(AIS_USE_CLUSTERS, options->seed, 1000 * options->turn + (uint64_t)k, 0);
        size_t many = p.members / AIS_LOCAL_SNAPSHOTS / (2 * dim), wanted = (size_t)each < many ? (size_t)each : many;
        cover(&p, &stream, wanted ? wanted : 1, components);
    }
    *clusters = used;
    for (int k = 0; k < components->count; k++) components->weight[k] = 1;
    ais_components_weigh(components);
    return AIS_OK;
}

static ais_status fit(ais_evaluator *evaluator, const ais_refit_options *options, ais_components *components,
                      int *clusters, ais_arena *arena) {
    size_t dim = (size_t)components->dim, copies = options->starts ? (size_t)(256 / options->starts) : 0;
    if (options->starts && !copies) copies = 1;
    size_t optima = copies * (size_t)options->starts, n = optima + (size_t)options->count;
    double *x = AIS_TAKE(arena, double, n *dim), *logp = AIS_TAKE(arena, double, n);
    double *snapshot = AIS_TAKE(arena, double, n *dim *AIS_LOCAL_SNAPSHOTS);
    int *label = AIS_TAKE(arena, int, n);
    if (!x || !logp || !snapshot || !label) return ais_fail_memory(evaluator->context, "chains", n * dim);
    for (size_t c = 0; c < optima; c++) memcpy(x + c * dim, options->start + c / copies * dim, dim * sizeof *x);
    memcpy(x + optima * dim, options->x, (size_t)options->count * dim * sizeof *x);
    double depth = fmax(5, 2 * (double)dim);
    ais_status status = ais_local_chains(evaluator, options->seed, 1000 * options->turn, n, STEPS, options->scale / 20,
                                         x, logp, snapshot);
    if (status == AIS_OK) status = ais_clusters(evaluator, n, x, logp, depth, MOST_CLUSTERS, label, clusters);
    if (status == AIS_OK) status = fit_clusters(evaluator, options, n, snapshot, label, clusters, components, arena);
    return status;
}

ais_status ais_refit(ais_evaluator *evaluator, const ais_refit_options *options, ais_components *components,
                     int *clusters) {
    ais_arena arena = {0};
    ais_status status = fit(evaluator, options, components, clusters, &arena);
    ais_arena_free(&arena);
    double before = 0;
    for (int round = 0; round < options->rounds && status == AIS_OK && components->count; round++) {
        double ess;
        status = ais_refit_round(evaluator, options->seed, ((uint64_t)1 << 36) + 1000 * options->turn + (uint64_t)round,
                                 DRAWS, components, &ess);
        if (round >= 2 && fmin(ess, before) > 0.6 * DRAWS) break;
        before = ess;
    }
    return status;
}
