#include "look/lines.h"

#include <math.h>
#include <string.h>

enum { POINTS = 24, MOST_SUMMITS = 8, MOST_MODES = 4 };

/* The best summits so far, the highest first. */
typedef struct summits {
    int count;
    double *x;
    double logp[MOST_SUMMITS];
} summits;

static void keep(summits *to, size_t dim, const double *x, double logp) {
    int place = to->count < MOST_SUMMITS ? to->count++ : MOST_SUMMITS;
    for (; place > 0 && to->logp[place - 1] < logp; place--)
        if (place < MOST_SUMMITS) {
            to->logp[place] = to->logp[place - 1];
            memcpy(to->x + (size_t)place * dim, to->x + (size_t)(place - 1) * dim, dim * sizeof *x);
        }
    if (place == MOST_SUMMITS) return;
    to->logp[place] = logp;
    memcpy(to->x + (size_t)place * dim, x, dim * sizeof *x);
}

/* Whether point j of a line is higher than its neighbours, and than what lies between it and the mode, which is in
 * front of point `middle`. */
static bool divided(const double *value, int middle, int j) {
    static const double deep = 1;
    double lowest = INFINITY;
    if ((j > 0 && value[j - 1] > value[j]) || (j + 1 < POINTS && value[j + 1] > value[j])) return false;
    for (int i = j + 1; i < middle; i++) lowest = fmin(lowest, value[i]);
    for (int i = middle; i < j; i++) lowest = fmin(lowest, value[i]);
    return lowest < value[j] - deep;
}

/* The lines through mode k. */
static ais_status look_along(ais_search *search, size_t k, double *point, double *value, summits *found) {
    static const double reach = 2.5,
                        least = 12; /* lower than the mode: the mode behind it may be higher than the line */
    size_t dim = (size_t)search->modes->mixture.dim;
    const double *mean = search->modes->mixture.mean + k * dim;
    for (size_t i = 0; i < dim; i++)
        for (int j = 0; j < POINTS; j++) {
            double *x = point + (i * POINTS + (size_t)j) * dim;
            memcpy(x, mean, dim * sizeof *x);
            x[i] = reach * search->scale * search->unit[i] * ((2 * j + 1.0) / POINTS - 1);
        }
    ais_status status = ais_evaluate(search->evaluator, POINTS * dim, point, value);
    for (size_t i = 0; i < dim && status == AIS_OK; i++) {
        const double *x = point + i * POINTS * dim, *line = value + i * POINTS;
        int middle = 0;
        while (middle < POINTS && x[(size_t)middle * dim + i] < mean[i]) middle++;
        for (int j = 0; j < POINTS; j++)
            if (line[j] > search->modes->height[k] - least && divided(line, middle, j))
                keep(found, dim, x + (size_t)j * dim, line[j]);
    }
    return status;
}

ais_status ais_search_lines(ais_search *search) {
    size_t dim = (size_t)search->modes->mixture.dim;
    int known = search->modes->mixture.count, looked = 0, added;
    ais_arena arena = {0};
    double *point = AIS_TAKE(&arena, double, POINTS *dim *dim), *value = AIS_TAKE(&arena, double, POINTS *dim);
    summits found = {.x = AIS_TAKE(&arena, double, MOST_SUMMITS *dim)};
    ais_ending ending[MOST_SUMMITS];
    ais_status status = AIS_OK;
    if (!point || !value || !found.x)
        status = ais_fail_memory(search->evaluator->context, "lines", POINTS * dim * dim * sizeof *point);
    for (int k = 0; k < known && looked < MOST_MODES && status == AIS_OK; k++) {
        if (!ais_search_relevant(search, k)) continue;
        looked++;
        status = look_along(search, (size_t)k, point, value, &found);
    }
    if (status == AIS_OK && found.count)
        status = ais_search_optimise(search, found.count, found.x, found.logp, ending, &added);
    ais_arena_free(&arena);
    return status;
}
