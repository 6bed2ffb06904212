#include "trainer/evaluate.h"

#include <math.h>
#include <stdlib.h>

#include "base/arena.h"
#include "kernel/kernel.h"

enum { ROWS = 128 }; /* points of one task; of several AIS_LANES */

void ais_evaluator_free(ais_evaluator *evaluator) {
    free(evaluator->tile);
    free(evaluator->shifted);
    evaluator->tile = evaluator->shifted = NULL;
    evaluator->tile_room = evaluator->shifted_room = 0;
}

void ais_share_out(ais_pool *pool, int count, void (*task)(void *data, int i), void *data) {
    if (pool && count > 1) {
        ais_pool_run(pool, count, task, data);
        return;
    }
    for (int i = 0; i < count; i++) task(data, i);
}

static ais_status grow(ais_context *context, double **room, size_t *have, size_t need) {
    if (need <= *have) return AIS_OK;
    free(*room);
    *room = ais_allocate(need * sizeof **room);
    *have = *room ? need : 0;
    return *room ? AIS_OK : ais_fail_memory(context, "points of the cold start", need * sizeof **room);
}

typedef struct density_job {
    const ais_target *target;
    size_t count;
    const double *x;
    double *tile, *logp, *gradient;
} density_job;

static void density_task(void *data, int block) {
    const density_job *job = data;
    size_t dim = (size_t)job->target->dim, first = (size_t)block * ROWS;
    size_t rows = job->count - first < ROWS ? job->count - first : ROWS;
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

/* In the order of the points, so that the message does not depend on threads. */
static ais_status check(ais_evaluator *evaluator, size_t count, const double *x, const double *logp) {
    for (size_t c = 0; c < count; c++)
        if (!(logp[c] < INFINITY))
            return ais_fail_density(evaluator->context, evaluator->target, logp[c],
                                    x + c * (size_t)evaluator->target->dim);
    if (evaluator->stop && *evaluator->stop) return ais_fail(evaluator->context, AIS_STOPPED, "stopped");
    return AIS_OK;
}

ais_status ais_evaluate(ais_evaluator *evaluator, size_t count, const double *x, double *logp) {
    size_t dim = (size_t)evaluator->target->dim;
    ais_status status = grow(evaluator->context, &evaluator->tile, &evaluator->tile_room, count * dim);
    if (status != AIS_OK) return status;
    density_job job = {evaluator->target, count, x, evaluator->tile, logp, NULL};
    ais_share_out(evaluator->pool, (int)((count + ROWS - 1) / ROWS), density_task, &job);
    evaluator->densities += (long)count;
    return check(evaluator, count, x, logp);
}

static void gradient_task(void *data, int c) {
    const density_job *job = data;
    size_t dim = (size_t)job->target->dim;
    double *gradient = job->gradient + (size_t)c * dim;
    job->logp[c] = job->target->grad(job->x + (size_t)c * dim, gradient, job->target->data);
    for (size_t i = 0; i < dim; i++)
        if (!isfinite(gradient[i])) gradient[i] = 0;
}

/* Rows of shifted: for every point first +h, then -h along every coordinate. */
static ais_status differences(ais_evaluator *evaluator, size_t count, const double *x, double *logp, double *gradient) {
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
    if ((status = ais_evaluate(evaluator, count, x, logp)) != AIS_OK) return status;
    if ((status = ais_evaluate(evaluator, rows, point, value)) != AIS_OK) return status;
    for (size_t k = 0; k < count * dim; k++) {
        double width = point[2 * k * dim + k % dim] - point[(2 * k + 1) * dim + k % dim];
        gradient[k] = (value[2 * k] - value[2 * k + 1]) / width;
        if (!isfinite(gradient[k])) gradient[k] = 0;
    }
    return AIS_OK;
}

ais_status ais_evaluate_gradient(ais_evaluator *evaluator, size_t count, const double *x, double *logp,
                                 double *gradient) {
    if (!evaluator->target->grad) return differences(evaluator, count, x, logp, gradient);
    density_job job = {evaluator->target, count, x, NULL, logp, gradient};
    ais_share_out(evaluator->pool, (int)count, gradient_task, &job);
    evaluator->gradients += (long)count;
    return check(evaluator, count, x, logp);
}
