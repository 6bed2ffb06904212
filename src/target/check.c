/* ais_target_check: is logp a number, do grad and batch agree with it.
 *
 * A derivative is compared with central differences over a ladder of steps, and any step whose
 * rounding error is small enough to tell may acquit: near a kink only the short steps are right, in
 * a noisy density only the long ones. A conviction at one point is tried again at points close by,
 * where a kink would have gone but a mistake would not. */
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "simd/normal.h"
#include "target/builtin.h"

enum {
    TRIES = 100,  /* points at which logp must be a number; the sampler tries as many to start */
    STEPS = 11,   /* of the ladder, each a quarter of the one before */
    CLOSE_BY = 3, /* points that must confirm a wrong derivative */
};

static const double tolerance = 3e-4; /* of a derivative, relative */

typedef struct check {
    ais_context *context;
    const ais_target *target;
    uint64_t seed;
    double scale;     /* of the start distribution */
    int count;        /* points at which logp is finite */
    double *point;    /* TRIES x dim, row-major; the first count ones are those */
    double *value;    /* TRIES: logp there */
    double *gradient; /* dim */
    double *moved;    /* dim */
    double *across;   /* dim x TRIES, coordinate-major */
} check;

/* "(1.25, -3, ...)", as much of it as fits. */
static const char *describe(const double *x, int dim, char *text, size_t size) {
    size_t used = 0;
    for (int i = 0; i < dim; i++) {
        if (used + 48 > size) {
            snprintf(text + used, size - used, ", ... (%d more)", dim - i);
            return text;
        }
        used += (size_t)snprintf(text + used, size - used, "%s%.17g", i ? ", " : "", x[i]);
    }
    return text;
}

static ais_status refuse_value(const check *at, const char *what, double value, const double *x) {
    char text[600];
    return ais_fail(at->context, AIS_BAD_DENSITY,
                    "%s: %s is %g at x = (%s); it must be a number, or -inf outside the support", at->target->name,
                    what, value, describe(x, at->target->dim, text, sizeof text));
}

static bool is_density(double value) { return value < INFINITY; } /* false for NaN as well */

static ais_status check_logp(check *at) {
    size_t dim = (size_t)at->target->dim;
    for (uint64_t k = 0; k < TRIES; k++) {
        double *x = at->point + (size_t)at->count * dim;
        ais_stream stream = {.seed = at->seed, .step = k, .purpose = AIS_FOR_CHECK};
        ais_normals(&stream, dim, x);
        for (size_t i = 0; i < dim; i++) x[i] *= at->scale;
        double value = at->target->logp(x, at->target->data), again = at->target->logp(x, at->target->data);
        if (!is_density(value)) return refuse_value(at, "logp", value, x);
        if (value != again) {
            char text[400];
            return ais_fail(at->context, AIS_BAD_DENSITY,
                            "%s: logp is %.17g and then %.17g at the same x = (%s); it must depend on x alone",
                            at->target->name, value, again, describe(x, at->target->dim, text, sizeof text));
        }
        if (value > -INFINITY) at->value[at->count++] = value;
    }
    if (at->count > 0) return AIS_OK;
    return ais_fail(at->context, AIS_BAD_DENSITY,
                    "%s: logp is -inf at all of %d points from N(0, %g^2), where chains start; set start_scale so that "
                    "they reach the support, or shift the parameters",
                    at->target->name, TRIES, at->scale);
}

typedef enum verdict { AGREES, DIFFERS, UNKNOWN } verdict;

/* The slope of logp along coordinate i over x +- h, and its rounding error; false outside the support. */
static bool difference(const check *at, const double *x, int i, double h, double *slope, double *noise) {
    size_t dim = (size_t)at->target->dim;
    memcpy(at->moved, x, dim * sizeof *x);
    at->moved[i] = x[i] + h;
    double up = at->target->logp(at->moved, at->target->data), right = at->moved[i];
    at->moved[i] = x[i] - h;
    double down = at->target->logp(at->moved, at->target->data);
    if (!isfinite(up) || !isfinite(down)) return false;
    double width = right - at->moved[i];
    *slope = (up - down) / width;
    bool single = up == (float)up && down == (float)down; /* computed in single precision: its noise is as large */
    *noise = (single ? FLT_EPSILON : 16 * DBL_EPSILON) * (fabs(up) + fabs(down) + 1) / width;
    return true;
}

static bool near(double slope, double claimed) {
    return fabs(slope - claimed) <= tolerance * fmax(fabs(slope), fabs(claimed));
}

/* Compares claimed with the ladder's slopes and with Richardson's extrapolation of neighbours; *best
 * gets the slope that came nearest. */
static verdict judge(const check *at, const double *x, int i, double claimed, double *best) {
    verdict found = UNKNOWN;
    double h = 0.25 * fmax(fabs(x[i]), at->scale), before = NAN, least = INFINITY;
    for (int step = 0; step < STEPS; step++, h *= 0.25) {
        double slope, noise;
        if (!difference(at, x, i, h, &slope, &noise)) {
            before = NAN;
            continue;
        }
        double candidate[2] = {slope, slope + (slope - before) / 15};
        before = slope;
        for (int k = 0; k < 2; k++) {
            if (isnan(candidate[k]) || !(noise <= 0.3 * tolerance * fmax(fabs(candidate[k]), fabs(claimed)))) continue;
            if (near(candidate[k], claimed)) return AGREES;
            found = DIFFERS;
            if (fabs(candidate[k] - claimed) < least) {
                least = fabs(candidate[k] - claimed);
                *best = candidate[k];
            }
        }
    }
    return found;
}

/* A point is at most 1e-3 of the start scale away; where there is no support nothing is said. */
static bool confirmed(const check *at, const double *x, int i, double *close, double *gradient) {
    for (uint64_t k = 0; k < CLOSE_BY; k++) {
        ais_stream stream = {.seed = at->seed, .step = k, .chain = 1, .purpose = AIS_FOR_CHECK};
        ais_normals(&stream, (size_t)at->target->dim, close);
        for (int j = 0; j < at->target->dim; j++) close[j] = x[j] + 1e-3 * at->scale * close[j];
        double ignored;
        if (!isfinite(at->target->grad(close, gradient, at->target->data))) continue;
        if (judge(at, close, i, gradient[i], &ignored) == AGREES) return false;
    }
    return true;
}

static ais_status check_gradient_at(const check *at, int k, double *close, double *other) {
    char text[400], buffer[32];
    int dim = at->target->dim;
    const double *x = at->point + (size_t)k * (size_t)dim;
    double value = at->target->grad(x, at->gradient, at->target->data);
    if (!(fabs(value - at->value[k]) <= 1e-9 * fmax(1, fabs(at->value[k]))))
        return ais_fail(at->context, AIS_BAD_DENSITY, "%s: grad returns %.17g, but logp %.17g at x = (%s)",
                        at->target->name, value, at->value[k], describe(x, dim, text, sizeof text));
    for (int i = 0; i < dim; i++) {
        double slope = NAN;
        if (!isfinite(at->gradient[i]))
            return ais_fail(at->context, AIS_BAD_DENSITY, "%s: the gradient by %.60s (coordinate %d) is %g at x = (%s)",
                            at->target->name, ais_target_parameter(at->target, i, buffer), i + 1, at->gradient[i],
                            describe(x, dim, text, sizeof text));
        if (judge(at, x, i, at->gradient[i], &slope) != DIFFERS || !confirmed(at, x, i, close, other)) continue;
        return ais_fail(at->context, AIS_BAD_DENSITY,
                        "%s: the gradient by %.60s (coordinate %d) is %.10g, but finite differences of logp give %.10g "
                        "at x = (%s)",
                        at->target->name, ais_target_parameter(at->target, i, buffer), i + 1, at->gradient[i], slope,
                        describe(x, dim, text, sizeof text));
    }
    return AIS_OK;
}

static ais_status check_gradient(check *at) {
    int dim = at->target->dim, points = dim <= 32 ? 8 : dim <= 128 ? 4 : 2;
    double *close = at->across, *other = at->across + dim;
    for (int k = 0; k < at->count && k < points; k++) {
        ais_status status = check_gradient_at(at, k, close, other);
        if (status != AIS_OK) return status;
    }
    return AIS_OK;
}

static ais_status check_batch_of(check *at, size_t n) {
    const double canary = 1.2345e200;
    double logp[TRIES + 1];
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
                        "%s: batch gives %.17g, but logp %.17g for point %zu of %zu, x = (%s); coordinate i of point c "
                        "is x[i * n + c]",
                        at->target->name, logp[c], at->value[k], c + 1, n,
                        describe(at->point + k * dim, at->target->dim, text, sizeof text));
    }
    return AIS_OK;
}

static ais_status check_batch(check *at) {
    const size_t size[] = {1, 7, 16, 33, 64};
    for (size_t k = 0; k < sizeof size / sizeof *size; k++) {
        ais_status status = check_batch_of(at, size[k]);
        if (status != AIS_OK) return status;
    }
    return AIS_OK;
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

ais_status ais_target_check(ais_context *context, const ais_target *target, uint64_t seed) {
    ais_status status = check_fields(context, target);
    if (status != AIS_OK || target->draws) return status; /* draws were checked when they were read */
    size_t dim = (size_t)target->dim, doubles = 2 * TRIES * dim + TRIES + 2 * dim;
    double *memory = ais_allocate(doubles * sizeof *memory);
    if (!memory) return ais_fail_memory(context, "the check of a target", doubles * sizeof *memory);
    check at = {.context = context,
                .target = target,
                .seed = seed,
                .scale = target->start_scale > 0 ? target->start_scale : 1,
                .point = memory,
                .across = memory + TRIES * dim,
                .value = memory + 2 * TRIES * dim};
    at.gradient = at.value + TRIES;
    at.moved = at.gradient + dim;
    status = check_logp(&at);
    if (status == AIS_OK && target->grad) status = check_gradient(&at);
    if (status == AIS_OK && target->batch) status = check_batch(&at);
    free(memory);
    return status;
}
