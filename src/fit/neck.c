#include "fit/neck.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/constants.h"
#include "base/matrix.h"
#include "fit/curve.h"
#include "fit/flow_start.h"
#include "learned/learned.h"
#include "look/eigen.h"
#include "map/element_lanes.h"
#include "map/neck.h"
#include "map/whitening.h"

enum { CANDIDATES = 3 }; /* pivots that are tried with all rates */
enum {
    FEW = 2,
    MANY = 5,
    SEARCH = 20
};                                /* turns of a fit: of a trial, of the last one; steps of the search for a rate */
static const double deepest = 60; /* of the logarithm of s */

/* ---- a fit with a given pivot and rate ------------------------------------------------------------ */

/* Points with coordinates in units of their sds, less their means. */
typedef struct neck {
    size_t dim, n, d, k;  /* d: others; k: unknowns of one of them */
    double *mean, *sd;    /* dim */
    double *all, *slopes; /* n x dim */
    size_t pivot;
    double rate;
    double *axes;                               /* d x d: u = axes y */
    double *a, *b, *c, *e;                      /* d: p = a + b s, m = (c + e s) / p along them */
    double *left;                               /* d: mean tamed square of what is left, per axis */
    double *y, *g;                              /* n x d: others and their slopes, along the axes so far */
    double *s, *weight;                         /* n */
    double *row;                                /* n x k: what is regressed on */
    double *matrix, *right, *best;              /* k x k, k x d, k x d */
    double *rest;                               /* n x d */
    double *one, *two, *three, *value, *turned; /* d x d; d; d */
} neck;

static bool take(neck *of, ais_arena *arena, size_t dim, size_t n) {
    size_t d = dim - 1, k = 2 * d + 2;
    *of = (neck){.dim = dim, .n = n, .d = d, .k = k};
    double **room[] = {&of->mean,  &of->sd,   &of->all,  &of->slopes, &of->axes, &of->a,      &of->b,     &of->c,
                       &of->e,     &of->left, &of->y,    &of->g,      &of->s,    &of->weight, &of->row,   &of->matrix,
                       &of->right, &of->best, &of->rest, &of->one,    &of->two,  &of->three,  &of->value, &of->turned};
    size_t size[] = {dim, dim, n * dim, n * dim, d * d, d,     d,     d,     d,     d,     n * d, n * d,
                     n,   n,   n * k,   k * k,   k * d, k * d, n * d, d * d, d * d, d * d, d,     d};
    for (size_t i = 0; i < sizeof room / sizeof *room; i++)
        if (!(*room[i] = AIS_TAKE(arena, double, size[i]))) return false;
    return true;
}

/* Cholesky's factor of the symmetric matrix in place, lower; false where there is none. */
static bool factorise(size_t k, double *m) {
    for (size_t i = 0; i < k; i++)
        for (size_t j = 0; j <= i; j++) {
            double sum = m[i * k + j];
            for (size_t l = 0; l < j; l++) sum -= m[i * k + l] * m[j * k + l];
            if (j < i)
                m[i * k + j] = sum / m[j * k + j];
            else if (sum > 0)
                m[i * k + i] = sqrt(sum);
            else
                return false;
        }
    return true;
}

/* Solves for all columns of right (k x d) in place. */
static void substitute(size_t k, size_t d, const double *m, double *right) {
    for (size_t i = 0; i < k; i++) {
        for (size_t l = 0; l < i; l++)
            for (size_t j = 0; j < d; j++) right[i * d + j] -= m[i * k + l] * right[l * d + j];
        for (size_t j = 0; j < d; j++) right[i * d + j] /= m[i * k + i];
    }
    for (size_t i = k; i-- > 0;) {
        for (size_t l = i + 1; l < k; l++)
            for (size_t j = 0; j < d; j++) right[i * d + j] -= m[l * k + i] * right[l * d + j];
        for (size_t j = 0; j < d; j++) right[i * d + j] /= m[i * k + i];
    }
}

/* Weighted least squares of g on (-y, -s y, 1, s), all coordinates at once: of->best. Normal equations lose half of the
 * digits; what is left is regressed again. */
static bool regress(neck *of) {
    enum { AGAIN = 2 };
    size_t n = of->n, d = of->d, k = of->k;
    memset(of->matrix, 0, k * k * sizeof *of->matrix);
    memset(of->best, 0, k * d * sizeof *of->best);
    for (size_t r = 0; r < n; r++) {
        double *row = of->row + r * k, w = sqrt(of->weight[r]);
        for (size_t j = 0; j < d; j++) {
            row[j] = -w * of->y[r * d + j];
            row[d + j] = of->s[r] * row[j];
        }
        row[2 * d] = w;
        row[2 * d + 1] = w * of->s[r];
        for (size_t i = 0; i < k; i++)
            for (size_t j = 0; j <= i; j++) of->matrix[i * k + j] += row[i] * row[j];
    }
    for (size_t i = 0; i < k; i++) of->matrix[i * k + i] *= 1 + 1e-12;
    if (!factorise(k, of->matrix)) return false;
    for (int turn = 0; turn <= AGAIN; turn++) {
        memset(of->right, 0, k * d * sizeof *of->right);
        for (size_t r = 0; r < n; r++) {
            const double *row = of->row + r * k;
            double *rest = of->rest + r * d, w = sqrt(of->weight[r]);
            for (size_t j = 0; j < d; j++) rest[j] = w * of->g[r * d + j];
            for (size_t i = 0; i < k && turn; i++)
                for (size_t j = 0; j < d; j++) rest[j] -= row[i] * of->best[i * d + j];
            for (size_t i = 0; i < k; i++)
                for (size_t j = 0; j < d; j++) of->right[i * d + j] += row[i] * rest[j];
        }
        substitute(k, d, of->matrix, of->right);
        for (size_t i = 0; i < k * d; i++) of->best[i] += of->right[i];
    }
    return true;
}

/* Both matrices symmetric, and c and e once more with what they are then. */
static void make_symmetric(neck *of) {
    size_t n = of->n, d = of->d;
    double *a = of->best, *b = a + d * d, *c = b + d * d, *e = c + d, ss[3] = {0};
    for (size_t i = 0; i < d; i++)
        for (size_t j = 0; j < i; j++) {
            a[i * d + j] = a[j * d + i] = 0.5 * (a[i * d + j] + a[j * d + i]);
            b[i * d + j] = b[j * d + i] = 0.5 * (b[i * d + j] + b[j * d + i]);
        }
    memset(of->turned, 0, d * sizeof *of->turned);
    memset(of->value, 0, d * sizeof *of->value);
    for (size_t r = 0; r < n; r++) {
        double w = of->weight[r], s = of->s[r];
        const double *y = of->y + r * d;
        ss[0] += w;
        ss[1] += w * s;
        ss[2] += w * s * s;
        for (size_t j = 0; j < d; j++) {
            double rest = of->g[r * d + j];
            for (size_t i = 0; i < d; i++) rest += y[i] * (a[i * d + j] + s * b[i * d + j]);
            of->turned[j] += w * rest;
            of->value[j] += w * s * rest;
        }
    }
    double det = ss[0] * ss[2] - ss[1] * ss[1];
    for (size_t j = 0; j < d && det > 0; j++) {
        c[j] = (ss[2] * of->turned[j] - ss[1] * of->value[j]) / det;
        e[j] = (ss[0] * of->value[j] - ss[1] * of->turned[j]) / det;
    }
}

static void turn_rows(size_t n, size_t d, const double *by, bool transposed, double *rows, double *room) {
    for (size_t r = 0; r < n; r++) {
        ais_multiply(1, d, rows + r * d, by, transposed, room);
        memcpy(rows + r * d, room, d * sizeof *room);
    }
}

/* Axes along which A and B are diagonal, A + s0 B being the identity there; points follow. */
static bool find_axes(neck *of, double s0) {
    size_t d = of->d;
    double *a = of->best, *b = a + d * d, *c = b + d * d, *e = c + d, ignored;
    for (size_t i = 0; i < d * d; i++) of->one[i] = a[i] + s0 * b[i];
    if (!ais_eigen(d, of->one, of->value, of->two) || !(of->value[d - 1] > 0)) return false;
    for (size_t i = 0; i < d; i++) /* L^T, rows of length 1 / root */
        for (size_t j = 0; j < d; j++) of->two[i * d + j] /= sqrt(fmax(of->value[i], 1e-9 * of->value[d - 1]));
    ais_multiply(d, d, of->two, b, false, of->three);
    ais_multiply(d, d, of->three, of->two, true, of->one);
    for (size_t i = 0; i < d; i++)
        for (size_t j = 0; j <= i; j++)
            of->one[i * d + j] = of->one[j * d + i] = 0.5 * s0 * (of->one[i * d + j] + of->one[j * d + i]);
    if (!ais_eigen(d, of->one, of->value, of->three)) return false;
    ais_multiply(d, d, of->three, of->two, false, of->one); /* T^T: row j is axis j */
    for (size_t j = 0; j < d; j++) {
        double share = fmin(fmax(of->value[j], 0), 1);
        of->a[j] = 1 - share;
        of->b[j] = share / s0;
        of->c[j] = of->e[j] = 0;
        for (size_t i = 0; i < d; i++) {
            of->c[j] += of->one[j * d + i] * c[i];
            of->e[j] += of->one[j * d + i] * e[i];
        }
    }
    ais_multiply(d, d, of->axes, of->one, true, of->two);
    memcpy(of->axes, of->two, d * d * sizeof *of->axes);
    turn_rows(of->n, d, of->one, true, of->g, of->turned);
    memcpy(of->three, of->one, d * d * sizeof *of->three);
    if (!ais_invert(d, of->three, of->two, &ignored)) return false; /* T^-T: y' = y T^-T as rows */
    turn_rows(of->n, d, of->two, false, of->y, of->turned);
    return true;
}

/* (z + slope)^2 of a point along axis j, with such a precision. */
static double left_of(const neck *of, size_t r, size_t j, double a, double b) {
    double p = fmax(a + b * of->s[r], 1e-100), z = of->y[r * of->d + j] * p - of->c[j] - of->e[j] * of->s[r];
    double square = (z + of->g[r * of->d + j]) * (z + of->g[r * of->d + j]) / p;
    return square < 1e100 ? square : 1e100;
}

/* What is left, and the weights of the next turn: those of a density about as wide as this one is on average, and less
 * where much is left. The cost. */
static double judge(neck *of) {
    size_t n = of->n, d = of->d;
    double cost = 0;
    memset(of->left, 0, d * sizeof *of->left);
    for (size_t r = 0; r < n; r++) {
        double sum = 0, precision = 0;
        for (size_t j = 0; j < d; j++) {
            double square = left_of(of, r, j, of->a[j], of->b[j]);
            of->left[j] += ais_curve_tame(square) / (double)n;
            sum += square / (double)d;
            precision += (of->a[j] + of->b[j] * of->s[r]) / (double)d;
        }
        of->weight[r] = 1 / (fmax(precision, 1e-100) * sqrt(1 + sum / 9));
    }
    for (size_t j = 0; j < d; j++) cost += log(of->left[j] + 1e-20);
    return cost;
}

static int rising(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* INFINITY where there is none. */
static double fit(neck *of, size_t pivot, double rate, int turns) {
    size_t n = of->n, d = of->d;
    double cost = INFINITY;
    of->pivot = pivot;
    of->rate = rate;
    for (size_t r = 0; r < n; r++) {
        double v = of->all[r * of->dim + pivot];
        of->s[r] = exp(fmin(fmax(-2 * rate * v, -deepest), deepest));
        of->weight[r] = 1 / ((1 + of->s[r]) * (1 + of->s[r]));
        for (size_t i = 0, j = 0; i < of->dim; i++) {
            if (i == pivot) continue;
            of->y[r * d + j] = of->all[r * of->dim + i];
            of->g[r * d + j++] = of->slopes[r * of->dim + i];
        }
    }
    memcpy(of->rest, of->s, n * sizeof *of->s);
    qsort(of->rest, n, sizeof *of->rest, rising);
    double s0 = of->rest[n / 2];
    memset(of->axes, 0, d * d * sizeof *of->axes);
    for (size_t j = 0; j < d; j++) of->axes[j * d + j] = 1;
    for (int turn = 0; turn < turns; turn++) {
        if (!regress(of)) return INFINITY;
        make_symmetric(of);
        if (!find_axes(of, s0)) return INFINITY;
        cost = judge(of);
    }
    return isnan(cost) ? INFINITY : cost;
}

/* ---- the pivot and the rate ----------------------------------------------------------------------- */

/* A precision without a or b, if they explain no more than noise would (Schwarz's criterion): far along
 * the neck a little b is everything, and so is a little a at the other end. */
static void simplify(neck *of) {
    size_t n = of->n;
    double worth = log((double)n) / (double)n;
    for (size_t j = 0; j < of->d; j++)
        for (int part = 0; part < 2; part++) {
            double sum = 0, a = part ? 0 : of->a[j], b = part ? of->b[j] : 0, c = of->c[j], e = of->e[j];
            if (part)
                of->c[j] = 0;
            else
                of->e[j] = 0;
            for (size_t r = 0; r < n; r++) sum += ais_curve_tame(left_of(of, r, j, a, b)) / (double)n;
            if (a + b > 0 && log(sum + 1e-20) < log(of->left[j] + 1e-20) + 2 * worth) {
                of->a[j] = a;
                of->b[j] = b;
                break;
            }
            of->c[j] = c;
            of->e[j] = e;
        }
}

static void standardise(neck *of, const ais_bend_points *points) {
    size_t dim = of->dim, n = of->n;
    for (size_t i = 0; i < dim; i++) {
        double mean = 0, square = 0;
        for (size_t r = 0; r < n; r++) mean += points->x[r * dim + i] / (double)n;
        for (size_t r = 0; r < n; r++) square += pow(points->x[r * dim + i] - mean, 2) / (double)n;
        of->mean[i] = mean;
        of->sd[i] = square > 0 && isfinite(square) ? sqrt(square) : 1;
        for (size_t r = 0; r < n; r++) {
            of->all[r * dim + i] = (points->x[r * dim + i] - mean) / of->sd[i];
            of->slopes[r * dim + i] = points->gradient[r * dim + i] * of->sd[i];
        }
    }
}

/* What every coordinate leaves as the one that governs all others, in one turn with a middling rate. */
static void sieve(neck *of, double *score) {
    static const double middling = 0.7;
    for (size_t i = 0; i < of->dim; i++) score[i] = fmin(fit(of, i, middling, 1), fit(of, i, -middling, 1));
}

/* The least cost over rates near the given one, by golden sections. */
static double refine(neck *of, size_t pivot, double rate) {
    const double shorter = 0.6180339887498949, wide = log(1.45), sign = rate < 0 ? -1 : 1;
    double low = log(fabs(rate)) - wide, high = low + 2 * wide;
    double at[2] = {high - shorter * (high - low), low + shorter * (high - low)};
    double cost[2] = {fit(of, pivot, sign * exp(at[0]), FEW), fit(of, pivot, sign * exp(at[1]), FEW)};
    for (int k = 0; k < SEARCH; k++) {
        int better = cost[1] < cost[0], worse = !better;
        if (better)
            low = at[0];
        else
            high = at[1];
        at[worse] = at[better];
        cost[worse] = cost[better];
        at[better] = better ? low + shorter * (high - low) : high - shorter * (high - low);
        cost[better] = fit(of, pivot, sign * exp(at[better]), FEW);
    }
    return sign * exp(cost[1] < cost[0] ? at[1] : at[0]);
}

static bool search(neck *of, ais_arena *arena) {
    static const double rates[] = {0.25, 0.35, 0.5, 0.7, 1, 1.4, 2};
    double *score = AIS_TAKE(arena, double, of->dim), least = INFINITY, rate = 0;
    size_t pivot = 0;
    if (!score) return false;
    sieve(of, score);
    for (size_t i = 0; i < of->dim; i++) {
        size_t before = 0;
        for (size_t j = 0; j < of->dim; j++) before += score[j] < score[i];
        if (before >= CANDIDATES) continue;
        for (size_t k = 0; k < 2 * (sizeof rates / sizeof *rates); k++) {
            double tried = k % 2 ? -rates[k / 2] : rates[k / 2], cost = fit(of, i, tried, FEW);
            if (!(cost < least)) continue;
            least = cost;
            pivot = i;
            rate = tried;
        }
    }
    if (!(least < INFINITY)) return true;
    rate = refine(of, pivot, rate);
    if (fit(of, pivot, rate, MANY) < INFINITY) {
        simplify(of);
        judge(of);
    }
    return true;
}

/* ---- into the kernel ------------------------------------------------------------------------------ */

static ais_status make(ais_context *context, const ais_shape *shape, const neck *of, ais_kernel **kernel) {
    size_t dim = of->dim, d = of->d;
    double *factor = calloc(dim * dim, sizeof *factor);
    if (!factor) return ais_fail_memory(context, "a neck", dim * dim * sizeof *factor);
    ais_status status = ais_kernel_learned(context, shape, shape->permutation, kernel);
    if (status == AIS_OK) {
        ais_learned *learned = (ais_learned *)*kernel;
        ais_flow_spread(*kernel, shape->permutation, 0);
        ais_real *w = learned->weights + learned->flow.layer[0].offset;
        w[0] = (ais_real)of->rate;
        for (size_t j = 0; j < d; j++) {
            const double number[] = {of->a[j], of->b[j], of->c[j], of->e[j]};
            for (size_t k = 0; k < AIS_NECK_NUMBERS; k++) w[1 + AIS_NECK_NUMBERS * j + k] = (ais_real)number[k];
        }
        for (size_t i = 0, row = 0; i < dim; i++) {
            factor[i * dim + d] = i == of->pivot ? of->sd[i] : 0;
            if (i == of->pivot) continue;
            for (size_t j = 0; j < d; j++) factor[i * dim + j] = of->sd[i] * of->axes[row * d + j];
            row++;
        }
        status = ais_kernel_whiten(context, *kernel, of->mean, factor);
    }
    free(factor);
    if (status != AIS_OK && *kernel) {
        ais_kernel_free(*kernel);
        *kernel = NULL;
    }
    return status;
}

ais_status ais_neck_fit(ais_context *context, const ais_shape *shape, const ais_bend_points *points,
                        ais_kernel **kernel, double *misfit) {
    ais_arena arena = {0};
    neck of;
    *kernel = NULL;
    *misfit = NAN;
    if (!shape->neck || !points->gradient)
        return ais_fail(context, AIS_BAD_ARGUMENT, "a neck is fitted to a map that has one, and to gradients");
    ais_status status = AIS_OK;
    if (!take(&of, &arena, (size_t)shape->dim, points->n))
        status = ais_fail_memory(context, "a neck", points->n * of.k * sizeof(double));
    if (status == AIS_OK) {
        standardise(&of, points);
        if (!search(&of, &arena)) status = ais_fail_memory(context, "a neck", points->n * of.k * sizeof(double));
    }
    double sum = 0;
    for (size_t j = 0; j < of.d && status == AIS_OK; j++) sum += of.left[j] / (double)of.d;
    if (status == AIS_OK && of.rate != 0 && isfinite(sum)) {
        *misfit = sum;
        status = make(context, shape, &of, kernel);
    }
    ais_arena_free(&arena);
    return status;
}

/* ---- the ridge and the warp ----------------------------------------------------------------------- */

double ais_neck_ridge(const ais_kernel *kernel, double v, double *x) {
    const ais_learned *learned = ais_as_learned(kernel);
    const ais_whitening *whitening = &learned->whitening;
    const ais_real *w = learned->weights + learned->flow.layer[0].offset;
    size_t dim = (size_t)learned->shape.dim;
    double s = exp(fmin(fmax(-2 * (double)w[0] * v, -300), 300)), volume = 0;
    memcpy(x, whitening->mean, dim * sizeof *x);
    for (size_t j = 0; j < dim; j++) {
        const ais_real *of = w + 1 + AIS_NECK_NUMBERS * j;
        double middle = v;
        if (j < dim - 1) {
            double p = fabs((double)of[0]) + fabs((double)of[1]) * s;
            middle = ((double)of[2] + (double)of[3] * s) / p;
            volume -= 0.5 * log(p);
        }
        for (size_t i = 0; i < dim; i++) x[i] += whitening->factor[i * dim + j] * middle;
    }
    return volume;
}

/* The log density between the points at which it is known, by cubics through four of them. */
static double between(size_t n, const double *logp, double at) {
    size_t i = at < 1 ? 0 : (size_t)at - 1;
    if (i > n - 4) i = n - 4;
    double t = at - (double)i, sum = 0;
    for (int j = 0; j < 4; j++) {
        double share = logp[i + (size_t)j];
        for (int l = 0; l < 4; l++)
            if (l != j) share *= (t - l) / (j - l);
        sum += share;
    }
    return sum;
}

ais_status ais_neck_warp(ais_context *context, ais_kernel *kernel, size_t n, double first, double step,
                         const double *logp, bool *done) {
    enum { FINE = 32 };
    static const double far = 5.5; /* of the latent normal: 4e-8 lies beyond on both sides */
    ais_learned *learned = (ais_learned *)kernel;
    int bins = learned->flow.layer[0].bins;
    *done = false;
    if (n < 4) return AIS_OK;
    size_t cells = (n - 1) * FINE;
    double knot[AIS_MAX_BINS + 1], slope[AIS_MAX_BINS + 1], top = -INFINITY, cell = step / FINE;
    double *density = malloc(2 * (cells + 1) * sizeof *density);
    if (!density) return ais_fail_memory(context, "a warp", 2 * (cells + 1) * sizeof *density);
    double *below = density + cells + 1;
    for (size_t i = 0; i < n; i++) top = fmax(top, logp[i]);
    for (size_t i = 0; i <= cells; i++) density[i] = exp(between(n, logp, (double)i / FINE) - top);
    double rise = logp[1] - logp[0], fall = logp[n - 2] - logp[n - 1]; /* what lies before and behind, exponential */
    bool whole = rise > 0 && fall > 0;
    below[0] = density[0] * step / fmax(rise, 1e-3);
    for (size_t i = 1; i <= cells; i++) below[i] = below[i - 1] + 0.5 * cell * (density[i] + density[i - 1]);
    double mass = density[cells] * step / fmax(fall, 1e-3), total = below[cells] + mass;
    /* From both ends, so that small masses keep their digits: knots below the median by mass before them, the others by
     * mass behind. */
    size_t i = 0, back = cells;
    for (int k = 0; k <= bins && whole; k++) {
        int upper = 2 * k > bins, turn = upper ? bins - (k - bins / 2 - 1) : k; /* from the ends to the middle */
        double z = far * (2.0 * turn / bins - 1), wanted = total * 0.5 * erfc(fabs(z) / sqrt(2)), at;
        if (!upper) {
            while (i < cells && below[i + 1] < wanted) i++;
            double inside = (wanted - below[i]) / (below[i + 1] - below[i]);
            at = (double)i + inside;
            if (inside < 0) whole = false;
        } else {
            double next = mass;
            while (back > 0) {
                next = mass + 0.5 * cell * (density[back] + density[back - 1]);
                if (!(next < wanted)) break;
                mass = next;
                back--;
            }
            double inside = (wanted - mass) / (next - mass);
            at = (double)back - inside;
            if (inside < 0) whole = false;
        }
        knot[turn] = first + cell * at;
        slope[turn] = exp(between(n, logp, at / FINE) - top + 0.5 * z * z + AIS_LOG_ROOT_2PI) / total;
    }
    for (int k = 0; k < bins && whole; k++) whole = knot[k + 1] > knot[k] && isfinite(slope[k]) && slope[k] > 0;
    if (whole) {
        ais_real *w = learned->weights + learned->flow.layer[0].offset + ais_neck_warp_at(learned->shape.dim);
        w[0] = (ais_real)knot[0];
        w[1] = (ais_real)-far;
        for (int k = 0; k < bins; k++) {
            w[2 + 2 * k] = (ais_real)(knot[k + 1] - knot[k]);
            w[3 + 2 * k] = (ais_real)(2 * far / bins);
        }
        for (int k = 0; k <= bins; k++) w[2 + 2 * bins + k] = (ais_real)slope[k];
    }
    free(density);
    *done = whole;
    return AIS_OK;
}
