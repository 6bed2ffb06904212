#include "map/whitening.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "map/whitening_lanes.h"

ais_status ais_whitening_new(ais_context *context, ais_whitening *whitening, int dim, ais_arena *arena) {
    size_t n = (size_t)dim, square = n * n;
    *whitening = (ais_whitening){.dim = dim,
                                 .form = AIS_FORM_DIAGONAL,
                                 .mean = AIS_TAKE(arena, double, n),
                                 .factor = AIS_TAKE(arena, double, square),
                                 .inverse = AIS_TAKE(arena, double, square),
                                 .offset = AIS_TAKE(arena, double, n)};
    if (!whitening->mean || !whitening->factor || !whitening->inverse || !whitening->offset)
        return ais_fail_memory(context, "a kernel's whitening", 2 * square * sizeof(double));
    for (size_t i = 0; i < n; i++) whitening->factor[i * n + i] = whitening->inverse[i * n + i] = 1;
    return AIS_OK;
}

static void add_row(size_t n, double *matrix, size_t to, size_t from, double factor) {
    for (size_t j = 0; j < n; j++) matrix[to * n + j] += factor * matrix[from * n + j];
}

static void swap_rows(size_t n, double *matrix, size_t a, size_t b) {
    for (size_t j = 0; j < n; j++) {
        double swapped = matrix[a * n + j];
        matrix[a * n + j] = matrix[b * n + j];
        matrix[b * n + j] = swapped;
    }
}

/* Gauss-Jordan with row pivots. */
bool ais_invert(size_t n, double *matrix, double *inverse, double *log_volume) {
    *log_volume = 0;
    memset(inverse, 0, n * n * sizeof *inverse);
    for (size_t i = 0; i < n; i++) inverse[i * n + i] = 1;
    for (size_t k = 0; k < n; k++) {
        size_t pivot = k;
        for (size_t i = k + 1; i < n; i++)
            if (fabs(matrix[i * n + k]) > fabs(matrix[pivot * n + k])) pivot = i;
        double value = matrix[pivot * n + k];
        if (!isfinite(value) || !isfinite(1 / value)) return false;
        *log_volume += log(fabs(value));
        if (pivot != k) {
            swap_rows(n, matrix, pivot, k);
            swap_rows(n, inverse, pivot, k);
        }
        add_row(n, matrix, k, k, 1 / value - 1);
        add_row(n, inverse, k, k, 1 / value - 1);
        for (size_t i = 0; i < n; i++) {
            double factor = matrix[i * n + k];
            if (i == k || factor == 0) continue;
            add_row(n, matrix, i, k, -factor);
            add_row(n, inverse, i, k, -factor);
        }
    }
    for (size_t i = 0; i < n * n; i++)
        if (!isfinite(inverse[i])) return false;
    return true;
}

static ais_form form_of(size_t n, const double *matrix) {
    ais_form form = AIS_FORM_DIAGONAL;
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < n; j++) {
            if (matrix[i * n + j] == 0 || i == j) continue;
            if (j > i) return AIS_FORM_FULL;
            form = AIS_FORM_LOWER;
        }
    return form;
}

ais_status ais_whitening_set(ais_context *context, ais_whitening *whitening, const double *mean, const double *factor) {
    size_t n = (size_t)whitening->dim, square = n * n;
    for (size_t i = 0; i < n; i++)
        if (!isfinite(mean[i]))
            return ais_fail(context, AIS_BAD_ARGUMENT, "whitening: mean %zu is %g, not a finite number", i, mean[i]);
    for (size_t i = 0; i < square; i++)
        if (!isfinite(factor[i]))
            return ais_fail(context, AIS_BAD_ARGUMENT, "whitening: factor (%zu, %zu) is %g, not a finite number", i / n,
                            i % n, factor[i]);
    double *work = malloc(2 * square * sizeof *work);
    if (!work) return ais_fail_memory(context, "a matrix inverse", 2 * square * sizeof *work);
    memcpy(work, factor, square * sizeof *work);
    double log_volume;
    bool regular = ais_invert(n, work, work + square, &log_volume);
    if (regular) {
        whitening->log_volume = log_volume;
        memcpy(whitening->inverse, work + square, square * sizeof *work);
        memcpy(whitening->factor, factor, square * sizeof *work);
        ais_form inverse = form_of(n, whitening->inverse);
        whitening->form = form_of(n, whitening->factor);
        if (inverse < whitening->form) whitening->form = inverse;
        memcpy(whitening->mean, mean, n * sizeof *mean);
        for (size_t i = 0; i < n; i++) {
            whitening->offset[i] = 0;
            for (size_t j = 0; j < n; j++) whitening->offset[i] -= whitening->inverse[i * n + j] * mean[j];
        }
    }
    free(work);
    return regular ? AIS_OK : ais_fail(context, AIS_BAD_ARGUMENT, "whitening: the factor is singular");
}

static void apply(const ais_whitening *whitening, size_t lanes, size_t count, const double *matrix,
                  const double *offset, const double *in, double *out) {
    int dim = whitening->dim;
    if (whitening->form == AIS_FORM_DIAGONAL)
        AIS_CHOOSE(ais_diagonal_apply)(dim, lanes, count, matrix, offset, in, out);
    else
        AIS_CHOOSE(ais_dense_apply)(dim, whitening->form == AIS_FORM_LOWER, lanes, count, matrix, offset, in, out);
}

void ais_whiten(const ais_whitening *whitening, size_t lanes, const double *x, double *u) {
    ais_whiten_first(whitening, lanes, lanes, x, u);
}

void ais_whiten_first(const ais_whitening *whitening, size_t lanes, size_t count, const double *x, double *u) {
    apply(whitening, lanes, count, whitening->inverse, whitening->offset, x, u);
}

void ais_unwhiten(const ais_whitening *whitening, size_t lanes, const double *u, double *x) {
    ais_unwhiten_first(whitening, lanes, lanes, u, x);
}

void ais_unwhiten_first(const ais_whitening *whitening, size_t lanes, size_t count, const double *u, double *x) {
    apply(whitening, lanes, count, whitening->factor, whitening->mean, u, x);
}

/* How many columns before and after the diagonal are to be looked at. */
static int before(const ais_whitening *whitening) { return whitening->form == AIS_FORM_DIAGONAL ? 0 : whitening->dim; }
static int after(const ais_whitening *whitening) { return whitening->form == AIS_FORM_FULL ? whitening->dim : 0; }

void ais_whiten_point(const ais_whitening *whitening, const double *x, double *u) {
    AIS_CHOOSE(ais_point_apply)
    (whitening->dim, before(whitening), after(whitening), whitening->inverse, whitening->offset, x, u);
}

void ais_unwhiten_point(const ais_whitening *whitening, const double *u, double *x) {
    AIS_CHOOSE(ais_point_apply)
    (whitening->dim, before(whitening), after(whitening), whitening->factor, whitening->mean, u, x);
}

void ais_unwhiten_gradient(const ais_whitening *whitening, const double *by_x, double *by_u) {
    AIS_CHOOSE(ais_point_transposed)
    (whitening->dim, before(whitening), after(whitening), whitening->factor, by_x, by_u);
}
