#include "look/suspect.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/streams.h"
#include "look/flat.h"
#include "simd/normal.h"

static const char *name_of(const ais_search *search) {
    return search->evaluator->target->name ? search->evaluator->target->name : "(without a name)";
}

enum { TRIES = 16, MOST_DISTANCES = 4 };

/* Log densities at TRIES points about `radius` from centre, in the random directions that belong to `step`. */
static ais_status around(ais_search *search, uint64_t step, const double *centre, double radius, double *point,
                         double *value) {
    size_t dim = (size_t)search->modes->mixture.dim;
    for (uint32_t t = 0; t < TRIES; t++) {
        ais_stream stream = ais_stream_for(AIS_USE_SEARCH, search->seed, step, t);
        ais_normals(&stream, dim, point + t * dim);
        for (size_t i = 0; i < dim; i++) point[t * dim + i] = centre[i] + radius * point[t * dim + i];
    }
    return ais_evaluate(search->evaluator, TRIES, point, value);
}

/* Mean log densities about the peak at `count` distances, the first one and then `growth` times as far each, in the
 * same directions: a jump or a wall beside the peak then says the same at every distance. Directions that leave the
 * support are left out; NAN when all do. */
static ais_status means_about_peak(ais_search *search, int count, double first, double growth, double *point,
                                   double *mean) {
    double value[MOST_DISTANCES][TRIES];
    uint64_t step = search->step++;
    for (int k = 0; k < count; k++, first *= growth) {
        ais_status status = around(search, step, search->peak, first, point, value[k]);
        if (status != AIS_OK) return status;
    }
    int inside = 0;
    for (int k = 0; k < count; k++) mean[k] = 0;
    for (int t = 0; t < TRIES; t++) {
        bool leaves = false;
        for (int k = 0; k < count; k++) leaves |= !(value[k][t] > -INFINITY);
        inside += !leaves;
        for (int k = 0; k < count && !leaves; k++) mean[k] += value[k][t];
    }
    for (int k = 0; k < count; k++) mean[k] /= inside; /* 0 / 0 is NAN */
    return AIS_OK;
}

/* Climbs from the highest point known, in steps that shrink slowly enough for the best of the tries to
 * keep up: to within rounding of a pole, if there is one. */
static ais_status climb(ais_search *search, double *point) {
    enum { ROUNDS = 64 };
    size_t dim = (size_t)search->modes->mixture.dim;
    double value[TRIES], radius = 0.01 * search->scale;
    ais_status status = AIS_OK;
    for (int k = 0; k < ROUNDS && status == AIS_OK; k++, radius *= 0.65) {
        status = around(search, search->step++, search->peak, radius, point, value);
        for (size_t t = 0; t < TRIES && status == AIS_OK; t++) {
            if (!(value[t] > search->peak_logp)) continue;
            search->peak_logp = value[t];
            memcpy(search->peak, point + t * dim, dim * sizeof *search->peak);
        }
    }
    return status;
}

/* The power a of a pole r^-a at the peak: how log p falls over two decades and the two after them, both
 * far below the scale of most modes. 0 at a smooth peak, however narrow: there the fall is not the same
 * over both. */
static ais_status pole_strength(ais_search *search, double *strength) {
    ais_arena arena = {0};
    double *point = AIS_TAKE(&arena, double, TRIES *(size_t)search->modes->mixture.dim), mean[3] = {0};
    ais_status status = point ? climb(search, point) : ais_fail_memory(search->evaluator->context, "a peak", TRIES);
    if (status == AIS_OK) status = means_about_peak(search, 3, 1e-10 * search->scale, 100, point, mean);
    double first = (mean[0] - mean[1]) / log(100), second = (mean[1] - mean[2]) / log(100);
    *strength = second < 2 * first ? first : 0;
    ais_arena_free(&arena);
    return status;
}

/* A look at little cost: towards a pole log p rises by as much in every decade; about a smooth peak, or a kink, it
 * falls ten times as much and more in one as in the decade before. */
static ais_status may_be_pole(ais_search *search, bool *may) {
    static const double least = 0.01, most_growth = 3;
    ais_arena arena = {0};
    double *point = AIS_TAKE(&arena, double, TRIES *(size_t)search->modes->mixture.dim), mean[4] = {0};
    ais_status status = point ? AIS_OK : ais_fail_memory(search->evaluator->context, "a peak", TRIES);
    if (status == AIS_OK) status = means_about_peak(search, 4, 1e-5 * search->scale, 10, point, mean);
    *may = false;
    for (int k = 0; k < 2; k++) {
        double fall = mean[k] - mean[k + 1], next = mean[k + 1] - mean[k + 2];
        *may |= fall > least && next < most_growth * fall;
    }
    ais_arena_free(&arena);
    return status;
}

static ais_status suspect_pole(ais_search *search, char *text, size_t size) {
    double strength;
    bool may;
    if (!(search->peak_logp > -INFINITY)) return AIS_OK;
    ais_status status = may_be_pole(search, &may);
    if (status == AIS_OK && !may && search->peak_converged) return AIS_OK;
    if (status == AIS_OK) status = pole_strength(search, &strength);
    if (status != AIS_OK || !(strength > 0.05 && strength < INFINITY)) return status;
    char first[64];
    snprintf(first, sizeof first, "x.1 = %.9g%s", search->peak[0], search->modes->mixture.dim > 1 ? ", ..." : "");
    if (strength > 0.9 * search->modes->mixture.dim)
        return ais_fail(
            search->evaluator->context, AIS_BAD_DENSITY,
            "the density of target %.100s has a pole at about (%s): it grows like r^-%.2g as the distance r "
            "falls, which has no finite integral in %d dimension%s; bound it or change the parameters",
            name_of(search), first, strength, search->modes->mixture.dim, search->modes->mixture.dim > 1 ? "s" : "");
    snprintf(text, size,
             "the density has a pole at about (%s), where it grows like r^-%.2g: do not trust draws near it; ", first,
             strength);
    return AIS_OK;
}

static ais_status refuse_constant(ais_search *search) {
    ais_context *context = search->evaluator->context;
    double reach, lost = fabs(search->highest) * DBL_EPSILON;
    if (lost > 1e-3)
        return ais_fail(context, AIS_BAD_DENSITY,
                        "the log density of target %.100s is about %g, where numbers are %.2g apart: differences are "
                        "lost; leave the constant out",
                        name_of(search), search->highest, lost);
    ais_status status = ais_flat_region(search, &reach);
    if (status != AIS_OK || reach <= search->scale) return status;
    if (reach < INFINITY)
        return ais_fail(
            context, AIS_BAD_DENSITY,
            "the log density of target %.100s is %g all over the search region N(0, %g^2), and changes at a "
            "distance of about %g: give a start scale like that (--start-scale %g)",
            name_of(search), search->highest, search->scale, reach, reach);
    return ais_fail(context, AIS_BAD_DENSITY,
                    "the log density of target %.100s is %g at all points tried, up to a distance of %g: a constant "
                    "cannot be normalised; check the density",
                    name_of(search), search->highest, AIS_FLAT_FARTHEST * search->scale);
}

static ais_status refuse_unbounded(ais_search *search, int mode) {
    ais_context *context = search->evaluator->context;
    double reach;
    ais_status status = ais_flat_axis(search, mode, &reach);
    if (status != AIS_OK) return status;
    if (reach < INFINITY)
        return ais_fail(
            context, AIS_BAD_DENSITY,
            "the log density of target %.100s falls along one direction only at a distance of about %g, "
            "far outside of the search region N(0, %g^2): give a start scale like that (--start-scale %g), or "
            "bring the parameters to a common scale",
            name_of(search), reach, search->scale, reach);
    return ais_fail(context, AIS_BAD_DENSITY,
                    "the log density of target %.100s does not fall along a direction, up to a distance of %g: it has "
                    "no finite integral there; give the parameters proper priors",
                    name_of(search), AIS_FLAT_FARTHEST * search->scale);
}

ais_status ais_suspect(ais_search *search, char *text, size_t size) {
    ais_context *context = search->evaluator->context;
    double range = search->highest - search->lowest, size_of = fabs(search->highest) + 1;
    ais_status status = AIS_OK;
    if (range <= AIS_FLAT_RANGE * size_of && !search->outside) status = refuse_constant(search);
    if (status != AIS_OK) return status;
    if (2 * search->fled > search->runs)
        return ais_fail(context, AIS_BAD_DENSITY,
                        "the log density of target %.100s keeps rising up to a distance of %g (%d of %d optimisations "
                        "ran away): it has no finite integral, or its sign is wrong",
                        name_of(search), 1e9 * search->scale, search->fled, search->runs);
    for (int k = 0; k < search->modes->mixture.count; k++)
        if (search->modes->unbounded[k] && ais_search_relevant(search, k)) return refuse_unbounded(search, k);
    return suspect_pole(search, text, size);
}
