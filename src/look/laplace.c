#include "look/laplace.h"

#include <math.h>
#include <string.h>

#include "look/eigen.h"

enum { PROBES = 12 };
static const double LARGEST = 1e4; /* sd, in units of the search region's scale */

typedef struct fit {
    double *hessian, *value, *axis, *sd;     /* dim x dim, dim, dim x dim, dim */
    double *point, *point_logp, *point_grad; /* 2 dim + 1 rows */
    double *stencil, *stencil_logp;          /* dim (dim + 1) rows, without a gradient */
    double *gradient;                        /* dim: where the curvature was taken, */
    bool known;                              /* if values of log p gave it */
    bool *probed;                            /* dim: sd comes from probes, not from the Hessian */
    double *mean;                            /* dim: where the fit is */
    double *fall;                            /* dim: of log p, mean of both sides, one sd away */
    double *given;                           /* dim: sd by the Hessian; 0: it says nothing */
} fit;

static bool take(fit *f, ais_arena *arena, size_t dim, bool values) {
    size_t rows = values ? dim * (dim + 1) : 0;
    f->stencil = AIS_TAKE(arena, double, rows *dim);
    f->stencil_logp = AIS_TAKE(arena, double, rows);
    f->gradient = AIS_TAKE(arena, double, dim);
    f->hessian = AIS_TAKE(arena, double, dim *dim);
    f->value = AIS_TAKE(arena, double, dim);
    f->axis = AIS_TAKE(arena, double, dim *dim);
    f->sd = AIS_TAKE(arena, double, dim);
    f->point = AIS_TAKE(arena, double, (2 * dim + 1) * dim);
    f->point_logp = AIS_TAKE(arena, double, 2 * dim + 1);
    f->point_grad = AIS_TAKE(arena, double, (2 * dim + 1) * dim);
    f->fall = AIS_TAKE(arena, double, dim);
    f->given = AIS_TAKE(arena, double, dim);
    f->mean = AIS_TAKE(arena, double, dim);
    f->probed = AIS_TAKE(arena, bool, dim);
    return (!values || (f->stencil && f->stencil_logp)) && f->gradient && f->hessian && f->value && f->axis && f->sd &&
           f->point && f->point_logp && f->point_grad && f->fall && f->given && f->mean;
}

/* Beside a wall one of the points x +- h has no gradient: that of x, its last row, takes its place. */
static ais_status step_back_from_walls(ais_evaluator *evaluator, fit *f, const double *x) {
    size_t dim = (size_t)evaluator->target->dim, last = 2 * dim;
    bool walls = false;
    for (size_t r = 0; r < last; r++) walls |= !(f->point_logp[r] > -INFINITY);
    if (!walls) return AIS_OK;
    memcpy(f->point + last * dim, x, dim * sizeof *x);
    ais_status status =
        ais_evaluate_gradient(evaluator, 1, f->point + last * dim, f->point_logp + last, f->point_grad + last * dim);
    for (size_t r = 0; r < last && status == AIS_OK; r++) {
        if (f->point_logp[r] > -INFINITY || !(f->point_logp[r ^ 1] > -INFINITY)) continue;
        memcpy(f->point + r * dim, x, dim * sizeof *x);
        memcpy(f->point_grad + r * dim, f->point_grad + last * dim, dim * sizeof *x);
    }
    return status;
}

/* Minus the Hessian and the gradient at x by values of log p alone, at x +- h along every coordinate and every sum of
 * two. *whole: none of them lies behind a wall. */
static ais_status curvature_of_values(ais_evaluator *evaluator, fit *f, const double *x, double top, double h,
                                      bool *whole) {
    size_t dim = (size_t)evaluator->target->dim, rows = 0;
    for (size_t i = 0; i < dim; i++)
        for (size_t j = 0; j <= i; j++)
            for (int side = -1; side <= 1; side += 2, rows++) {
                double *row = f->stencil + rows * dim;
                memcpy(row, x, dim * sizeof *x);
                row[i] += side * h;
                if (j < i) row[j] += side * h;
            }
    ais_status status = ais_evaluate(evaluator, rows, f->stencil, f->stencil_logp);
    *whole = status == AIS_OK;
    for (size_t r = 0; r < rows && *whole; r++) *whole = f->stencil_logp[r] > -INFINITY;
    if (!*whole) return status;
    for (size_t i = 0, row = 0; i < dim; i++)
        for (size_t j = 0; j <= i; j++, row += 2) {
            const double *below = f->stencil_logp + row, *above = below + 1;
            f->hessian[i * dim + j] = (2 * top - *below - *above) / (h * h); /* along the sum, where j < i */
            if (j == i) f->gradient[i] = (*above - *below) / (2 * h);
        }
    for (size_t i = 0; i < dim; i++)
        for (size_t j = 0; j < i; j++)
            f->hessian[i * dim + j] = f->hessian[j * dim + i] =
                0.5 * (f->hessian[i * dim + j] - f->hessian[i * dim + i] - f->hessian[j * dim + j]);
    return AIS_OK;
}

/* Eigenvalues and axes of minus the Hessian, by differences over +-h. */
static ais_status curvature(ais_evaluator *evaluator, fit *f, const double *x, double top, double h, bool *good) {
    size_t dim = (size_t)evaluator->target->dim;
    f->known = false;
    if (!evaluator->target->grad) {
        ais_status by_values = curvature_of_values(evaluator, f, x, top, h, &f->known);
        if (f->known) *good = ais_eigen(dim, f->hessian, f->value, f->axis);
        if (by_values != AIS_OK || f->known) return by_values;
    }
    for (size_t r = 0; r < 2 * dim; r++) {
        memcpy(f->point + r * dim, x, dim * sizeof *x);
        f->point[r * dim + r / 2] += r % 2 ? -h : h;
    }
    ais_status status = ais_evaluate_gradient(evaluator, 2 * dim, f->point, f->point_logp, f->point_grad);
    if (status == AIS_OK) status = step_back_from_walls(evaluator, f, x);
    if (status != AIS_OK) return status;
    for (size_t i = 0; i < dim; i++) {
        double width = f->point[2 * i * dim + i] - f->point[(2 * i + 1) * dim + i];
        for (size_t j = 0; j < dim; j++)
            f->hessian[i * dim + j] = (f->point_grad[(2 * i + 1) * dim + j] - f->point_grad[2 * i * dim + j]) / width;
    }
    for (size_t i = 0; i < dim; i++)
        for (size_t j = 0; j < i; j++)
            f->hessian[i * dim + j] = f->hessian[j * dim + i] =
                0.5 * (f->hessian[i * dim + j] + f->hessian[j * dim + i]);
    *good = ais_eigen(dim, f->hessian, f->value, f->axis);
    return AIS_OK;
}

/* How far log p falls one sd away, along the axes still to be settled. */
static ais_status probe(ais_evaluator *evaluator, fit *f, const double *x, double top) {
    size_t dim = (size_t)evaluator->target->dim;
    for (size_t r = 0; r < 2 * dim; r++)
        for (size_t i = 0; i < dim; i++)
            f->point[r * dim + i] = x[i] + (r % 2 ? -1 : 1) * f->sd[r / 2] * f->axis[r / 2 * dim + i];
    ais_status status = ais_evaluate(evaluator, 2 * dim, f->point, f->point_logp);
    for (size_t j = 0; j < dim; j++) {
        double one = fmin(top - f->point_logp[2 * j], 1e6), other = fmin(top - f->point_logp[2 * j + 1], 1e6);
        if (one == 1e6 && other < 1e6) one = other; /* a wall: the side within tells */
        if (other == 1e6 && one < 1e6) other = one;
        f->fall[j] = 0.5 * (fmax(one, -5) + fmax(other, -5));
    }
    return status;
}

/* In a corner of the support both sides of an axis may lie outside, however near, also by the smallest sd that the
 * Hessian has: there it knows better. */
static bool cornered(const fit *f, size_t dim, size_t j) {
    static const double near = 0.05;
    double smallest = INFINITY;
    for (size_t k = 0; k < dim; k++)
        if (f->given[k] != 0) smallest = fmin(smallest, fabs(f->given[k]));
    return f->fall[j] >= 1e6 && f->given[j] > 0 && f->sd[j] < near * smallest;
}

static ais_status settle(ais_evaluator *evaluator, fit *f, const double *x, double top, double scale) {
    size_t dim = (size_t)evaluator->target->dim;
    for (size_t j = 0; j < dim; j++) f->given[j] = f->probed[j] ? 0 : f->sd[j];
    for (int round = 0; round < PROBES; round++) {
        ais_status status = probe(evaluator, f, x, top);
        if (status != AIS_OK) return status;
        bool changed = false;
        for (size_t j = 0; j < dim; j++) {
            if (f->given[j] < 0) continue;
            if (cornered(f, dim, j)) {
                f->sd[j] = fmin(f->given[j], scale);
                f->given[j] = -f->given[j]; /* it stays */
                continue;
            }
            /* The Hessian's values are kept if they are about right; those from probes must be better. */
            double low = f->probed[j] ? 0.35 : 0.2, high = f->probed[j] ? 0.7 : 1;
            bool small = f->fall[j] < low && f->sd[j] < LARGEST * scale;
            if (!small && f->fall[j] <= high) continue;
            f->probed[j] = true;
            /* A parabola falls by 0.5 one sd away. */
            double factor = sqrt(0.5 / fmax(f->fall[j], 0.03));
            f->sd[j] = fmin(f->sd[j] * fmin(fmax(factor, 0.1), 4), LARGEST * scale);
            changed = true;
        }
        if (!changed) break;
    }
    return AIS_OK;
}

/* Curvature at x with a difference that suits it. */
static ais_status curvature_at(ais_evaluator *evaluator, fit *f, const double *x, double top, double scale,
                               bool *good) {
    size_t dim = (size_t)evaluator->target->dim;
    double h = 1e-4 * scale, kept = evaluator->difference;
    ais_status status = curvature(evaluator, f, x, top, h, good);
    if (status != AIS_OK || !*good || !(1 / sqrt(fmax(f->value[dim - 1], 1e-300)) < 30 * h)) return status;
    h = 0.01 / sqrt(f->value[dim - 1]); /* a mode narrower than the difference: once more, closer */
    evaluator->difference = fmin(kept, 0.1 * h);
    status = curvature(evaluator, f, x, top, h, good);
    evaluator->difference = kept;
    return status;
}

/* One Newton step from x, which L-BFGS left short of the optimum where the density is badly scaled.
 * *gain: what the step promises; x and *top are moved when it rises. */
static ais_status newton(ais_evaluator *evaluator, fit *f, double scale, double *x, double *top, double *gain) {
    size_t dim = (size_t)evaluator->target->dim;
    double *gradient = f->known ? f->gradient : f->point_grad, value;
    ais_status status = f->known ? AIS_OK : ais_evaluate_gradient(evaluator, 1, x, &value, gradient);
    if (status != AIS_OK) return status;
    memcpy(f->point, x, dim * sizeof *x);
    *gain = 0;
    for (size_t j = 0; j < dim; j++) {
        double slope = 0;
        for (size_t i = 0; i < dim; i++) slope += f->axis[j * dim + i] * gradient[i];
        double curve = fmax(f->value[j], 1e-8 / (scale * scale));
        *gain += 0.5 * slope * slope / curve;
        for (size_t i = 0; i < dim; i++) f->point[i] += slope / curve * f->axis[j * dim + i];
    }
    if (*gain < 1e-3) return AIS_OK;
    for (int k = 0; k < 3; k++) { /* the whole step, or a part of it where the density bends */
        status = ais_evaluate(evaluator, 1, f->point, &value);
        if (status != AIS_OK) return status;
        if (value > *top) {
            memcpy(x, f->point, dim * sizeof *x);
            *top = value;
            return AIS_OK;
        }
        for (size_t i = 0; i < dim; i++) f->point[i] = x[i] + 0.3 * (f->point[i] - x[i]);
    }
    return AIS_OK;
}

static bool known(const ais_modes *modes, const double *x) {
    for (int k = 0; k < modes->mixture.count; k++)
        if (ais_components_distance(&modes->mixture, k, x, 1) < 1) return true;
    return false;
}

static ais_status make(ais_evaluator *evaluator, fit *f, double scale, const double *start, double top,
                       ais_modes *modes, bool *added) {
    enum { NEWTON_STEPS = 6 };
    size_t dim = (size_t)evaluator->target->dim;
    bool good = true, unbounded = false;
    double gain = INFINITY, *x = f->mean;
    ais_status status = AIS_OK;
    memcpy(x, start, dim * sizeof *x);
    for (int k = 0; k < NEWTON_STEPS && gain > 1e-3; k++) {
        double before = top;
        status = curvature_at(evaluator, f, x, top, scale, &good);
        if (status == AIS_OK && good) status = newton(evaluator, f, scale, x, &top, &gain);
        if (status != AIS_OK || !good) return status;
        if (top == before) break;
        if (known(modes, x)) return AIS_OK;
    }
    /* A point on a bent ridge, where an optimisation ended early, promises to rise: it is no mode beside others. */
    if (gain > 0.5 && modes->mixture.count) return AIS_OK;
    for (size_t j = 0; j < dim; j++) {
        /* A flat direction, or one that rounding hides, starts as wide as the region. */
        f->probed[j] = !(f->value[j] > fmax(1e-9 * f->value[dim - 1], 1 / (LARGEST * LARGEST * scale * scale)));
        f->sd[j] = f->probed[j] ? scale : 1 / sqrt(f->value[j]);
    }
    if ((status = settle(evaluator, f, x, top, scale)) != AIS_OK) return status;
    for (size_t j = 0; j < dim; j++) unbounded |= f->sd[j] >= LARGEST * scale;
    *added = ais_modes_add(modes, x, top, f->sd, f->axis, unbounded);
    return AIS_OK;
}

ais_status ais_laplace(ais_evaluator *evaluator, double scale, const double *x, double f, ais_modes *modes,
                       bool *added) {
    ais_arena arena = {0};
    fit room;
    size_t dim = (size_t)evaluator->target->dim;
    *added = false;
    ais_status status = take(&room, &arena, dim, !evaluator->target->grad)
                            ? make(evaluator, &room, scale, x, f, modes, added)
                            : ais_fail_memory(evaluator->context, "a Laplace fit", 6 * dim * dim * sizeof(double));
    ais_arena_free(&arena);
    return status;
}

/* The places of the `most` largest evidences, in rising order of place. */
static bool prune(ais_modes *modes, int most, ais_arena *arena) {
    int count = modes->mixture.count, kept = 0;
    int *places = AIS_TAKE(arena, int, count);
    if (!places) return false;
    for (int k = 0; k < count; k++) {
        int above = 0;
        double mine = ais_modes_evidence(modes, k);
        for (int j = 0; j < count; j++) {
            double theirs = ais_modes_evidence(modes, j);
            above += theirs > mine || (theirs == mine && j < k);
        }
        if (above < most) places[kept++] = k;
    }
    ais_modes_keep(modes, kept, places);
    return true;
}

ais_status ais_absorb(ais_evaluator *evaluator, double scale, int runs, const double *x, const double *logp,
                      const ais_ending *ending, int most, ais_modes *modes, int *added) {
    size_t dim = (size_t)evaluator->target->dim;
    ais_arena arena = {0};
    bool *done = AIS_TAKE(&arena, bool, runs);
    ais_status status = done ? AIS_OK : ais_fail_memory(evaluator->context, "optima", (size_t)runs);
    *added = 0;
    bool any = modes->mixture.count > 0;
    for (int r = 0; r < runs; r++) any |= ending[r] == AIS_CONVERGED;
    for (int turn = 0; turn < runs && status == AIS_OK; turn++) {
        int best = -1;
        for (int r = 0; r < runs; r++)
            if (!done[r] && (ending[r] == AIS_CONVERGED || (!any && ending[r] == AIS_STUCK)) &&
                (best < 0 || logp[r] > logp[best]))
                best = r;
        if (best < 0 || modes->mixture.count >= modes->mixture.room || (!any && turn)) break;
        done[best] = true;
        const double *point = x + (size_t)best * dim;
        if (known(modes, point)) continue;
        bool fitted;
        status = ais_laplace(evaluator, scale, point, logp[best], modes, &fitted);
        *added += fitted;
    }
    if (status == AIS_OK && modes->mixture.count > most && !prune(modes, most, &arena))
        status = ais_fail_memory(evaluator->context, "optima", sizeof(int));
    ais_arena_free(&arena);
    return status;
}
