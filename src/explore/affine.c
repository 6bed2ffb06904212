#include "explore/affine.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/matrix.h"
#include "look/eigen.h"

typedef struct moments {
    double *mean, *covariance; /* dim, dim x dim */
} moments;

static void fill(size_t dim, size_t n, const double *x, bool dense, moments *to) {
    double *difference = to->covariance + dim * dim; /* one row more */
    memset(to->mean, 0, dim * sizeof(double));
    memset(to->covariance, 0, dim * dim * sizeof(double));
    for (size_t c = 0; c < n; c++)
        for (size_t i = 0; i < dim; i++) to->mean[i] += x[c * dim + i] / (double)n;
    for (size_t c = 0; c < n; c++) {
        for (size_t i = 0; i < dim; i++) difference[i] = x[c * dim + i] - to->mean[i];
        for (size_t i = 0; i < dim; i++)
            for (size_t j = dense ? 0 : i; j <= i; j++)
                to->covariance[i * dim + j] += difference[i] * difference[j] / (double)n;
    }
    double off = (double)n / (double)(n + dim); /* what is off the diagonal, as far as n points can tell */
    for (size_t i = 0; i < dim; i++) {
        double *own = &to->covariance[i * dim + i];
        *own = *own > 0 && isfinite(*own) ? *own : 1;
        for (size_t j = 0; j < i; j++) to->covariance[j * dim + i] = to->covariance[i * dim + j] *= off;
    }
}

/* matrix^(1/2) of a positive one, which is destroyed; false when it is none. */
static bool root(size_t dim, double *matrix, double *value, double *vector, double *out) {
    if (!ais_eigen(dim, matrix, value, vector)) return false;
    double floor = 1e-14 * fmax(value[dim - 1], 0);
    memset(out, 0, dim * dim * sizeof *out);
    for (size_t k = 0; k < dim; k++) {
        double s = sqrt(fmax(value[k], floor));
        for (size_t i = 0; i < dim; i++)
            for (size_t j = 0; j < dim; j++) out[i * dim + j] += s * vector[k * dim + i] * vector[k * dim + j];
    }
    return true;
}

/* factor = C^(1/2) U T^(-1/4) with C^(1/2) G C^(1/2) = U T U'. With no gradients, or where they are of no use,
 * C^(1/2). Both in units of the coordinates' own scales, so that rounding does not hide a small one. */
static bool combine(size_t dim, const double *scale, const moments *x, const moments *g, double *room, double *factor) {
    double *half = room, *product = half + dim * dim, *vector = product + dim * dim, *value = vector + dim * dim;
    for (size_t i = 0; i < dim; i++)
        for (size_t j = 0; j < dim; j++) {
            x->covariance[i * dim + j] /= scale[i] * scale[j];
            if (g) g->covariance[i * dim + j] *= scale[i] * scale[j];
        }
    if (!root(dim, x->covariance, value, vector, half)) return false;
    if (g) {
        ais_multiply(dim, dim, half, g->covariance, false, product);
        ais_multiply(dim, dim, product, half, true, factor);
    }
    if (g && ais_eigen(dim, factor, value, vector) && value[dim - 1] > 0) {
        for (size_t k = 0; k < dim; k++)
            for (size_t j = 0; j < dim; j++) vector[k * dim + j] /= sqrt(sqrt(fmax(value[k], 1e-12 * value[dim - 1])));
        ais_multiply(dim, dim, half, vector, true, factor); /* rows of vector are the columns of U */
    } else {
        memcpy(factor, half, dim * dim * sizeof *factor);
    }
    for (size_t i = 0; i < dim; i++)
        for (size_t j = 0; j < dim; j++) factor[i * dim + j] *= scale[i];
    return true;
}

static void diagonal(size_t dim, const moments *x, const moments *g, double *factor) {
    memset(factor, 0, dim * dim * sizeof *factor);
    for (size_t i = 0; i < dim; i++) {
        double variance = x->covariance[i * dim + i];
        if (g) variance = sqrt(variance / g->covariance[i * dim + i]);
        factor[i * dim + i] = sqrt(variance);
    }
}

/* Beyond AIS_MOST_DENSE dimensions, and where a covariance is not positive, by the diagonals alone. */
static ais_status factorise(ais_context *context, size_t dim, const moments *x, const moments *g, double *factor) {
    size_t bytes = (3 * dim * dim + 2 * dim) * sizeof(double);
    double *room = malloc(bytes), *scale = room ? room + 3 * dim * dim + dim : NULL;
    if (!room) return ais_fail_memory(context, "an affine map", bytes);
    for (size_t i = 0; i < dim; i++) scale[i] = sqrt(x->covariance[i * dim + i]);
    if (dim > AIS_MOST_DENSE || !combine(dim, scale, x, g, room, factor)) diagonal(dim, x, g, factor);
    free(room);
    return AIS_OK;
}

ais_status ais_affine_root(ais_context *context, int dim, double *covariance, double *factor) {
    return factorise(context, (size_t)dim, &(moments){.covariance = covariance}, NULL, factor);
}

ais_status ais_affine_fit(ais_context *context, int dim, size_t n, const double *x, const double *gradient,
                          double *mean, double *factor) {
    size_t d = (size_t)dim, square = d * (d + 1);
    bool dense = dim <= AIS_MOST_DENSE;
    ais_arena arena = {0};
    moments of_x = {AIS_TAKE(&arena, double, d), AIS_TAKE(&arena, double, square)};
    moments of_g = {AIS_TAKE(&arena, double, d), AIS_TAKE(&arena, double, square)};
    ais_status status = AIS_OK;
    if (!of_x.mean || !of_x.covariance || !of_g.mean || !of_g.covariance)
        status = ais_fail_memory(context, "an affine map", 2 * square * sizeof(double));
    if (status == AIS_OK) {
        fill(d, n, x, dense, &of_x);
        if (gradient) fill(d, n, gradient, dense, &of_g);
        status = factorise(context, d, &of_x, gradient ? &of_g : NULL, factor);
    }
    if (status == AIS_OK) {
        memcpy(mean, of_x.mean, d * sizeof *mean);
        for (size_t k = 0; gradient && k < d; k++) { /* + factor factor' (mean of gradients) */
            double along = 0;
            for (size_t j = 0; j < d; j++) along += factor[j * d + k] * of_g.mean[j];
            for (size_t i = 0; i < d; i++) mean[i] += factor[i * d + k] * along;
        }
    }
    ais_arena_free(&arena);
    return status;
}
