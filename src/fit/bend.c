#include "fit/bend.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/matrix.h"
#include "explore/affine.h"
#include "fit/curve.h"
#include "fit/governor.h"
#include "kernel/feature_lanes.h"
#include "kernel/learned.h"
#include "look/eigen.h"

enum { SOME = 128, CANDIDATES = 6 }; /* points that the governing coordinate is found by; how many are tried */

/* ---- all coordinates ------------------------------------------------------------------------------- */

/* Points x = mean + factor u in coordinates u, the kept one last; coordinates x n. */
typedef struct whitened {
    size_t dim, n;
    double *mean, *factor;  /* dim, dim x dim */
    double *inverse, *used; /* dim x dim: of the factor; work */
    double *u, *slope;      /* slope: or NULL */
    double *f;              /* n x FEATURES */
    double *own;            /* n: the kept one's slope where the others' latent values are held */
    double *left;           /* n: sums of squares of what is left */
    double *given;          /* n: weights */
    double *weight;         /* n: of a fit under way */
    ais_curve *curves;      /* dim - 1 */
    double centre, width;   /* of the kept one, the others being mapped */
} whitened;

static bool take(whitened *of, ais_arena *arena, size_t dim, const ais_bend_points *points) {
    size_t n = points->n;
    *of = (whitened){.dim = dim,
                     .n = n,
                     .mean = AIS_TAKE(arena, double, dim),
                     .factor = AIS_TAKE(arena, double, dim *dim),
                     .inverse = AIS_TAKE(arena, double, dim *dim),
                     .used = AIS_TAKE(arena, double, dim *dim),
                     .u = AIS_TAKE(arena, double, dim *n),
                     .slope = points->gradient ? AIS_TAKE(arena, double, dim *n) : NULL,
                     .f = AIS_TAKE(arena, double, AIS_CURVE_FEATURES *n),
                     .own = AIS_TAKE(arena, double, n),
                     .left = AIS_TAKE(arena, double, n),
                     .given = AIS_TAKE(arena, double, n),
                     .weight = AIS_TAKE(arena, double, n),
                     .curves = AIS_TAKE(arena, ais_curve, dim)};
    if (!of->mean || !of->factor || !of->inverse || !of->used || !of->u || (points->gradient && !of->slope) || !of->f ||
        !of->own || !of->left || !of->given || !of->weight || !of->curves)
        return false;
    for (size_t c = 0; c < n; c++) of->given[c] = points->weight ? points->weight[c] : 1;
    return true;
}

/* By means and standard deviations; coordinate `last` of x changes places with the last one. */
static void measure(whitened *of, const ais_bend_points *points, size_t last) {
    size_t dim = of->dim;
    double total = 0;
    memset(of->factor, 0, dim * dim * sizeof *of->factor);
    for (size_t c = 0; c < of->n; c++) total += of->given[c];
    for (size_t i = 0; i < dim; i++) {
        double sum = 0, square = 0;
        for (size_t c = 0; c < of->n; c++) sum += of->given[c] * points->x[c * dim + i] / total;
        for (size_t c = 0; c < of->n; c++) square += of->given[c] * pow(points->x[c * dim + i] - sum, 2) / total;
        of->mean[i] = sum;
        of->factor[i * dim + (i == last      ? dim - 1
                              : i == dim - 1 ? last
                                             : i)] = square > 0 && isfinite(square) ? sqrt(square) : 1;
    }
}

/* False where the factor is singular. */
static bool whiten(whitened *of, const ais_bend_points *points) {
    size_t dim = of->dim, n = of->n;
    double volume;
    memcpy(of->used, of->factor, dim * dim * sizeof *of->used);
    if (!ais_invert(dim, of->used, of->inverse, &volume)) return false;
    for (size_t c = 0; c < n; c++)
        for (size_t i = 0; i < dim; i++) {
            double u = 0, slope = 0;
            for (size_t j = 0; j < dim; j++) {
                u += of->inverse[i * dim + j] * (points->x[c * dim + j] - of->mean[j]);
                if (of->slope) slope += of->factor[j * dim + i] * points->gradient[c * dim + j];
            }
            of->u[i * n + c] = u;
            if (of->slope) of->slope[i * n + c] = slope;
        }
    return true;
}

static ais_curve_sample sample_of(const whitened *of, size_t i, size_t n) {
    return (ais_curve_sample){.n = n,
                              .f = of->f,
                              .x = of->u + i * of->n,
                              .slope = of->slope ? of->slope + i * of->n : NULL,
                              .given = of->given,
                              .weight = of->weight};
}

/* What a coordinate, mapped by its curve, adds to the kept one's slope, and what it leaves. */
static void follow(whitened *of, size_t kept, const ais_curve_sample *s, const ais_curve *c) {
    const double *v = of->u + kept * of->n;
    for (size_t p = 0; p < s->n && of->slope; p++) {
        ais_latent l = ais_curve_at(s, c, p);
        double line = ais_linear_feature, parabola = 2 * ais_quadratic_feature * v[p];
        double scale = c->a[1] * line + c->a[2] * parabola, shift = c->b[1] * line + c->b[2] * parabola;
        of->own[p] -= l.slope * (l.z * scale + shift * l.scale) + scale;
        of->left[p] += (l.z + l.slope) * (l.z + l.slope);
    }
}

/* The normal density of the kept coordinate, the others being mapped: its centre and width, and what it leaves. */
static double straighten(whitened *of, size_t kept, size_t n) {
    ais_curve_sample s = sample_of(of, kept, n);
    ais_curve c;
    if (of->slope) s.slope = of->own;
    double value = ais_curve_fit(&s, 1, 1, &c);
    of->centre = -c.b[0];
    of->width = exp(-c.a[0]);
    for (size_t p = 0; p < n; p++) {
        ais_latent l = ais_curve_at(&s, &c, p);
        of->left[p] += (l.z + l.slope) * (l.z + l.slope);
    }
    return value;
}

static void begin(whitened *of, size_t kept, size_t n) {
    ais_curve_features(n, of->u + kept * of->n, of->f);
    memset(of->left, 0, n * sizeof *of->left);
    if (of->slope) memcpy(of->own, of->slope + kept * of->n, n * sizeof *of->own);
}

/* What the others' places and widths leave as parabolas of coordinate i. */
static double governed_cost(whitened *of, size_t i, size_t n) {
    double sum = 0;
    begin(of, i, n);
    for (size_t j = 0; j < of->dim; j++) {
        ais_curve c;
        if (j == i) continue;
        ais_curve_sample s = sample_of(of, j, n);
        sum += ais_curve_cost(of->slope, 1, ais_curve_fit(&s, AIS_CURVE_FEATURES, AIS_CURVE_FEATURES, &c));
        follow(of, i, &s, &c);
    }
    return sum + ais_curve_cost(of->slope, 1, straighten(of, i, n));
}

/* The coordinate that leaves least. Where there are many the most promising are tried; score: dim numbers. */
static size_t find_governor(whitened *of, double *score) {
    size_t n = of->n < SOME ? of->n : SOME, best = of->dim - 1;
    bool sieve = of->slope && of->dim > CANDIDATES;
    double least = INFINITY;
    if (sieve) ais_governor_scores(of->dim, n, of->n, of->u, of->slope, of->weight, score);
    for (size_t i = 0; i < of->dim; i++) {
        size_t before = 0;
        for (size_t j = 0; j < of->dim && sieve; j++) before += score[j] < score[i];
        if (before >= CANDIDATES) continue;
        double cost = governed_cost(of, i, n);
        if (cost < least) best = i;
        least = fmin(cost, least);
    }
    return best;
}

/* All curves, and the kept one's own centre and width; what is left of each coordinate. With as many terms as each
 * needs
 * (`choose`), or with all. */
static double fit_all(whitened *of, bool choose) {
    double sum = 0;
    begin(of, of->dim - 1, of->n);
    for (size_t j = 0; j + 1 < of->dim; j++) {
        ais_curve_sample s = sample_of(of, j, of->n);
        ais_curve *curve = &of->curves[j];
        double value =
            choose ? ais_curve_choose(&s, curve) : ais_curve_fit(&s, AIS_CURVE_FEATURES, AIS_CURVE_FEATURES, curve);
        sum += ais_curve_cost(of->slope, 1, value);
        follow(of, of->dim - 1, &s, &of->curves[j]);
    }
    return sum + ais_curve_cost(of->slope, 1, straighten(of, of->dim - 1, of->n));
}

/* The kept coordinate as its own density has it; then the curves are refitted to it. */
static bool settle(whitened *of, const ais_bend_points *points) {
    size_t dim = of->dim;
    for (size_t i = 0; i < dim; i++) {
        of->mean[i] += of->factor[i * dim + dim - 1] * of->centre;
        of->factor[i * dim + dim - 1] *= of->width;
    }
    return whiten(of, points);
}

static double misfit_of(const whitened *of) {
    double sum = 0, total = 0;
    for (size_t c = 0; c < of->n; c++) {
        sum += of->given[c] * ais_curve_tame(of->left[c] / (double)of->dim);
        total += of->given[c];
    }
    return sum / total;
}

/* ---- axes ------------------------------------------------------------------------------------------ */

/* What changes its width with the kept coordinate may be a difference of others: effects about their mean, which draw
 * near to it together. Axes along which the density is as wide as it is where the kept one is low and, at the same
 * time, as it is where that is high: factors of both covariances from the points of either half, diagonal together. */
static bool find_axes(whitened *of, double *room) {
    size_t dim = of->dim, n = of->n, d = dim - 1, count[2] = {0};
    double *rows[2] = {room, room + n * d}, *slopes[2] = {rows[1] + n * d, rows[1] + 2 * n * d};
    double *low = slopes[1] + n * d, *high = low + d * d, *inverse = high + d * d, *ratio = inverse + d * d;
    double *product = ratio + d * d, *vector = product + d * d, *value = vector + d * d, *mean = value + d, volume;
    ais_context ignored = {0};
    for (size_t c = 0; c < n; c++) {
        int half = of->u[d * n + c] > of->centre;
        for (size_t j = 0; j < d; j++) {
            rows[half][count[half] * d + j] =
                of->u[j * n + c] + ais_curve_dot(of->curves[j].b, of->f + c * AIS_CURVE_FEATURES);
            slopes[half][count[half] * d + j] = of->slope[j * n + c];
        }
        count[half]++;
    }
    if (count[0] < 2 * d || count[1] < 2 * d ||
        ais_affine_fit(&ignored, (int)d, count[0], rows[0], slopes[0], mean, low) != AIS_OK ||
        ais_affine_fit(&ignored, (int)d, count[1], rows[1], slopes[1], mean, high) != AIS_OK)
        return false;
    memcpy(product, low, d * d * sizeof *low);
    if (!ais_invert(d, product, inverse, &volume)) return false;
    ais_multiply(d, d, inverse, high, false, ratio);
    ais_multiply(d, d, ratio, ratio, true, product);
    if (!ais_eigen(d, product, value, vector)) return false;
    ais_multiply(d, d, low, vector, true, product);
    for (size_t i = 0; i < d * d; i++) product[i] *= sqrt(sqrt(fmax(value[i % d], 1e-12))); /* between both widths */
    for (size_t i = 0; i < dim; i++) {
        ais_multiply(1, d, of->factor + i * dim, product, false, mean);
        memcpy(of->factor + i * dim, mean, d * sizeof *mean);
    }
    return true;
}

/* ---- into the kernel ------------------------------------------------------------------------------- */

static const ais_flow_layer *pivot_of(const ais_learned *learned) {
    const ais_flow *flow = &learned->flow;
    const ais_flow_layer *layer = flow->layer;
    while (layer < flow->layer + flow->layers && layer->marginal) layer++;
    bool fits = flow->quadratic && layer < flow->layer + flow->layers && layer->kept == 1 && !layer->spline;
    return fits ? layer : NULL;
}

static void write(ais_learned *learned, const ais_flow_layer *layer, const ais_curve *curves) {
    ais_real *weights = learned->weights + layer->offset, *bias = weights + 2 * (size_t)layer->net.outputs;
    for (int m = 0; m < layer->mapped; m++) {
        const ais_curve *c = &curves[layer->index[1 + m]];
        for (int k = 0; k < 2; k++) {
            const double *w = k ? c->b : c->a;
            size_t output = 2 * (size_t)m + (size_t)k;
            bias[output] = (ais_real)w[0];
            weights[2 * output] = (ais_real)w[1];
            weights[2 * output + 1] = (ais_real)w[2];
        }
    }
}

/* With axes, where they leave less by more than their number of parameters excuses. */
static ais_status try_axes(ais_context *context, whitened *of, const ais_bend_points *points, ais_arena *arena,
                           double *cost) {
    size_t dim = of->dim, n = of->n, d = dim - 1;
    double *room = AIS_TAKE(arena, double, 4 * n * d + 6 * d * d + 2 * d), *factor = AIS_TAKE(arena, double, dim *dim);
    ais_curve *curves = AIS_TAKE(arena, ais_curve, dim);
    double centre = of->centre, width = of->width;
    if (!room || !factor || !curves) return ais_fail_memory(context, "axes", 4 * n * d * sizeof *room);
    memcpy(factor, of->factor, dim * dim * sizeof *factor);
    memcpy(curves, of->curves, dim * sizeof *curves);
    double with = INFINITY;
    if (find_axes(of, room) && whiten(of, points))
        with = fit_all(of, false) + 0.5 * (double)(d * (d - 1)) * log((double)n) / (double)n;
    if (with < *cost) {
        *cost = with;
        return AIS_OK;
    }
    memcpy(of->factor, factor, dim * dim * sizeof *factor);
    memcpy(of->curves, curves, dim * sizeof *curves);
    of->centre = centre;
    of->width = width;
    return AIS_OK;
}

ais_status ais_bend_fit(ais_context *context, ais_kernel *kernel, const ais_bend_points *points, double *misfit) {
    ais_learned *learned = (ais_learned *)kernel;
    const ais_flow_layer *layer = pivot_of(learned);
    size_t dim = (size_t)learned->flow.dim;
    ais_arena arena = {0};
    whitened of;
    if (!layer) return ais_fail(context, AIS_BAD_ARGUMENT, "the flow has no affine pivot layer on quadratic features");
    ais_status status =
        take(&of, &arena, dim, points) ? AIS_OK : ais_fail_memory(context, "a bend", dim * points->n * sizeof(double));
    bool whole = status == AIS_OK;
    if (whole) measure(&of, points, dim - 1);
    whole = whole && whiten(&of, points);
    if (whole) measure(&of, points, find_governor(&of, of.used));
    whole = whole && whiten(&of, points);
    double cost = whole ? fit_all(&of, false) : NAN;
    if (whole && points->gradient && dim > 2) status = try_axes(context, &of, points, &arena, &cost);
    whole = whole && settle(&of, points);
    if (whole && status == AIS_OK) {
        fit_all(&of, true);
        write(learned, layer, of.curves);
        status = ais_kernel_whiten(context, kernel, of.mean, of.factor);
    }
    *misfit = whole && points->gradient ? misfit_of(&of) : NAN;
    ais_arena_free(&arena);
    return status;
}

ais_status ais_bend_copy(ais_context *context, const ais_kernel *from, ais_kernel *to) {
    const ais_learned *source = ais_as_learned(from);
    ais_learned *copy = (ais_learned *)to;
    const ais_flow_layer *layer = pivot_of(source), *same = pivot_of(copy);
    if (!layer || !same || layer->mapped != same->mapped)
        return ais_fail(context, AIS_BAD_ARGUMENT, "the flows have no affine pivot layer in common");
    memcpy(copy->weights + same->offset, source->weights + layer->offset,
           ais_perceptron_weights(&layer->net) * sizeof *copy->weights);
    return ais_kernel_whiten(context, to, source->whitening.mean, source->whitening.factor);
}
