#include "look/local.h"

#include <math.h>
#include <string.h>

#include "base/arena.h"
#include "base/random.h"
#include "base/streams.h"
#include "simd/normal.h"

enum { CHOICE = 1 << 30, BETWEEN = 7 };

typedef struct chains {
    ais_evaluator *evaluator;
    uint64_t seed;
    size_t n, dim;
    double *x, *logp, *fresh, *fresh_logp, *scale;
} chains;

static ais_status step_all(chains *all, uint64_t step, double rate) {
    size_t dim = all->dim;
    for (size_t c = 0; c < all->n; c++) {
        ais_stream stream = ais_stream_for(AIS_USE_LOCAL, all->seed, step, c);
        ais_normals(&stream, dim, all->fresh + c * dim);
        for (size_t i = 0; i < dim; i++)
            all->fresh[c * dim + i] = all->x[c * dim + i] + all->scale[c] * all->fresh[c * dim + i];
    }
    ais_status status = ais_evaluate(all->evaluator, all->n, all->fresh, all->fresh_logp);
    for (size_t c = 0; c < all->n && status == AIS_OK; c++) {
        ais_stream stream = ais_stream_for(AIS_USE_LOCAL, all->seed, step, c);
        int accept = log(ais_random_uniform(&stream, CHOICE)) < all->fresh_logp[c] - all->logp[c];
        all->scale[c] *= exp(rate * (accept - 0.3));
        if (!accept) continue;
        memcpy(all->x + c * dim, all->fresh + c * dim, dim * sizeof *all->x);
        all->logp[c] = all->fresh_logp[c];
    }
    return status;
}

ais_status ais_local_chains(ais_evaluator *evaluator, uint64_t seed, uint64_t first_step, size_t n, int steps,
                            double scale, double *x, double *logp, double *snapshot) {
    size_t dim = (size_t)evaluator->target->dim;
    ais_arena arena = {0};
    chains all = {evaluator,
                  seed,
                  n,
                  dim,
                  x,
                  logp,
                  AIS_TAKE(&arena, double, n *dim),
                  AIS_TAKE(&arena, double, n),
                  AIS_TAKE(&arena, double, n)};
    ais_status status = AIS_OK;
    if (!all.fresh || !all.fresh_logp || !all.scale) status = ais_fail_memory(evaluator->context, "chains", n * dim);
    if (status == AIS_OK) status = ais_evaluate(evaluator, n, x, logp);
    for (size_t c = 0; c < n && status == AIS_OK; c++) all.scale[c] = scale;
    int half = steps / 2, every = (steps - half) / AIS_LOCAL_SNAPSHOTS, taken = 0;
    for (int k = 0; k < steps && status == AIS_OK; k++) {
        status = step_all(&all, first_step + (uint64_t)k, k < half ? 0.5 : 0.05);
        if (k < half || taken == AIS_LOCAL_SNAPSHOTS || (k + 1 - half) % every) continue;
        memcpy(snapshot + (size_t)taken++ * n * dim, x, n * dim * sizeof *x);
    }
    ais_arena_free(&arena);
    return status;
}

/* Labels whatever has no valley on the straight way to `centre`. */
static ais_status gather(ais_evaluator *evaluator, size_t n, const double *x, const double *logp, double depth,
                         size_t centre, int cluster, int *label, double *between, double *between_logp) {
    size_t dim = (size_t)evaluator->target->dim, open = 0;
    for (size_t c = 0; c < n; c++) {
        if (label[c] >= 0) continue;
        for (size_t k = 0; k < BETWEEN; k++, open++)
            for (size_t i = 0; i < dim; i++)
                between[open * dim + i] =
                    x[c * dim + i] + (double)(k + 1) / (BETWEEN + 1) * (x[centre * dim + i] - x[c * dim + i]);
    }
    ais_status status = ais_evaluate(evaluator, open, between, between_logp);
    open = 0;
    for (size_t c = 0; c < n && status == AIS_OK; c++) {
        if (label[c] >= 0) continue;
        double lowest = INFINITY;
        for (size_t k = 0; k < BETWEEN; k++) lowest = fmin(lowest, between_logp[open++]);
        if (lowest > fmin(logp[c], logp[centre]) - depth || c == centre) label[c] = cluster;
    }
    return status;
}

ais_status ais_clusters(ais_evaluator *evaluator, size_t n, const double *x, const double *logp, double depth, int most,
                        int *label, int *clusters) {
    size_t dim = (size_t)evaluator->target->dim;
    ais_arena arena = {0};
    double *between = AIS_TAKE(&arena, double, n *BETWEEN *dim), *between_logp = AIS_TAKE(&arena, double, n *BETWEEN);
    ais_status status =
        between && between_logp ? AIS_OK : ais_fail_memory(evaluator->context, "clusters", n * BETWEEN * dim);
    for (size_t c = 0; c < n; c++) label[c] = -1;
    *clusters = 0;
    while (status == AIS_OK && *clusters < most) {
        size_t top = n;
        for (size_t c = 0; c < n; c++)
            if (label[c] < 0 && (top == n || logp[c] > logp[top])) top = c;
        if (top == n) break;
        status = gather(evaluator, n, x, logp, depth, top, (*clusters)++, label, between, between_logp);
    }
    for (size_t c = 0; c < n; c++)
        if (label[c] < 0) label[c] = 0;
    ais_arena_free(&arena);
    return status;
}
