#include "target/gradient_check.h"

#include <float.h>
#include <math.h>
#include <stdbool.h>
#include <string.h>

enum { STEPS = 11 };                  /* of the ladder, each a quarter of the one before */
static const double tolerance = 3e-4; /* of a derivative, relative */
static const double imprecision = 0.02;
static const double loudest = 0.1; /* a step whose noise is more than this share of the scale says nothing */

/* ---- differences --------------------------------------------------------------------------------- */

typedef struct quotient {
    double value;    /* NAN outside the support */
    double rounding; /* its error by rounding, and by noise where that is more */
    bool noisy;      /* it is more */
} quotient;

/* The slope of logp over x +- h. */
static quotient difference(const ais_gradient_check *slope, double h) {
    const ais_target *target = slope->target;
    int i = slope->coordinate;
    memcpy(slope->moved, slope->x, (size_t)target->dim * sizeof *slope->x);
    slope->moved[i] = slope->x[i] + h;
    double up = target->logp(slope->moved, target->data), right = slope->moved[i];
    slope->moved[i] = slope->x[i] - h;
    double down = target->logp(slope->moved, target->data), width = right - slope->moved[i];
    if (!isfinite(up) || !isfinite(down)) return (quotient){.value = NAN};
    bool single = up == (float)up && down == (float)down; /* computed in single precision: its noise is as large */
    double rounding = (single ? FLT_EPSILON : 16 * DBL_EPSILON) * (fabs(up) + fabs(down) + 1) / width;
    double noise = sqrt(2) * slope->noise / width;
    return (quotient){(up - down) / width, fmax(rounding, noise), noise > rounding};
}

/* Size of the derivative, by its claimed and its measured value. */
static double size_of(const ais_gradient_check *slope, double value) {
    return fmax(fmax(fabs(value), fabs(slope->claimed)), slope->floor);
}

static bool agrees(const ais_gradient_check *slope, double value, double rounding) {
    double size = size_of(slope, value);
    return rounding <= 0.3 * tolerance * size && fabs(value - slope->claimed) <= tolerance * size;
}

/* By the best step: where rounding and what the next shorter step would change, beyond its own rounding, are
 * together the least. */
static ais_gradient_verdict judge_best(ais_gradient_check *slope, const quotient *ladder) {
    double least = INFINITY;
    bool noisy = false;
    for (int k = 0; k + 1 < STEPS; k++) {
        double change = fabs(ladder[k].value - ladder[k + 1].value) - 2 * ladder[k + 1].rounding;
        double error = 3 * ladder[k].rounding + (change < 0 ? 0 : change); /* NAN outside the support */
        if (!(error < least)) continue;
        least = error;
        slope->nearest = ladder[k].value;
        noisy = ladder[k].noisy;
    }
    double size = size_of(slope, slope->nearest), scale = fmax(size, slope->scale);
    double miss = fabs(slope->nearest - slope->claimed);
    if (!(least <= loudest * scale)) return AIS_GRADIENT_UNKNOWN;
    if (miss > imprecision * scale + least) return AIS_GRADIENT_WRONG;
    return miss > tolerance * size && (miss > least || noisy) ? AIS_GRADIENT_IMPRECISE : AIS_GRADIENT_UNKNOWN;
}

ais_gradient_verdict ais_gradient_judge(ais_gradient_check *slope) {
    quotient ladder[STEPS];
    double h = 0.25 * slope->unit, before = NAN;
    for (int step = 0; step < STEPS; step++, h *= 0.25) {
        ladder[step] = difference(slope, h);
        double value = ladder[step].value, extrapolated = value + (value - before) / 15; /* Richardson */
        if (agrees(slope, value, ladder[step].rounding) || agrees(slope, extrapolated, ladder[step].rounding))
            return AIS_GRADIENT_AGREES;
        before = value;
    }
    return judge_best(slope, ladder);
}

/* By the longest step over which logp falls by no more than 2 on either side in the mean. */
double ais_curvature_root(const ais_target *target, const double *x, int coordinate, double unit, double *moved) {
    double here = target->logp(x, target->data), h = 0.25 * unit;
    memcpy(moved, x, (size_t)target->dim * sizeof *x);
    for (int step = 0; step < STEPS; step++, h *= 0.25) {
        moved[coordinate] = x[coordinate] + h;
        double up = target->logp(moved, target->data);
        moved[coordinate] = x[coordinate] - h;
        double fall = 2 * here - up - target->logp(moved, target->data);
        if (isfinite(fall) && fabs(fall) <= 4) return fall > 0 ? sqrt(fall) / h : 0;
    }
    return 0;
}

/* ---- noise --------------------------------------------------------------------------------------- */

/* Hamming's difference table: sixth differences have 12! / (6!)^2 times the variance of white noise, and next to
 * nothing of what is smooth. */
static double noise_of_row(const ais_target *target, const double *x, double spacing, const double *direction,
                           double *moved) {
    enum { ROW = 12, MIDDLE = ROW / 2, ORDER = 6 };
    const double gain = 924;
    double value[ROW], squares = 0;
    for (int k = 0; k < ROW; k++) {
        for (int i = 0; i < target->dim; i++) moved[i] = x[i] + spacing * (k - MIDDLE) * direction[i];
        value[k] = target->logp(moved, target->data);
        if (!isfinite(value[k])) return 0;
    }
    for (int order = 0; order < ORDER; order++)
        for (int k = 0; k + 1 < ROW - order; k++) value[k] = value[k + 1] - value[k];
    for (int k = 0; k < ROW - ORDER; k++) squares += value[k] * value[k];
    return sqrt(squares / (ROW - ORDER) / gain);
}

double ais_noise(const ais_target *target, const double *x, const double *direction, double *moved) {
    /* Two spacings that have no common measure: waves that look slow on one row do not on the other. */
    return fmax(noise_of_row(target, x, 1e-3, direction, moved), noise_of_row(target, x, 0.618e-3, direction, moved));
}
