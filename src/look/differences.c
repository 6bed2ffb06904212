#include "look/differences.h"

#include <math.h>
#include <stdlib.h>

static double logp_of(const double *x, void *data) {
    const ais_target *target = ((const ais_differences *)data)->target;
    return target->logp(x, target->data);
}

static void batch_of(size_t n, const double *x, double *logp, void *data) {
    const ais_target *target = ((const ais_differences *)data)->target;
    target->batch(n, x, logp, target->data);
}

/* Coordinate-major: x itself, then x moved along each coordinate in turn. */
static void evaluate(const ais_target *target, size_t n, double *x, double *point, double *logp) {
    size_t dim = (size_t)target->dim;
    if (target->batch) {
        target->batch(n, x, logp, target->data);
        return;
    }
    for (size_t c = 0; c < n; c++) {
        for (size_t i = 0; i < dim; i++) point[i] = x[i * n + c];
        logp[c] = target->logp(point, target->data);
    }
}

static double grad_of(const double *x, double *gradient, void *data) {
    const ais_differences *this = data;
    size_t dim = (size_t)this->target->dim, n = dim + 1;
    double *tile = calloc(n * dim + dim + n, sizeof *tile);
    if (!tile) return NAN; /* like a density that could not be computed: it is reported, with the point */
    double *point = tile + n * dim, *logp = point + dim;
    for (size_t i = 0; i < dim; i++)
        for (size_t c = 0; c < n; c++) tile[i * n + c] = x[i] + (c == i + 1 ? this->step[i] : 0);
    evaluate(this->target, n, tile, point, logp);
    double value = logp[0];
    for (size_t i = 0; i < dim; i++) {
        double step = tile[i * n + i + 1] - x[i]; /* as it was rounded */
        gradient[i] = (logp[i + 1] - value) / step;
    }
    free(tile);
    return value;
}

ais_target ais_target_differences(ais_differences *differences) {
    ais_target target = *differences->target;
    target.logp = logp_of;
    target.batch = target.batch ? batch_of : NULL;
    target.grad = grad_of;
    target.view = NULL; /* these would be handed differences for their data */
    target.tell = NULL;
    target.close = NULL;
    target.data = differences;
    return target;
}

long ais_differences_price(const ais_target *target) { return target->dim + 1; }
