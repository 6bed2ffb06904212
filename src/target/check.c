/* ais_target_check: is logp a number, do grad and batch agree with it.
 *
 * Gradients are compared with differences (gradient_check.c) at some points of the start distribution and at one uphill
 * from there: far out a forgotten term may be a thousandth of the gradient, near a mode it is not. A gradient found
 * wrong at one point is tested again at points close by, where a kink would have gone but a mistake would not. Where no
 * chain will ever be, far below the point uphill, a wrong one is imprecise: solvers of differential equations fail
 * there. */
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/block.h"
#include "base/streams.h"
#include "simd/normal.h"
#include "target/builtin.h"
#include "target/counted.h"
#include "target/gradient_check.h"
#include "target/together.h"

enum {
    TRIES = 100,  /* points that may be tried, as many as the sampler tries to start */
    POINTS = 24,  /* of them inside the support are enough */
    TWICE = 4,    /* of them are evaluated a second time */
    CLOSE_BY = 3, /* points that must confirm a wrong derivative */
    CLIMB = 40,   /* gradients spent on the way uphill */
};

typedef struct check {
    ais_context *context;
    const ais_target *target, *asked; /* counted, and as given */
    uint64_t seed;
    double scale;                              /* of the start distribution */
    int count;                                 /* points at which logp is finite */
    double *point;                             /* (POINTS + 1) x dim, row-major; the first count ones are those */
    double *value;                             /* POINTS + 1: logp there */
    double *gradient;                          /* dim */
    double *typical;                           /* dim: mean absolute derivative over the points looked at */
    double *moved, *close, *other, *direction; /* dim each */
    double *across;                            /* dim x AIS_BLOCK, coordinate-major */
    bool remote;                               /* the point in question has e^-1000 of the density uphill */
    double noise;                              /* of logp at the point in question; negative before it is measured */
    char *note;                                /* of the first derivative that is imprecise */
    size_t note_size;
    double worst; /* its miss, as a share of the scale */
} check;

/* "x = (1.25, -3, ...)", or the point in the user's terms, as much of it as fits. */
static const char *describe(const check *at, const double *x, char *text, size_t size) {
    ais_target_point(at->asked, x, text, size);
    return text;
}

static ais_status refuse_value(const check *at, const char *what, double value, const double *x) {
    char text[600];
    return ais_fail(at->context, AIS_BAD_DENSITY,
                    "%s: %s is %g at %s; it must be a number, or -inf outside the support", at->target->name, what,
                    isnan(value) ? NAN : value /* never "-nan" */, describe(at, x, text, sizeof text));
}

static ais_status refuse_change(const check *at, double value, double again, const double *x) {
    char text[400];
    return ais_fail(at->context, AIS_BAD_DENSITY,
                    "%s: logp is %.17g and then %.17g at the same %s; it must depend on the point alone",
                    at->target->name, value, again, describe(at, x, text, sizeof text));
}

static bool is_density(double value) { return value < INFINITY; } /* false for NaN as well */

/* ---- where the support may be ------------------------------------------------------------------------ */

/* A point of the support, looked for at other scales and on either side of 0, into at->point. */
static bool find_inside(check *at) {
    enum { SCALES = 9, EACH = 64 };
    size_t dim = (size_t)at->target->dim;
    double *x = at->point;
    for (uint64_t k = 0; k < SCALES * EACH; k++) {
        ais_stream stream = ais_stream_for(AIS_USE_CHECK_SCALES, at->seed, k, 0);
        double scale = at->scale * pow(10, (double)(k % SCALES) / 2 - 2);
        ais_normals(&stream, dim, x);
        for (size_t i = 0; i < dim; i++) x[i] = scale * (k / SCALES % 2 ? fabs(x[i]) : x[i]);
        double value = at->target->logp(x, at->target->data);
        if (isnan(value)) return false;
        if (value > -INFINITY) return true;
    }
    return false;
}

/* How far coordinate i can go from at->point to one side before logp is -inf; INFINITY: no end was found. */
static double reach(check *at, int i, double side) {
    enum { DOUBLINGS = 24, HALVINGS = 12 };
    double *x = at->point, from = x[i], good = 0, bad = INFINITY;
    for (int k = 0; k < DOUBLINGS + HALVINGS; k++) {
        double try = isinf(bad) ? at->scale * ldexp(1, k - 6) : 0.5 * (good + bad);
        if (isinf(bad) && k >= DOUBLINGS) break;
        x[i] = from + side * try;
        bool inside = at->target->logp(x, at->target->data) > -INFINITY;
        *(inside ? &good : &bad) = try;
    }
    x[i] = from;
    return isinf(bad) ? INFINITY : good;
}

/* An end that bisection from x left next to 0 is 0. */
static double near_zero(double end, double x) { return fabs(end) < 1e-3 * fabs(x) ? 0 : end; }

/* "; where the density is positive, mass lies between about 2 and 7: ...", for some coordinates that have ends; or "".
 */
static void tell_support(check *at, char *text, size_t size) {
    enum { MOST = 4 };
    char name[32];
    size_t used = 0;
    int listed = 0;
    text[0] = '\0';
    if (!find_inside(at)) return;
    for (int i = 0; i < at->target->dim && listed < MOST && used + 160 < size; i++) {
        double x = at->point[i], below = reach(at, i, -1), above = reach(at, i, 1);
        double low = near_zero(x - below, x), high = near_zero(x + above, x);
        if (isinf(below) && isinf(above)) continue;
        used += (size_t)snprintf(text + used, size - used, "%s%.60s ",
                                 listed++ ? ", " : "; where the density is positive, ",
                                 ais_target_parameter(at->target, i, name));
        if (!isinf(below) && !isinf(above))
            used += (size_t)snprintf(text + used, size - used, "lies between about %.3g and %.3g", low, high);
        else
            used += (size_t)snprintf(text + used, size - used, "is %s about %.3g", isinf(above) ? "above" : "below",
                                     isinf(above) ? low : high);
    }
    if (listed) snprintf(text + used, size - used, ": give these bounds");
}

static ais_status check_logp(check *at) {
    size_t dim = (size_t)at->target->dim;
    for (uint64_t k = 0; k < TRIES && at->count < POINTS; k++) {
        double *x = at->point + (size_t)at->count * dim;
        ais_stream stream = ais_stream_for(AIS_USE_CHECK_POINTS, at->seed, k, 0);
        ais_normals(&stream, dim, x);
        for (size_t i = 0; i < dim; i++) x[i] *= at->scale;
        double value = at->target->logp(x, at->target->data);
        if (!is_density(value)) return refuse_value(at, "logp", value, x);
        double again = k < TWICE ? at->target->logp(x, at->target->data) : value;
        if (value != again) return refuse_change(at, value, again, x);
        if (value > -INFINITY) at->value[at->count++] = value;
    }
    if (at->count > 0) return AIS_OK;
    char errors[400], support[600];
    ais_target_tell(at->asked, errors, sizeof errors);
    tell_support(at, support, sizeof support);
    return ais_fail(at->context, AIS_BAD_DENSITY,
                    "%s: logp is -inf at all of %d points from N(0, %g^2), where chains start%s; %s%s%s",
                    at->target->name, TRIES, at->scale, support,
                    support[0] ? "see parameters.h"
                               : "give priors or bounds (parameters.h), or a start_scale that "
                                 "reaches the support",
                    errors[0] ? "; " : "", errors);
}

/* ---- the gradient -------------------------------------------------------------------------------- */

/* Measured when it is first needed: most densities have no noise that matters. */
static double noise_at(check *at, const double *x) {
    if (at->noise < 0) {
        ais_stream stream = ais_stream_for(AIS_USE_CHECK, at->seed, 0, 1);
        ais_normals(&stream, (size_t)at->target->dim, at->direction);
        for (int i = 0; i < at->target->dim; i++) at->direction[i] *= at->scale;
        at->noise = ais_noise(at->target, x, at->direction, at->moved);
    }
    return at->noise;
}

/* At first as if logp were smooth, and then with its noise if the gradient still looks wrong. */
static ais_gradient_verdict judge(check *at, ais_gradient_check *slope) {
    slope->noise = 0;
    ais_gradient_verdict verdict = ais_gradient_judge(slope);
    if (verdict == AIS_GRADIENT_AGREES) return verdict;
    slope->noise = noise_at(at, slope->x);
    return slope->noise > 0 ? ais_gradient_judge(slope) : verdict;
}

/* The verdict at points at most about 1e-3 of the start scale away, the mildest of them; points outside the support do
 * not count. */
static ais_gradient_verdict confirm(check *at, const ais_gradient_check *slope) {
    ais_gradient_verdict mildest = AIS_GRADIENT_WRONG;
    for (uint64_t k = 0; k < CLOSE_BY && mildest != AIS_GRADIENT_AGREES; k++) {
        ais_stream stream = ais_stream_for(AIS_USE_CHECK, at->seed, k, 0);
        ais_normals(&stream, (size_t)at->target->dim, at->close);
        for (int j = 0; j < at->target->dim; j++) at->close[j] = slope->x[j] + 1e-3 * at->scale * at->close[j];
        if (!isfinite(at->target->grad(at->close, at->other, at->target->data))) continue;
        ais_gradient_check there = *slope;
        there.x = at->close;
        there.claimed = at->other[slope->coordinate];
        ais_gradient_verdict verdict = judge(at, &there);
        if (verdict != AIS_GRADIENT_UNKNOWN && verdict < mildest) mildest = verdict;
    }
    return mildest;
}

static void note_imprecision(check *at, const ais_gradient_check *slope) {
    double size = fmax(fmax(fabs(slope->claimed), fabs(slope->nearest)), slope->scale);
    double share = fabs(slope->claimed - slope->nearest) / size;
    char buffer[32];
    if (!(share > at->worst)) return;
    at->worst = share;
    snprintf(at->note, at->note_size,
             "%s: the gradient is imprecise and is used as it is: by %.60s (coordinate %d) it is %.6g where finite "
             "differences of logp give %.6g, off by %.2g%% of its scale",
             at->target->name, ais_target_parameter(at->target, slope->coordinate, buffer), slope->coordinate + 1,
             slope->claimed, slope->nearest, 100 * share);
}

static ais_status refuse_gradient(const check *at, const ais_gradient_check *slope) {
    char text[400], buffer[32];
    return ais_fail(
        at->context, AIS_BAD_DENSITY,
        "%s: the gradient by %.60s (coordinate %d) is %.10g, but finite differences of logp give %.10g at %s",
        at->target->name, ais_target_parameter(at->target, slope->coordinate, buffer), slope->coordinate + 1,
        slope->claimed, slope->nearest, describe(at, slope->x, text, sizeof text));
}

static double unit_of(const check *at, const double *x, int i) { return fmax(fabs(x[i]), at->scale); }

static ais_status check_coordinate(check *at, const double *x, int i, bool uphill) {
    ais_gradient_check slope = {.target = at->target,
                                .x = x,
                                .coordinate = i,
                                .claimed = at->gradient[i],
                                .unit = unit_of(at, x, i),
                                .floor = uphill ? at->typical[i] : 0,
                                .scale = at->typical[i],
                                .moved = at->moved,
                                .nearest = NAN};
    ais_gradient_verdict verdict = judge(at, &slope);
    if (verdict == AIS_GRADIENT_WRONG) verdict = confirm(at, &slope);
    if (verdict == AIS_GRADIENT_WRONG && at->remote) verdict = AIS_GRADIENT_IMPRECISE;
    if (verdict == AIS_GRADIENT_WRONG) return refuse_gradient(at, &slope);
    if (verdict == AIS_GRADIENT_IMPRECISE) note_imprecision(at, &slope);
    return AIS_OK;
}

/* The logp that grad returns must be the same, up to noise and to the error of another path through a solver. */
static ais_status check_value(check *at, const double *x, double value, double logp) {
    double miss = fabs(value - logp), size = fmax(1, fabs(logp));
    char text[400];
    if (miss <= 1e-9 * size || miss <= fmax(1e-5 * size, 10 * noise_at(at, x))) return AIS_OK;
    return ais_fail(at->context, AIS_BAD_DENSITY, "%s: grad returns %.17g, but logp %.17g at %s", at->target->name,
                    value, logp, describe(at, x, text, sizeof text));
}

static ais_status check_gradient_at(check *at, const double *x, double logp, bool uphill) {
    char text[400], buffer[32];
    int dim = at->target->dim;
    at->noise = -1;
    ais_status status = check_value(at, x, at->target->grad(x, at->gradient, at->target->data), logp);
    for (int i = 0; i < dim && status == AIS_OK; i++) {
        if (!isfinite(at->gradient[i]))
            return ais_fail(at->context, AIS_BAD_DENSITY, "%s: the gradient by %.60s (coordinate %d) is %g at %s",
                            at->target->name, ais_target_parameter(at->target, i, buffer), i + 1, at->gradient[i],
                            describe(at, x, text, sizeof text));
        status = check_coordinate(at, x, i, uphill);
    }
    return status;
}

/* Barzilai and Borwein's steps along the gradient from x, in place, as long as logp rises. Returns it. */
static double climb(check *at, double *x, double logp) {
    const ais_target *target = at->target;
    size_t dim = (size_t)target->dim;
    double *gradient = at->gradient, *next = at->close, *next_gradient = at->other, norm = 0;
    if (!isfinite(target->grad(x, gradient, target->data))) return logp;
    for (size_t i = 0; i < dim; i++) norm += gradient[i] * gradient[i];
    double size = 0.1 * at->scale / sqrt(norm);
    for (int k = 0; k < CLIMB && norm > 0 && isfinite(size); k++) {
        double most = at->scale * sqrt((double)dim) / sqrt(norm), turn = 0, length = 0, next_norm = 0;
        size = fmin(size, most);
        for (size_t i = 0; i < dim; i++) next[i] = x[i] + size * gradient[i];
        double value = target->grad(next, next_gradient, target->data);
        if (!(value > logp && isfinite(value))) {
            size *= 0.2;
            continue;
        }
        for (size_t i = 0; i < dim; i++) {
            double step = next[i] - x[i];
            length += step * step;
            turn += step * (gradient[i] - next_gradient[i]);
            next_norm += next_gradient[i] * next_gradient[i];
        }
        memcpy(x, next, dim * sizeof *x);
        memcpy(gradient, next_gradient, dim * sizeof *gradient);
        logp = value;
        norm = next_norm;
        size = turn > 0 ? length / turn : 4 * size;
    }
    return logp;
}

/* From a top, where derivatives vanish and all are right, one standard deviation along every coordinate, to whichever
 * side is inside the support, where it stays; `typical` becomes what the derivatives are there. Returns logp. */
static double step_aside(check *at, double *x) {
    int dim = at->target->dim;
    ais_stream stream = ais_stream_for(AIS_USE_CHECK, at->seed, 0, 2);
    ais_normals(&stream, (size_t)dim, at->direction);
    for (int i = 0; i < dim; i++) at->typical[i] = ais_curvature_root(at->target, x, i, unit_of(at, x, i), at->moved);
    for (int i = 0; i < dim; i++) {
        if (!(at->typical[i] * at->scale > 1)) continue;
        double here = x[i], step = copysign(1 / at->typical[i], at->direction[i]);
        for (int side = 0; side < 2; side++, step = -step) {
            x[i] = here + step;
            if (isfinite(at->target->logp(x, at->target->data))) break;
            x[i] = here;
        }
    }
    return at->target->logp(x, at->target->data);
}

static ais_status check_gradient(check *at) {
    static const double nowhere = 1000;
    size_t dim = (size_t)at->target->dim;
    int most = dim <= 32 ? 6 : dim <= 128 ? 4 : 2, points = at->count < most ? at->count : most, best = 0;
    for (int k = 0; k < points; k++) {
        at->target->grad(at->point + (size_t)k * dim, at->gradient, at->target->data);
        for (size_t i = 0; i < dim; i++)
            if (isfinite(at->gradient[i])) at->typical[i] += fabs(at->gradient[i]) / points;
        if (at->value[k] > at->value[best]) best = k;
    }
    double *top = at->point + POINTS * dim;
    memcpy(top, at->point + (size_t)best * dim, dim * sizeof *top);
    double highest = climb(at, top, at->value[best]);
    ais_status status = AIS_OK;
    for (int k = 0; k < points && status == AIS_OK; k++) {
        at->remote = at->value[k] < highest - nowhere;
        status = check_gradient_at(at, at->point + (size_t)k * dim, at->value[k], false);
    }
    at->remote = false;
    if (status != AIS_OK) return status;
    return check_gradient_at(at, top, step_aside(at, top), true);
}

/* ---- the batch form ------------------------------------------------------------------------------ */

static ais_status check_batch_of(check *at, size_t n) {
    const double canary = 1.2345e200;
    double logp[AIS_BLOCK + 1];
    char text[400];
    size_t dim = (size_t)at->target->dim;
    for (size_t c = 0; c < n; c++)
        for (size_t i = 0; i < dim; i++) at->across[i * n + c] = at->point[c % (size_t)at->count * dim + i];
    for (size_t c = 0; c <= n; c++) logp[c] = canary;
    at->target->batch(n, at->across, logp, at->target->data);
    if (logp[n] != canary)
        return ais_fail(at->context, AIS_BAD_DENSITY, "%s: batch writes more than n results (n = %zu)",
                        at->target->name, n);
    for (size_t c = 0; c < n; c++) {
        size_t k = c % (size_t)at->count;
        if (fabs(logp[c] - at->value[k]) <= 1e-9 * fmax(1, fabs(at->value[k]))) continue;
        return ais_fail(at->context, AIS_BAD_DENSITY,
                        "%s: batch gives %.17g, but logp %.17g for point %zu of %zu, %s; coordinate i of point c "
                        "is x[i * n + c]",
                        at->target->name, logp[c], at->value[k], c + 1, n,
                        describe(at, at->point + k * dim, text, sizeof text));
    }
    return AIS_OK;
}

static ais_status check_batch(check *at) {
    const size_t size[] = {1, 7, 33, AIS_BLOCK};
    for (size_t k = 0; k < sizeof size / sizeof *size; k++) {
        ais_status status = check_batch_of(at, size[k]);
        if (status != AIS_OK) return status;
    }
    return AIS_OK;
}

/* ---- two threads ------------------------------------------------------------------------------------ */

static ais_status check_together(check *at, ais_counted *counted, const ais_check *how) {
    long densities, gradients;
    int found;
    double answer;
    char text[400];
    ais_together_cost(at->asked, at->count, &densities, &gradients);
    if (!ais_counted_add(counted, densities, gradients))
        return AIS_OK; /* the caller that checks the budget reports it */
    if (!ais_ask_together(at->asked, at->count, at->point, at->value, how, &found, &answer))
        return ais_fail_memory(at->context, "the check of a target", sizeof text);
    if (found < 0) return AIS_OK;
    const double *x = at->point + (size_t)found * (size_t)at->target->dim;
    double again = at->asked->logp(x, at->asked->data); /* by one thread */
    if (how->threads == 1 || again != at->value[found])
        return refuse_change(at, at->value[found], how->threads == 1 ? answer : again, x);
    return ais_fail(
        at->context, AIS_BAD_DENSITY,
        "%s: logp is %.9g, but %.9g when two threads evaluate it at once, at %s; it is not safe to call from several "
        "threads (does it write to a static variable?): use one thread (--threads 1) or processes (--isolate)",
        at->target->name, at->value[found], answer, describe(at, x, text, sizeof text));
}

static ais_status check_fields(ais_context *context, const ais_target *target) {
    if (!target->name) return ais_fail(context, AIS_BAD_ARGUMENT, "the target has no name");
    if (target->dim < 1)
        return ais_fail(context, AIS_BAD_ARGUMENT, "%s: dim is %d, but must be 1 or more", target->name, target->dim);
    if (!target->logp) return ais_fail(context, AIS_BAD_ARGUMENT, "%s: logp is missing", target->name);
    if (!(target->start_scale >= 0) || isinf(target->start_scale))
        return ais_fail(context, AIS_BAD_ARGUMENT, "%s: start_scale is %g, but must be a number, 0 or more",
                        target->name, target->start_scale);
    return AIS_OK;
}

/* All room in one piece; false when memory is out. */
static bool take(check *at, double **memory) {
    size_t dim = (size_t)at->target->dim, points = POINTS + 1;
    double *room = *memory = ais_allocate((points * (dim + 1) + (6 + AIS_BLOCK) * dim) * sizeof *room);
    if (!room) return false;
    double **slice[] = {&at->gradient, &at->typical, &at->moved, &at->close, &at->other, &at->direction};
    at->point = room;
    at->value = at->point + points * dim;
    room = at->value + points;
    for (size_t k = 0; k < sizeof slice / sizeof *slice; k++, room += dim) *slice[k] = room;
    at->across = room;
    memset(at->typical, 0, dim * sizeof *at->typical);
    return true;
}

ais_status ais_target_check(ais_context *context, const ais_target *target, uint64_t seed, ais_check *said) {
    ais_check unsaid = {.threads = 1}, *result = said ? said : &unsaid;
    result->densities = result->gradients = 0;
    result->note[0] = 0;
    ais_status status = check_fields(context, target);
    if (status != AIS_OK || target->draws) return status; /* draws were checked when they were read */
    ais_counted counted;
    double *memory;
    ais_counted_begin(&counted, target, 0, 0);
    if (result->evaluations > 0) counted.left = result->evaluations;
    check at = {.context = context,
                .target = &counted.target,
                .asked = target,
                .seed = seed,
                .scale = target->start_scale > 0 ? target->start_scale : 1,
                .note = result->note,
                .note_size = sizeof result->note};
    if (!take(&at, &memory))
        return ais_fail_memory(context, "the check of a target", (size_t)target->dim * 100 * sizeof *memory);
    status = check_logp(&at);
    if (status == AIS_OK && target->grad) status = check_gradient(&at);
    if (status == AIS_OK && target->batch) status = check_batch(&at);
    if (status == AIS_OK && !target->reference) status = check_together(&at, &counted, result);
    free(memory);
    ais_counted_end(&counted);
    result->densities = ais_counted_densities(&counted);
    result->gradients = ais_counted_gradients(&counted);
    if (!counted.refused) return status;
    return ais_fail(context, AIS_BAD_ARGUMENT,
                    "%ld evaluations are too few to start with: the check of %s alone takes more; allow more",
                    result->evaluations, target->name);
}
