/* Bends, tried as soon as there are gradients to see them by: chains would take long to follow them, and never reach
 * the end of a neck. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/sort.h"
#include "base/streams.h"
#include "fit/bend.h"
#include "fit/flow_start.h"
#include "fit/neck.h"
#include "trainer/map_learning.h"

enum {
    MOST_DIMENSIONS = 100,
    MOST_ROWS = 512,
    DRAWS = 256,

    STRIDE = 191,
    MOST_NECK = 60,
    NECK_BINS = 24
};

/* Points to fit to, at most MOST_ROWS. */
typedef struct rows {
    size_t n;
    double *x, *gradient;
    double *sorted; /* room for all log densities of the archive */
} rows;

/* Densities below this are of chains on their way, or of trajectories that went astray. */
static double lowest(const ais_archive *archive, size_t first, size_t end, double *sorted) {
    size_t n = end - first;
    memcpy(sorted, archive->logp + first, n * sizeof *sorted);
    qsort(sorted, n, sizeof *sorted, ais_rising);
    return sorted[n / 2] - 10 - 3 * archive->dim;
}

/* Adds up to `wanted` of points `first` to `end`, evenly spread, neighbours far apart. */
static void add_rows(const ais_archive *archive, size_t first, size_t end, size_t wanted, rows *to) {
    size_t dim = (size_t)archive->dim, total = end - first;
    double floor = total ? lowest(archive, first, end, to->sorted) : 0;
    if (wanted > total) wanted = total;
    for (size_t k = 0; k < wanted; k++) {
        size_t c = first + (k * STRIDE % wanted) * total / wanted;
        if (!(archive->logp[c] > floor) || !ais_archive_has_gradient(archive, c)) continue;
        memcpy(to->x + to->n * dim, archive->x + c * dim, dim * sizeof(double));
        memcpy(to->gradient + to->n++ * dim, archive->gradient + c * dim, dim * sizeof(double));
    }
}

/* Points of chains, and in later turns those of the bend before beside them. */
static ais_bend_points take_rows(const ais_archive *archive, size_t first, size_t chains, rows *to) {
    to->n = 0;
    if (chains > archive->count) first = 0, chains = archive->count; /* it was full, and has moved its points */
    size_t proposals = archive->count - chains;
    if (proposals > MOST_ROWS / 2) proposals = MOST_ROWS / 2;
    add_rows(archive, first, chains, MOST_ROWS - proposals, to);
    add_rows(archive, chains, archive->count, proposals, to);
    return (ais_bend_points){.n = to->n, .x = to->x, .gradient = to->gradient};
}

/* A bend to begin with, and after it one whose points are its proposals too, as long as that makes it better. The best
 * one is *kernel; its importance ESS per draw *share. */
static ais_status fit_bends(ais_context *context, ais_map_learning *this, const ais_shape *shape, size_t first,
                            rows *room, ais_kernel **kernel, double *share) {
    enum { TURNS = 4 };
    static const double fits = 0.5, better = 1.1, best = 0.95;
    size_t chains = this->archive.count;
    ais_status status = AIS_OK;
    for (int turn = 0; turn < TURNS && *share < best; turn++) {
        ais_kernel *next = NULL;
        double misfit = NAN, before = *share;
        const ais_bend_points points = take_rows(&this->archive, first, chains, room);
        if (points.n < 2 * (size_t)shape->dim + 10) break; /* as many as there are numbers to a curve, and some */
        status = ais_bend_fit(context, shape, &points, &next, &misfit);
        bool judged = status == AIS_OK && next && misfit < fits;
        if (judged) status = ais_map_judge(context, this, &(ais_source){.map = next}, DRAWS);
        if (judged && status == AIS_OK && *share < this->share) {
            ais_kernel_free(*kernel);
            *kernel = next;
            *share = this->share;
        } else {
            ais_kernel_free(next);
        }
        if (status != AIS_OK || !(*share > better * before)) break;
    }
    return status;
}

/* The log density of the scale that governs a neck, by walks along the ridge from the middle to both sides until
 * nothing is left of it, and the warp that follows. The gradients there are the next fit's: it sees the neck to its
 * end. False where the ridge does not end. */
static ais_status walk_ridge(ais_context *context, ais_map_learning *this, ais_kernel *kernel, bool *ends) {
    enum { AT_ONCE = 8, MOST = 25 * AT_ONCE };
    static const double step = 0.25, fall = 22;
    size_t dim = (size_t)this->archive.dim, reached[2] = {0}; /* up, the middle being the first; down */
    double logp[2 * MOST], top = -INFINITY, value[AT_ONCE], volume[AT_ONCE];
    double *x = malloc(2 * AT_ONCE * dim * sizeof *x), *gradient = x + AT_ONCE * dim;
    ais_status status = x ? AIS_OK : ais_fail_memory(context, "a ridge", 2 * AT_ONCE * dim * sizeof *x);
    *ends = false;
    for (int side = 0; side < 2; side++)
        for (bool going = true; going && reached[side] < MOST && status == AIS_OK;) {
            for (size_t c = 0; c < AT_ONCE; c++) {
                size_t along = reached[side] + c;
                volume[c] =
                    ais_neck_ridge(kernel, side ? -step * (double)(along + 1) : step * (double)along, x + c * dim);
            }
            status = ais_evaluate_gradient(&this->evaluator, AT_ONCE, x, value, gradient);
            if (status == AIS_OK)
                status = ais_archive_add(context, &this->archive, AIS_FROM_PATH, AT_ONCE, x, value, gradient);
            for (size_t c = 0; c < AT_ONCE && going && status == AIS_OK; c++) {
                double here = value[c] + volume[c];
                logp[side ? MOST - 1 - reached[1] : MOST + reached[0]] = here;
                reached[side]++;
                top = fmax(top, here);
                going = here > top - fall;
            }
            if (!going) *ends = side == 0 || *ends;
            if (going && reached[side] == MOST) *ends = false;
        }
    free(x);
    if (status != AIS_OK || !*ends) return status;
    while (reached[0] > 1 && !isfinite(logp[MOST + reached[0] - 1])) reached[0]--; /* beyond the support */
    while (reached[1] > 1 && !isfinite(logp[MOST - reached[1]])) reached[1]--;
    return ais_neck_warp(context, kernel, reached[0] + reached[1], -step * (double)reached[1], step,
                         logp + MOST - reached[1], ends);
}

/* A neck, where bends leave something to gain: scales of hierarchical models, whose effects are pulled together without
 * end as the scale falls. As bends are fitted, and along the ridge as well. */
static ais_status fit_necks(ais_context *context, ais_map_learning *this, const ais_shape *shape, size_t first,
                            rows *room, ais_kernel **kernel, double *share) {
    enum { TURNS = 4 };
    static const double fits = 0.5, better = 1.05, best = 0.95;
    size_t chains = this->archive.count;
    ais_status status = AIS_OK;
    for (int turn = 0; turn < TURNS && *share < best; turn++) {
        ais_kernel *next = NULL;
        double misfit = NAN, before = *share;
        bool ends = false;
        const ais_bend_points points = take_rows(&this->archive, first, chains, room);
        if (points.n < 2 * (2 * (size_t)shape->dim)) break; /* twice as many as there are numbers to a coordinate */
        status = ais_neck_fit(context, shape, &points, &next, &misfit);
        if (status == AIS_OK && next && misfit < fits) status = walk_ridge(context, this, next, &ends);
        if (status == AIS_OK && ends) status = ais_map_judge(context, this, &(ais_source){.map = next}, DRAWS);
        bool gains = status == AIS_OK && ends && *share < this->share;
        if (gains) {
            ais_kernel_free(*kernel);
            *kernel = next;
            *share = this->share;
        } else {
            ais_kernel_free(next);
        }
        if (status != AIS_OK || !(*share > better * before)) break;
    }
    return status;
}

/* The map from which fits continue, if they pay: the bend, and layers that do nothing yet. */
static ais_status begin_fits(ais_context *context, ais_map_learning *this, const ais_kernel *bent) {
    ais_shape shape = ais_bent_shape(this->archive.dim, true);
    shape.pivot = ais_kernel_shape(bent)->pivot;
    shape.neck = ais_kernel_shape(bent)->neck;
    shape.permutation = this->job->options->seed;
    ais_kernel_free(this->present);
    this->present = NULL;
    ais_status status = ais_kernel_learned(context, &shape, shape.permutation, &this->present);
    if (status != AIS_OK) return status;
    ais_flow_spread(this->present, shape.permutation, 0);
    return ais_bend_copy(context, bent, this->present);
}

/* The caller wants another map, or another way to learn one. */
static bool otherwise(const ais_map_learning *this) {
    const ais_train_options *options = this->job->options;
    return options->shape || (options->objective && !this->slopes);
}

ais_status ais_map_bend(ais_context *context, ais_map_learning *this, size_t first) {
    static const double will_do = 0.3;
    ais_shape shape = ais_bent_shape(this->archive.dim, false);
    ais_kernel *kernel = NULL;
    double share = 0;
    shape.permutation = this->job->options->seed;
    if (shape.dim < 2 || shape.dim > MOST_DIMENSIONS || first >= this->archive.count || otherwise(this)) return AIS_OK;
    size_t numbers = MOST_ROWS * (size_t)shape.dim;
    double *x = malloc((2 * numbers + this->archive.room) * sizeof *x);
    if (!x) return ais_fail_memory(context, "a bend", 2 * numbers * sizeof *x);
    rows room = {.x = x, .gradient = x + numbers, .sorted = x + 2 * numbers};
    ais_status status = fit_bends(context, this, &shape, first, &room, &kernel, &share);
    if (status == AIS_OK && shape.dim > 2 && shape.dim <= MOST_NECK) {
        shape.pivot = 0;
        shape.neck = NECK_BINS;
        status = fit_necks(context, this, &shape, first, &room, &kernel, &share);
    }
    free(x);
    this->bent = status == AIS_OK && share > will_do;
    if (this->bent) status = begin_fits(context, this, kernel);
    ais_kernel_free(kernel);
    return status;
}

ais_status ais_map_unbend(ais_context *context, ais_map_learning *this) {
    static const double good = 0.7; /* acceptance */
    const ais_archive *archive = &this->archive;
    size_t dim = (size_t)archive->dim, first = archive->count, n = 0, index[DRAWS];
    bool slopes = this->evaluator.target->grad;
    if (otherwise(this) || (this->best && this->verdict.acceptance > good)) return AIS_OK;
    if (!slopes && !ais_map_differences_pay(this, DRAWS)) return AIS_OK;
    double *weight = malloc((first + 1 + DRAWS * (2 * dim + 1)) * sizeof *weight);
    if (!weight) return ais_fail_memory(context, "weights", first * sizeof *weight);
    double *x = weight + first + 1, *gradient = x + DRAWS * dim, *logp = gradient + DRAWS * dim;
    ais_status status = slopes ? AIS_OK : ais_map_begin_differences(context, this);
    if (status == AIS_OK) status = ais_archive_weigh(context, archive, this->job->pool, weight);
    if (status == AIS_OK) {
        ais_stream stream = ais_stream_for(AIS_USE_BENDS, this->job->options->seed, 0, 0);
        ais_systematic(first, weight, ais_random_uniform(&stream, 0), DRAWS, index);
        for (size_t k = 0; k < DRAWS; k++)
            if (k == 0 || index[k] != index[k - 1]) memcpy(x + n++ * dim, archive->x + index[k] * dim, dim * sizeof *x);
        status = ais_evaluate_gradient(&this->evaluator, n, x, logp, gradient);
    }
    /* Points that follow p, as chains' draws do: a map that misses one of the modes is judged by them. If a few points
     * have all the weight, they do not. */
    int from = n > DRAWS / 2 ? AIS_FROM_CHAIN : AIS_FROM_PATH;
    if (status == AIS_OK) status = ais_archive_add(context, &this->archive, from, n, x, logp, gradient);
    free(weight);
    if (status == AIS_OK) status = ais_map_bend(context, this, first);
    if (this->bent) {
        this->slopes = true;
        this->plan = ais_map_plan_for(archive->dim, true, this->plan_number = 0);
    }
    return status;
}
