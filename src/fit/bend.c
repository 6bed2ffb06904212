#include "fit/bend.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/matrix.h"
#include "explore/affine.h"
#include "fit/curve.h"
#include "fit/flow_start.h"
#include "fit/governor.h"
#include "learned/learned.h"
#include "look/eigen.h"
#include "map/feature_lanes.h"
#include "map/neck.h"

enum { SOME = 128, CANDIDATES = 6 }; /* points that the governing coordinate is found by; how many are tried */

/* ---- all coordinates ------------------------------------------------------------------------------- */

/* Points x = mean + factor u in coordinates u, the kept ones last; coordinates x n. */
typedef struct whitened {
    size_t dim, n, kept;
    size_t *governor;       /* of every mapped coordinate */
    double *mean, *factor;  /* dim, dim x dim */
    double *inverse, *used; /* dim x dim: of the factor; work */
    double *u, *slope;      /* slope: or NULL */
    double *f;              /* of every kept coordinate, n x FEATURES */
    double *own;            /* of every kept coordinate, n: its slope where the others' latent values are held */
    double *left;           /* n: sums of squares of what is left */
    double *given;          /* n: weights */
    double *weight;         /* n: of a fit under way */
    ais_curve *curves;      /* of the mapped ones */
    double *centre, *width; /* of the kept ones, the others being mapped */
} whitened;

static bool take(whitened *of, ais_arena *arena, size_t dim, const ais_bend_points *points) {
    size_t n = points->n;
    *of = (whitened){.dim = dim,
                     .n = n,
                     .governor = AIS_TAKE(arena, size_t, dim),
                     .mean = AIS_TAKE(arena, double, dim),
                     .factor = AIS_TAKE(arena, double, dim *dim),
                     .inverse = AIS_TAKE(arena, double, dim *dim),
                     .used = AIS_TAKE(arena, double, dim *dim),
                     .u = AIS_TAKE(arena, double, dim *n),
                     .slope = points->gradient ? AIS_TAKE(arena, double, dim *n) : NULL,
                     .f = AIS_TAKE(arena, double, dim *AIS_CURVE_FEATURES *n),
                     .own = AIS_TAKE(arena, double, dim *n),
                     .left = AIS_TAKE(arena, double, n),
                     .given = AIS_TAKE(arena, double, n),
                     .weight = AIS_TAKE(arena, double, n),
                     .curves = AIS_TAKE(arena, ais_curve, dim),
                     .centre = AIS_TAKE(arena, double, dim),
                     .width = AIS_TAKE(arena, double, dim)};
    if (!of->governor || !of->mean || !of->factor || !of->inverse || !of->used || !of->u ||
        (points->gradient && !of->slope) || !of->f || !of->own || !of->left || !of->given || !of->weight ||
        !of->curves || !of->centre || !of->width)
        return false;
    for (size_t c = 0; c < n; c++) of->given[c] = points->weight ? points->weight[c] : 1;
    return true;
}

/* By means and standard deviations; place[i]: which coordinate of u that of x becomes, NULL: the same one. */
static void measure(whitened *of, const ais_bend_points *points, const size_t *place) {
    size_t dim = of->dim;
    double total = 0;
    memset(of->factor, 0, dim * dim * sizeof *of->factor);
    for (size_t c = 0; c < of->n; c++) total += of->given[c];
    for (size_t i = 0; i < dim; i++) {
        double sum = 0, square = 0;
        for (size_t c = 0; c < of->n; c++) sum += of->given[c] * points->x[c * dim + i] / total;
        for (size_t c = 0; c < of->n; c++) square += of->given[c] * pow(points->x[c * dim + i] - sum, 2) / total;
        of->mean[i] = sum;
        of->factor[i * dim + (place ? place[i] : i)] = square > 0 && isfinite(square) ? sqrt(square) : 1;
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

/* Coordinate i as curves of the kept one that room k is of. */
static ais_curve_sample sample_of(const whitened *of, size_t i, size_t k, size_t n) {
    return (ais_curve_sample){.n = n,
                              .f = of->f + k * of->n * AIS_CURVE_FEATURES,
                              .x = of->u + i * of->n,
                              .slope = of->slope ? of->slope + i * of->n : NULL,
                              .given = of->given,
                              .weight = of->weight};
}

/* What a coordinate, mapped by its curve, adds to the slope of the kept one, v, and what it leaves. */
static void follow(whitened *of, size_t kept, size_t k, const ais_curve_sample *s, const ais_curve *c) {
    const double *v = of->u + kept * of->n;
    for (size_t p = 0; p < s->n && of->slope; p++) {
        ais_latent l = ais_curve_at(s, c, p);
        double line = ais_linear_feature, parabola = 2 * ais_quadratic_feature * v[p];
        double scale = c->a[1] * line + c->a[2] * parabola, shift = c->b[1] * line + c->b[2] * parabola;
        of->own[k * of->n + p] -= l.slope * (l.z * scale + shift * l.scale) + scale;
        of->left[p] += (l.z + l.slope) * (l.z + l.slope);
    }
}

/* The normal density of a kept coordinate, the others being mapped: its centre and width, and what it leaves. */
static double straighten(whitened *of, size_t kept, size_t k, size_t n) {
    ais_curve_sample s = sample_of(of, kept, k, n);
    ais_curve c;
    if (of->slope) s.slope = of->own + k * of->n;
    double value = ais_curve_fit(&s, 1, 1, &c);
    of->centre[k] = -c.b[0];
    of->width[k] = exp(-c.a[0]);
    for (size_t p = 0; p < n; p++) {
        ais_latent l = ais_curve_at(&s, &c, p);
        of->left[p] += (l.z + l.slope) * (l.z + l.slope);
    }
    return ais_curve_cost(of->slope, 1, value);
}

static void begin(whitened *of, size_t kept, size_t k, size_t n) {
    ais_curve_features(n, of->u + kept * of->n, of->f + k * of->n * AIS_CURVE_FEATURES);
    if (of->slope) memcpy(of->own + k * of->n, of->slope + kept * of->n, n * sizeof *of->own);
}

/* All curves, and the kept ones' own centres and widths; what is left of each coordinate. With as many terms as each
 * needs (`choose`), or with all. */
static double fit_all(whitened *of, bool choose) {
    size_t mapped = of->dim - of->kept;
    double sum = 0;
    memset(of->left, 0, of->n * sizeof *of->left);
    for (size_t k = 0; k < of->kept; k++) begin(of, mapped + k, k, of->n);
    for (size_t j = 0; j < mapped; j++) {
        size_t k = of->governor[j] - mapped;
        ais_curve_sample s = sample_of(of, j, k, of->n);
        ais_curve *curve = &of->curves[j];
        double value =
            choose ? ais_curve_choose(&s, curve) : ais_curve_fit(&s, AIS_CURVE_FEATURES, AIS_CURVE_FEATURES, curve);
        sum += ais_curve_cost(of->slope, 1, value);
        follow(of, of->governor[j], k, &s, curve);
    }
    for (size_t k = 0; k < of->kept; k++) sum += straighten(of, mapped + k, k, of->n);
    return sum;
}

/* w.f(v) in terms of v' where v = centre + width v'. */
static void express(double w[AIS_CURVE_FEATURES], double centre, double width) {
    static const double line = ais_linear_feature, parabola = ais_quadratic_feature;
    w[0] += line * centre * w[1] + parabola * (centre * centre + width * width - 1) * w[2];
    w[1] = width * (w[1] + 2 * parabola / line * centre * w[2]);
    w[2] *= width * width;
}

/* The kept coordinates as their own densities have them, and the same curves of them. */
static void settle(whitened *of) {
    size_t dim = of->dim, mapped = dim - of->kept;
    for (size_t i = 0; i < dim; i++)
        for (size_t k = 0; k < of->kept; k++) {
            of->mean[i] += of->factor[i * dim + mapped + k] * of->centre[k];
            of->factor[i * dim + mapped + k] *= of->width[k];
        }
    for (size_t j = 0; j < mapped; j++) {
        size_t k = of->governor[j] - mapped;
        express(of->curves[j].a, of->centre[k], of->width[k]);
        express(of->curves[j].b, of->centre[k], of->width[k]);
    }
}

static double misfit_of(const whitened *of) {
    double sum = 0, total = 0;
    for (size_t c = 0; c < of->n; c++) {
        sum += of->given[c] * ais_curve_tame(of->left[c] / (double)of->dim);
        total += of->given[c];
    }
    return sum / total;
}

/* ---- which coordinates govern ---------------------------------------------------------------------- */

/* What the others' places and widths leave as parabolas of coordinate i. */
static double governed_cost(whitened *of, size_t i, size_t n) {
    double sum = 0;
    memset(of->left, 0, n * sizeof *of->left);
    begin(of, i, 0, n);
    for (size_t j = 0; j < of->dim; j++) {
        ais_curve c;
        if (j == i) continue;
        ais_curve_sample s = sample_of(of, j, 0, n);
        sum += ais_curve_cost(of->slope, 1, ais_curve_fit(&s, AIS_CURVE_FEATURES, AIS_CURVE_FEATURES, &c));
        follow(of, i, 0, &s, &c);
    }
    return sum + straighten(of, i, 0, n);
}

/* The one coordinate that leaves least. Where there are many the most promising are tried; gain: of every pair, or
 * NULL; score: dim numbers. */
static size_t find_governor(whitened *of, size_t n, const double *gain, double *score) {
    size_t best = of->dim - 1;
    double least = INFINITY;
    memset(score, 0, of->dim * sizeof *score);
    for (size_t i = 0; i < of->dim && gain; i++)
        for (size_t j = 0; j < of->dim; j++) score[i] += gain[i * of->dim + j];
    for (size_t i = 0; i < of->dim; i++) {
        size_t before = 0;
        for (size_t j = 0; j < of->dim && gain; j++) before += score[j] < score[i];
        if (before >= CANDIDATES) continue;
        double cost = governed_cost(of, i, n);
        if (cost < least) best = i;
        least = fmin(cost, least);
    }
    return best;
}

/* Fits with the coordinates that govern others last. governor: of every coordinate of x, itself where it has none;
 * place: dim numbers. */
static double arrange(whitened *of, const ais_bend_points *points, const size_t *governor, size_t kept, size_t *place) {
    size_t mapped = 0, last = of->dim - kept;
    for (size_t i = 0; i < of->dim; i++) {
        bool governs = false;
        for (size_t j = 0; j < of->dim; j++) governs = governs || (j != i && governor[j] == i);
        place[i] = governs ? last++ : mapped++;
    }
    of->kept = kept;
    for (size_t i = 0; i < of->dim; i++)
        if (place[i] < mapped) /* what nothing governs has a constant place and width, whosever curves they are */
            of->governor[place[i]] = governor[i] == i ? of->dim - 1 : place[governor[i]];
    measure(of, points, place);
    return whiten(of, points) ? fit_all(of, false) : INFINITY;
}

/* One coordinate that governs all others, or several, each with its own: what leaves less. */
static double find_bend(whitened *of, const ais_bend_points *points, ais_arena *arena) {
    size_t dim = of->dim, n = of->n < SOME ? of->n : SOME, many = 0;
    size_t *several = AIS_TAKE(arena, size_t, dim), *one = AIS_TAKE(arena, size_t, dim);
    size_t *place = AIS_TAKE(arena, size_t, dim);
    double *gain = AIS_TAKE(arena, double, dim *dim), with_many = INFINITY;
    measure(of, points, NULL);
    if (!several || !one || !place || !gain || !whiten(of, points)) return NAN;
    if (of->slope) {
        ais_governor_gains(dim, n, of->n, of->u, of->slope, of->weight, gain);
        many = ais_governor_pairs(dim, n, gain, several, place);
    }
    size_t best = find_governor(of, n, of->slope ? gain : NULL, of->used);
    for (size_t j = 0; j < dim; j++) one[j] = best;
    if (many > 1) with_many = arrange(of, points, several, many, place);
    double cost = arrange(of, points, one, 1, place);
    return with_many < cost ? arrange(of, points, several, many, place) : cost;
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
        int half = of->u[d * n + c] > of->centre[0];
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
    while (layer < flow->layer + flow->layers && (layer->marginal || layer->neck)) layer++;
    bool fits = flow->quadratic && layer < flow->layer + flow->layers && flow->pivot && layer->element->scales;
    return fits ? layer : NULL;
}

static void write(ais_learned *learned, const ais_flow_layer *layer, const whitened *of) {
    size_t inputs = (size_t)layer->net.inputs, kept = of->kept, mapped = of->dim - kept;
    ais_real *weights = learned->weights + layer->offset, *bias = weights + inputs * (size_t)layer->net.outputs;
    memset(weights, 0, inputs * (size_t)layer->net.outputs * sizeof *weights);
    for (size_t m = 0; m < mapped; m++) {
        size_t j = (size_t)layer->index[kept + m], k = of->governor[j] - mapped;
        size_t square = kept + k * kept - k * (k - 1) / 2; /* where c_k c_k stands among the features */
        for (size_t part = 0; part < 2; part++) {
            const double *w = part ? of->curves[j].b : of->curves[j].a;
            size_t output = 2 * m + part;
            bias[output] = (ais_real)w[0];
            weights[inputs * output + k] = (ais_real)w[1];
            weights[inputs * output + square] = (ais_real)w[2];
        }
    }
}

/* With axes, where they leave less by more than their number of parameters excuses. */
static ais_status try_axes(ais_context *context, whitened *of, const ais_bend_points *points, ais_arena *arena,
                           double *cost) {
    size_t dim = of->dim, n = of->n, d = dim - 1;
    double *room = AIS_TAKE(arena, double, 4 * n * d + 6 * d * d + 2 * d), *factor = AIS_TAKE(arena, double, dim *dim);
    ais_curve *curves = AIS_TAKE(arena, ais_curve, dim);
    double centre = of->centre[0], width = of->width[0];
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
    of->centre[0] = centre;
    of->width[0] = width;
    whiten(of, points); /* as it was */
    return AIS_OK;
}

static ais_status make(ais_context *context, const ais_shape *shape, const whitened *of, ais_kernel **kernel) {
    ais_shape bent = *shape;
    bent.pivot = (int)of->kept;
    ais_status status = ais_kernel_learned(context, &bent, shape->permutation, kernel);
    if (status != AIS_OK) return status;
    ais_learned *learned = (ais_learned *)*kernel;
    ais_flow_spread(*kernel, shape->permutation, 0);
    write(learned, pivot_of(learned), of);
    return ais_kernel_whiten(context, *kernel, of->mean, of->factor);
}

ais_status ais_bend_fit(ais_context *context, const ais_shape *shape, const ais_bend_points *points,
                        ais_kernel **kernel, double *misfit) {
    size_t dim = (size_t)shape->dim;
    ais_arena arena = {0};
    whitened of;
    *kernel = NULL;
    if (shape->map != AIS_REALNVP || shape->depth != -1 || shape->joint)
        return ais_fail(context, AIS_BAD_ARGUMENT, "bends are fitted to affine maps of x on quadratic features alone");
    ais_status status =
        take(&of, &arena, dim, points) ? AIS_OK : ais_fail_memory(context, "a bend", dim * points->n * sizeof(double));
    double cost = status == AIS_OK ? find_bend(&of, points, &arena) : NAN;
    bool whole = cost < INFINITY;
    if (whole && points->gradient && dim > 2 && of.kept == 1) status = try_axes(context, &of, points, &arena, &cost);
    whole = whole && status == AIS_OK;
    if (whole) {
        fit_all(&of, true);
        settle(&of);
        status = make(context, shape, &of, kernel);
    }
    *misfit = whole && points->gradient ? misfit_of(&of) : NAN;
    ais_arena_free(&arena);
    return status;
}

ais_status ais_bend_copy(ais_context *context, const ais_kernel *from, ais_kernel *to) {
    const ais_learned *source = ais_as_learned(from);
    ais_learned *copy = (ais_learned *)to;
    if (source->shape.neck && source->shape.neck == copy->shape.neck && source->shape.dim == copy->shape.dim) {
        memcpy(copy->weights, source->weights,
               ais_neck_weights(source->shape.dim, source->shape.neck) * sizeof *copy->weights);
        return ais_kernel_whiten(context, to, source->whitening.mean, source->whitening.factor);
    }
    const ais_flow_layer *layer = pivot_of(source), *same = pivot_of(copy);
    if (!layer || !same || layer->mapped != same->mapped)
        return ais_fail(context, AIS_BAD_ARGUMENT, "the flows have no affine pivot layer in common");
    memcpy(copy->weights + same->offset, source->weights + layer->offset,
           ais_perceptron_weights(&layer->net) * sizeof *copy->weights);
    return ais_kernel_whiten(context, to, source->whitening.mean, source->whitening.factor);
}
