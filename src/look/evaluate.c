#include "look/evaluate.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/clock.h"
#include "base/stop.h"
#include "kernel/kernel.h"

enum { ROWS = 128 }; /* points of one task at most; of several AIS_LANES */

void ais_evaluator_free(ais_evaluator *evaluator) {
    free(evaluator->tile);
    free(evaluator->shifted);
    evaluator->tile = evaluator->shifted = NULL;
    evaluator->tile_room = evaluator->shifted_room = 0;
}

static ais_status grow(ais_context *context, double **room, size_t *have, size_t need) {
    if (need <= *have) return AIS_OK;
    free(*room);
    *room = ais_allocate(need * sizeof **room);
    *have = *room ? need : 0;
    return *room ? AIS_OK : ais_fail_memory(context, "points of the cold start", need * sizeof **room);
}

void ais_count_gradients(ais_evaluator *evaluator, long gradients) {
    if (evaluator->price)
        evaluator->densities += evaluator->price * gradients;
    else
        evaluator->gradients += gradients;
}

typedef struct density_job {
    const ais_target *target;
    size_t count, rows; /* points, and those of a task */
    const double *x;
    double *tile, *logp, *gradient;
} density_job;

static void density_task(void *data, int block) {
    const density_job *job = data;
    size_t dim = (size_t)job->target->dim, first = (size_t)block * job->rows;
    size_t rows = job->count - first < job->rows ? job->count - first : job->rows;
    const double *x = job->x + first * dim;
    double *tile = job->tile + first * dim;
    if (!job->target->batch) {
        for (size_t c = 0; c < rows; c++) job->logp[first + c] = job->target->logp(x + c * dim, job->target->data);
        return;
    }
    for (size_t c = 0; c < rows; c++)
        for (size_t i = 0; i < dim; i++) tile[i * rows + c] = x[c * dim + i];
    job->target->batch(rows, tile, job->logp + first, job->target->data);
}

static void gradient_task(void *data, int c) {
    const density_job *job = data;
    size_t dim = (size_t)job->target->dim;
    double *gradient = job->gradient + (size_t)c * dim;
    job->logp[c] = job->target->grad(job->x + (size_t)c * dim, gradient, job->target->data);
    for (size_t i = 0; i < dim; i++)
        if (!isfinite(gradient[i])) gradient[i] = 0;
}

static bool is_a_point(const double *x, size_t dim) {
    for (size_t i = 0; i < dim; i++)
        if (!isfinite(x[i])) return false;
    return true;
}

/* In the order of the points, so that the message does not depend on threads. A point that has overflowed has no mass,
 * whatever the density returns. */
static ais_status check(ais_evaluator *evaluator, size_t count, const double *x, double *logp) {
    size_t dim = (size_t)evaluator->target->dim;
    for (size_t c = 0; c < count; c++) {
        if (logp[c] < INFINITY) continue;
        if (is_a_point(x + c * dim, dim))
            return ais_fail_density(evaluator->context, evaluator->target, logp[c], x + c * dim);
        logp[c] = -INFINITY;
    }
    if (ais_asked_to_stop(evaluator->stop)) return ais_fail(evaluator->context, AIS_STOPPED, "stopped");
    return AIS_OK;
}

static const ais_ranks *ranks_of(const ais_evaluator *evaluator) {
    return evaluator->pool ? ais_pool_ranks(evaluator->pool) : NULL;
}

/* Whether `count` more evaluations are within the budget. The clock is that of rank 0. */
static ais_status afford(const ais_evaluator *evaluator, size_t count) {
    long done = evaluator->densities + evaluator->gradients;
    if (evaluator->most && done + (long)count > evaluator->most)
        return ais_fail(evaluator->context, AIS_SPENT,
                        "a budget of %ld evaluations is too small: %ld were used, and %zu more are needed for the "
                        "next step",
                        evaluator->most, done, count);
    bool late = evaluator->deadline > 0 && ais_now() > evaluator->deadline;
    ais_status status = AIS_OK;
    if (evaluator->deadline > 0) status = ais_ranks_first(evaluator->context, ranks_of(evaluator), &late, sizeof late);
    if (status == AIS_OK && late)
        status = ais_fail(evaluator->context, AIS_SPENT, "the deadline passed after %ld evaluations", done);
    return status;
}

/* Rows of a task: one where every thread could otherwise not have a few tasks, since a density may take milliseconds. A
 * batch form of one's own may round otherwise for another number of points, and gets the same whatever the number of
 * threads. */
static size_t rows_of_task(const ais_evaluator *evaluator, size_t count) {
    if (evaluator->target->batch || !evaluator->pool) return ROWS;
    size_t rows = count / (8 * (size_t)ais_pool_threads(evaluator->pool));
    return rows < 1 ? 1 : rows > ROWS ? ROWS : rows;
}

/* How many points to evaluate before the next report and check of the stop flag: whole tasks that take about half a
 * second by the clock of rank 0. */
static ais_status points_of_go(const ais_evaluator *evaluator, size_t count, size_t *points) {
    static const double go_seconds = 0.5;
    double done = (double)(evaluator->densities + evaluator->gradients);
    double fast = done > 0 && evaluator->seconds > 0 ? go_seconds * done / evaluator->seconds : ROWS;
    *points = count;
    if (evaluator->tick && fast < (double)count) *points = (size_t)(fast / ROWS + 1) * ROWS;
    if (*points > count) *points = count;
    return ais_ranks_first(evaluator->context, ranks_of(evaluator), points, sizeof *points);
}

/* One batch, divided among threads and ranks; all ranks have all results afterwards. */
static ais_status go(ais_evaluator *evaluator, size_t count, const double *x, double *logp, double *gradient) {
    size_t dim = (size_t)evaluator->target->dim, rows = gradient ? 1 : rows_of_task(evaluator, count);
    int tasks = (int)((count + rows - 1) / rows);
    const ais_ranks *ranks = ranks_of(evaluator);
    ais_status status = afford(evaluator, gradient && evaluator->price ? count * (size_t)evaluator->price : count);
    if (status == AIS_OK)
        status = grow(evaluator->context, &evaluator->tile, &evaluator->tile_room, (size_t)tasks * rows * (dim + 1));
    if (status != AIS_OK) return status;
    double began = ais_now(), *value = evaluator->tile + (size_t)tasks * rows * dim; /* ranks exchange whole tasks */
    density_job job = {evaluator->target, count, rows, x, evaluator->tile, value, gradient};
    if (ranks)
        ais_pool_run_part(evaluator->pool, tasks, gradient ? gradient_task : density_task, &job);
    else
        ais_share_out(evaluator->pool, tasks, gradient ? gradient_task : density_task, &job);
    if (ranks) status = ais_ranks_share(evaluator->context, ranks, tasks, rows * sizeof *value, value);
    if (ranks && status == AIS_OK && gradient)
        status = ais_ranks_share(evaluator->context, ranks, tasks, dim * sizeof *gradient, gradient);
    memcpy(logp, value, count * sizeof *logp);
    evaluator->seconds += ais_now() - began;
    if (gradient)
        ais_count_gradients(evaluator, (long)count);
    else
        evaluator->densities += (long)count;
    if (evaluator->tick) evaluator->tick(evaluator->tick_data, evaluator->densities + evaluator->gradients);
    return status == AIS_OK ? check(evaluator, count, x, logp) : status;
}

static ais_status in_goes(ais_evaluator *evaluator, size_t count, const double *x, double *logp, double *gradient) {
    size_t dim = (size_t)evaluator->target->dim;
    ais_status status = AIS_OK;
    for (size_t first = 0, points; first < count && status == AIS_OK; first += points) {
        status = points_of_go(evaluator, count - first, &points);
        if (status == AIS_OK)
            status = go(evaluator, points, x + first * dim, logp + first, gradient ? gradient + first * dim : NULL);
    }
    return status;
}

ais_status ais_evaluate(ais_evaluator *evaluator, size_t count, const double *x, double *logp) {
    return in_goes(evaluator, count, x, logp, NULL);
}

/* Of log p by one coordinate, from its values a width apart, with the one between them. Beside a wall, where one of
 * them is -inf, the other side is used; a density that rises towards the wall has its maximum there. */
static double slope(double above, double middle, double below, double width) {
    if (above > -INFINITY && below > -INFINITY) return (above - below) / width;
    if (!(middle > -INFINITY)) return 0;
    if (below > -INFINITY) return fmin((middle - below) / (width / 2), 0);
    return above > -INFINITY ? fmax((above - middle) / (width / 2), 0) : 0;
}

/* Of `count` points, whose log densities are known. Rows of shifted: for every point first +h, then -h along every
 * coordinate. */
static ais_status differences_of(ais_evaluator *evaluator, size_t count, const double *x, const double *logp,
                                 double *gradient) {
    size_t dim = (size_t)evaluator->target->dim, rows = 2 * dim * count;
    ais_status status = grow(evaluator->context, &evaluator->shifted, &evaluator->shifted_room, rows * (dim + 1));
    if (status != AIS_OK) return status;
    double *point = evaluator->shifted, *value = point + rows * dim;
    for (size_t r = 0; r < rows; r++) {
        size_t i = r / 2 % dim;
        for (size_t j = 0; j < dim; j++) point[r * dim + j] = x[r / (2 * dim) * dim + j];
        double h = fmax(evaluator->difference, fabs(point[r * dim + i]) * 0x1p-36);
        point[r * dim + i] += r % 2 ? -h : h;
    }
    if ((status = ais_evaluate(evaluator, rows, point, value)) != AIS_OK) return status;
    for (size_t k = 0; k < count * dim; k++) {
        double width = point[2 * k * dim + k % dim] - point[(2 * k + 1) * dim + k % dim];
        gradient[k] = slope(value[2 * k], logp[k / dim], value[2 * k + 1], width);
        if (!isfinite(gradient[k])) gradient[k] = 0;
    }
    return AIS_OK;
}

/* Each point has 2 dim^2 numbers of shifted points: as many points at once as 64 MB hold. */
static ais_status differences(ais_evaluator *evaluator, size_t count, const double *x, double *logp, double *gradient) {
    size_t dim = (size_t)evaluator->target->dim, most = ((size_t)1 << 23) / (2 * dim * (dim + 1)) + 1;
    ais_status status = ais_evaluate(evaluator, count, x, logp);
    for (size_t first = 0, many; first < count && status == AIS_OK; first += many) {
        many = count - first < most ? count - first : most;
        status = differences_of(evaluator, many, x + first * dim, logp + first, gradient + first * dim);
    }
    return status;
}

ais_status ais_evaluate_gradient(ais_evaluator *evaluator, size_t count, const double *x, double *logp,
                                 double *gradient) {
    if (!evaluator->target->grad) return differences(evaluator, count, x, logp, gradient);
    return in_goes(evaluator, count, x, logp, gradient);
}
