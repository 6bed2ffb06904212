#include "look/flat.h"

#include <math.h>
#include <string.h>

#include "base/streams.h"
#include "simd/normal.h"

enum { DIRECTIONS = 32 };

/* Calls for the density at ten times the distance until `far_enough` says so. Where it is not a number any more nothing
 * is known, which counts as never. */
typedef struct walk {
    ais_search *search;
    size_t count;            /* points per distance */
    const double *origin;    /* dim */
    const double *direction; /* count x dim */
    bool (*far_enough)(size_t count, const double *logp, double top);
    double top;
} walk;

static ais_status go(const walk *w, double distance, double *reach) {
    ais_evaluator *evaluator = w->search->evaluator;
    size_t dim = (size_t)evaluator->target->dim;
    ais_arena arena = {0};
    double *point = AIS_TAKE(&arena, double, w->count *dim), *logp = AIS_TAKE(&arena, double, w->count);
    ais_status status = point && logp ? AIS_OK : ais_fail_memory(evaluator->context, "directions", w->count * dim);
    double farthest = AIS_FLAT_FARTHEST * w->search->scale;
    *reach = INFINITY;
    for (; distance <= farthest && *reach == INFINITY && status == AIS_OK; distance *= 10) {
        for (size_t k = 0; k < w->count * dim; k++) point[k] = w->origin[k % dim] + distance * w->direction[k];
        status = ais_evaluate(evaluator, w->count, point, logp);
        if (status == AIS_OK && w->far_enough(w->count, logp, w->top)) *reach = distance;
    }
    ais_arena_free(&arena);
    return status == AIS_BAD_DENSITY ? AIS_OK : status;
}

static bool any_differs(size_t count, const double *logp, double top) {
    bool differs = false;
    for (size_t c = 0; c < count; c++) differs |= !(fabs(logp[c] - top) <= AIS_FLAT_RANGE * (fabs(top) + 1));
    return differs;
}

static bool any_far_off(size_t count, const double *logp, double top) {
    bool off = false;
    for (size_t c = 0; c < count; c++) off |= !(fabs(logp[c] - top) < 0.5);
    return off;
}

ais_status ais_flat_region(ais_search *search, double *reach) {
    size_t dim = (size_t)search->modes->mixture.dim;
    ais_arena arena = {0};
    double *direction = AIS_TAKE(&arena, double, DIRECTIONS *dim), *origin = AIS_TAKE(&arena, double, dim);
    ais_status status = AIS_OK;
    if (!direction || !origin) status = ais_fail_memory(search->evaluator->context, "directions", DIRECTIONS * dim);
    uint64_t step = search->step++;
    for (uint32_t c = 0; c < DIRECTIONS && status == AIS_OK; c++) {
        ais_stream stream = ais_stream_for(AIS_USE_SEARCH, search->seed, step, c);
        ais_normals(&stream, dim, direction + c * dim);
    }
    walk w = {search, DIRECTIONS, origin, direction, any_differs, search->highest};
    if (status == AIS_OK) status = go(&w, search->scale, reach);
    w.far_enough = any_far_off;
    if (status == AIS_OK && *reach > search->scale) status = go(&w, 10 * search->scale, reach);
    ais_arena_free(&arena);
    return status;
}

static bool both_fell(size_t count, const double *logp, double top) {
    bool fell = true;
    for (size_t c = 0; c < count; c++) fell &= logp[c] < top - 0.5;
    return fell;
}

/* The mode's widest axis and its opposite, of length 1. */
static void widest_axis(const ais_components *modes, int mode, double *axis) {
    size_t dim = (size_t)modes->dim;
    const double *factor = modes->factor + (size_t)mode * dim * dim;
    double widest = 0;
    for (size_t j = 0; j < dim; j++) {
        double square = 0;
        for (size_t i = 0; i < dim; i++) square += factor[i * dim + j] * factor[i * dim + j];
        if (!(square > widest)) continue;
        widest = square;
        for (size_t i = 0; i < dim; i++) axis[i] = factor[i * dim + j] / sqrt(square);
    }
    for (size_t i = 0; i < dim; i++) axis[dim + i] = -axis[i];
}

ais_status ais_flat_axis(ais_search *search, int mode, double *reach) {
    size_t dim = (size_t)search->modes->mixture.dim;
    ais_arena arena = {0};
    double *axis = AIS_TAKE(&arena, double, 2 * dim);
    ais_status status = axis ? AIS_OK : ais_fail_memory(search->evaluator->context, "directions", 2 * dim);
    if (status == AIS_OK) {
        widest_axis(&search->modes->mixture, mode, axis);
        walk w = {search, 2,         search->modes->mixture.mean + (size_t)mode * dim,
                  axis,   both_fell, search->modes->height[mode]};
        status = go(&w, search->scale, reach);
    }
    ais_arena_free(&arena);
    return status;
}
