#include "judge/henon_judge.h"

#include <math.h>
#include <stdlib.h>

#include "base/sort.h"

enum { SHELLS = 6, CELLS = 8 };

/* Parts of the space that the indicators distinguish. */
typedef struct division {
    size_t dim;
    double *mean, *sd;
    double edge[SHELLS - 1]; /* squared radii, in units of the sds */
    double *centre;          /* CELLS x dim, points of the population */
} division;

static double distance(const division *parts, const double *x, const double *y) {
    double sum = 0;
    for (size_t i = 0; i < parts->dim; i++) {
        double off = (x[i] - y[i]) / parts->sd[i];
        sum += off * off;
    }
    return sum;
}

static void cut_shells(division *parts, const ais_population *population, double *point, double *square) {
    for (int c = 0; c < population->chains; c++) {
        ais_population_point(population, c, point);
        square[c] = distance(parts, point, parts->mean);
    }
    qsort(square, (size_t)population->chains, sizeof *square, ais_rising);
    for (int k = 1; k < SHELLS; k++) parts->edge[k - 1] = square[k * population->chains / SHELLS];
}

/* Each centre is the point farthest from those before it: every mode that stands apart gets one. */
static void choose_centres(const division *parts, const ais_population *population, double *point, double *nearest) {
    for (int c = 0; c < population->chains; c++) nearest[c] = INFINITY;
    ais_population_point(population, 0, parts->centre);
    for (size_t k = 0; k + 1 < CELLS; k++) {
        int farthest = 0;
        for (int c = 0; c < population->chains; c++) {
            ais_population_point(population, c, point);
            nearest[c] = fmin(nearest[c], distance(parts, point, parts->centre + k * parts->dim));
            if (nearest[c] > nearest[farthest]) farthest = c;
        }
        ais_population_point(population, farthest, parts->centre + (k + 1) * parts->dim);
    }
}

static bool divide(division *parts, const ais_population *population, ais_arena *arena) {
    size_t dim = parts->dim = (size_t)population->target->dim;
    double *point = AIS_TAKE(arena, double, dim), *work = AIS_TAKE(arena, double, population->chains);
    parts->mean = AIS_TAKE(arena, double, dim);
    parts->sd = AIS_TAKE(arena, double, dim);
    parts->centre = AIS_TAKE(arena, double, CELLS *dim);
    if (!point || !work || !parts->mean || !parts->sd || !parts->centre) return false;
    ais_population_moments(population, parts->mean, parts->sd);
    cut_shells(parts, population, point, work);
    choose_centres(parts, population, point, work);
    return true;
}

static int shell_of(const division *parts, const double *x) {
    double square = distance(parts, x, parts->mean);
    int k = 0;
    while (k < SHELLS - 1 && square > parts->edge[k]) k++;
    return k;
}

static int cell_of(const division *parts, const double *x) {
    double least = INFINITY;
    int cell = 0;
    for (int k = 0; k < CELLS; k++) {
        double square = distance(parts, x, parts->centre + (size_t)k * parts->dim);
        if (square >= least) continue;
        least = square;
        cell = k;
    }
    return cell;
}

/* Sums over all draws, and over chains of the squared sum of each. */
typedef struct sums {
    double sum, square, chain, chain_square;
} sums;

static void add(sums *tally, double f) {
    tally->sum += f;
    tally->square += f * f;
    tally->chain += f;
}

static void end_chain(sums *tally) {
    tally->chain_square += tally->chain * tally->chain;
    tally->chain = 0;
}

static double share(const sums *tally, double chains, double draws) {
    double n = chains * draws, mean = tally->sum / n, variance = tally->square / n - mean * mean;
    double apart = (tally->chain_square / chains - draws * draws * mean * mean) * chains / (chains - 1);
    if (!(variance > 0)) return 0;
    return apart > variance ? draws * variance / apart : draws; /* antithetic chains can agree to the last bit */
}

static void count(const division *parts, size_t chains, size_t draws, const double *x, double *point, sums *tallies) {
    size_t dim = parts->dim, all = 2 * dim + SHELLS + CELLS;
    for (size_t c = 0; c < chains; c++) {
        for (size_t t = 0; t < draws; t++) {
            for (size_t i = 0; i < dim; i++) {
                point[i] = x[(i * chains + c) * draws + t];
                double off = (point[i] - parts->mean[i]) / parts->sd[i], raw = point[i] / parts->sd[i];
                add(&tallies[2 * i], off);
                add(&tallies[2 * i + 1], raw * raw);
            }
            add(&tallies[2 * dim + (size_t)shell_of(parts, point)], 1);
            add(&tallies[2 * dim + SHELLS + (size_t)cell_of(parts, point)], 1);
        }
        for (size_t k = 0; k < all; k++) end_chain(&tallies[k]);
    }
}

/* Parts with less of the mass are not judged: too few chains enter them. */
static const double least_mass = 0.02;

ais_status ais_henon_judge(ais_context *context, const ais_population *population, const ais_kernel *kernel,
                           uint64_t seed, int chains, int draws, ais_fresh_result *result) {
    ais_arena arena = {0};
    division parts = {0};
    chains = ((chains - 1) / AIS_BLOCK + 1) * AIS_BLOCK;
    size_t dim = (size_t)population->target->dim, n = (size_t)chains * (size_t)draws, all = 2 * dim + SHELLS + CELLS;
    double *x = AIS_TAKE(&arena, double, dim *n), *point = AIS_TAKE(&arena, double, dim);
    sums *tallies = AIS_TAKE(&arena, sums, all);
    *result = (ais_fresh_result){0};
    ais_status status = x && point && tallies && divide(&parts, population, &arena)
                            ? ais_fresh_draws(context, population, kernel, seed, chains, draws, x, &result->acceptance)
                            : ais_fail_memory(context, "fresh chains", dim * n * sizeof *x);
    if (status == AIS_OK) {
        count(&parts, (size_t)chains, (size_t)draws, x, point, tallies);
        result->worst_ess = INFINITY;
        for (size_t k = 0; k < all; k++)
            if (k < 2 * dim || tallies[k].sum > least_mass * (double)n)
                result->worst_ess = fmin(result->worst_ess, share(&tallies[k], chains, draws));
    }
    ais_arena_free(&arena);
    return status;
}
