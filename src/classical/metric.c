#include "classical/metric.h"

#include <math.h>
#include <string.h>

static size_t size(const ais_metric *metric) {
    size_t dim = (size_t)metric->dim;
    return metric->dense ? dim * dim : dim;
}

bool ais_metric_take(ais_metric *metric, ais_arena *arena, int dim, bool dense) {
    *metric = (ais_metric){.dim = dim, .dense = dense};
    metric->inverse = AIS_TAKE(arena, double, size(metric));
    metric->factor = AIS_TAKE(arena, double, size(metric));
    metric->fresh = AIS_TAKE(arena, double, size(metric));
    if (!metric->inverse || !metric->factor || !metric->fresh) return false;
    size_t stride = dense ? (size_t)dim + 1 : 1;
    for (size_t i = 0; i < (size_t)dim; i++) metric->inverse[i * stride] = metric->factor[i * stride] = 1;
    return true;
}

/* The lower factor of a into l, which is a's size and may hold anything above the diagonal. */
static bool cholesky(const double *a, size_t dim, double *l) {
    for (size_t i = 0; i < dim; i++)
        for (size_t j = 0; j <= i; j++) {
            double sum = a[i * dim + j];
            for (size_t k = 0; k < j; k++) sum -= l[i * dim + k] * l[j * dim + k];
            if (i == j && !(sum > 0 && sum < INFINITY)) return false;
            l[i * dim + j] = i == j ? sqrt(sum) : sum / l[j * dim + j];
        }
    return true;
}

static bool roots(const double *variance, size_t dim, double *root) {
    for (size_t i = 0; i < dim; i++) {
        if (!(variance[i] > 0 && variance[i] < INFINITY)) return false;
        root[i] = sqrt(variance[i]);
    }
    return true;
}

bool ais_metric_learn(ais_metric *metric, const ais_welford *welford) {
    size_t dim = (size_t)metric->dim;
    ais_welford_regularised(welford, metric->fresh);
    bool good =
        metric->dense ? cholesky(metric->fresh, dim, metric->factor) : roots(metric->fresh, dim, metric->factor);
    if (!good) { /* the factor of what stays */
        if (metric->dense)
            cholesky(metric->inverse, dim, metric->factor);
        else
            roots(metric->inverse, dim, metric->factor);
        return false;
    }
    memcpy(metric->inverse, metric->fresh, size(metric) * sizeof(double));
    return true;
}

void ais_metric_momentum(const ais_metric *metric, double *p) {
    size_t dim = (size_t)metric->dim;
    if (!metric->dense) {
        for (size_t i = 0; i < dim; i++) p[i] /= metric->factor[i];
        return;
    }
    for (size_t i = dim; i-- > 0;) { /* solves L' p = u */
        double sum = p[i];
        for (size_t k = i + 1; k < dim; k++) sum -= metric->factor[k * dim + i] * p[k];
        p[i] = sum / metric->factor[i * dim + i];
    }
}

void ais_metric_velocity(const ais_metric *metric, const double *p, double *v) {
    size_t dim = (size_t)metric->dim;
    if (!metric->dense) {
        for (size_t i = 0; i < dim; i++) v[i] = metric->inverse[i] * p[i];
        return;
    }
    /* S is symmetric: column by column adds whole rows, which vectorises without reordering sums. */
    memset(v, 0, dim * sizeof(double));
    for (size_t k = 0; k < dim; k++)
        for (size_t i = 0; i < dim; i++) v[i] += metric->inverse[k * dim + i] * p[k];
}

void ais_metric_persist(ais_metric *metric, ais_record *record) {
    ais_record_bytes(record, metric->inverse, size(metric) * sizeof(double));
    ais_record_bytes(record, metric->factor, size(metric) * sizeof(double));
}
