#include "target/empirical.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <aisampler/draws.h>

#include "base/sort.h"

enum { FEWEST = 1000, FEWEST_PER_DIMENSION = 20, FEWEST_VALUES = 100 };

static double no_density(const double *x, void *data) {
    (void)x, (void)data;
    return 0;
}

/* How many different values there are; x is sorted in place. */
static size_t distinct(double *x, size_t n) {
    size_t count = 1;
    qsort(x, n, sizeof *x, ais_rising);
    for (size_t k = 1; k < n; k++) count += x[k] != x[k - 1];
    return count;
}

static ais_status check_column(ais_context *context, const char *name, const ais_draws *draws, int i, double *copy) {
    size_t n = (size_t)draws->chains * (size_t)draws->draws;
    const double *x = draws->value + (size_t)i * n;
    const char *column = draws->name[i];
    for (size_t k = 0; k < n; k++)
        if (!(fabs(x[k]) < 1e150)) /* its fourth power is to be a number */
            return ais_fail(context, AIS_BAD_FORMAT,
                            "%.200s: %.60s is %g in draw %zu: draws must be numbers below 1e150", name, column, x[k],
                            k + 1);
    memcpy(copy, x, n * sizeof *x);
    size_t values = distinct(copy, n);
    if (values == 1)
        return ais_fail(context, AIS_BAD_FORMAT,
                        "%.200s: column %.60s is %g in all draws: there is nothing to learn, leave it out", name,
                        column, x[0]);
    if (values < FEWEST_VALUES)
        return ais_fail(context, AIS_BAD_FORMAT,
                        "%.200s: column %.60s has only %zu different values in %zu draws: a density is learned, so it "
                        "must be continuous; leave it out",
                        name, column, values, n);
    return AIS_OK;
}

static ais_status check_draws(ais_context *context, const char *name, const ais_draws *draws) {
    size_t n = (size_t)draws->chains * (size_t)draws->draws;
    if (draws->dim < 1)
        return ais_fail(context, AIS_BAD_FORMAT, "%.200s has no column of parameters (names that end in __ are not)",
                        name);
    size_t least = (size_t)draws->dim * FEWEST_PER_DIMENSION;
    if (least < FEWEST) least = FEWEST;
    if (n < least)
        return ais_fail(context, AIS_BAD_FORMAT,
                        "%.200s has %zu draws of %d parameters: learning from draws needs at least %zu, better 10000",
                        name, n, draws->dim, least);
    double *copy = malloc(n * sizeof *copy);
    if (!copy) return ais_fail_memory(context, "a column of draws", n * sizeof *copy);
    ais_status status = AIS_OK;
    for (int i = 0; status == AIS_OK && i < draws->dim; i++) status = check_column(context, name, draws, i, copy);
    free(copy);
    return status;
}

static void set_moments(const ais_draws *draws, const ais_moments *moments, int i) {
    size_t n = (size_t)draws->chains * (size_t)draws->draws;
    const double *x = draws->value + (size_t)i * n;
    double mean = 0, variance = 0, square = 0, fourth = 0, count = (double)n;
    for (size_t k = 0; k < n; k++) mean += x[k] / count;
    for (size_t k = 0; k < n; k++) {
        double x2 = x[k] * x[k];
        variance += (x[k] - mean) * (x[k] - mean) / (count - 1);
        square += x2 / count;
        fourth += x2 * x2 / count;
    }
    ais_moments_set(moments, i, mean, variance, square, fourth);
}

ais_status ais_empirical_open(ais_context *context, const char *name, const char *path, ais_home *home) {
    if (!*path) return ais_fail(context, AIS_BAD_ARGUMENT, "data needs a file of draws: data:DRAWS.csv or .nc");
    ais_draws *draws;
    ais_moments moments;
    ais_status status = ais_draws_read(context, &path, 1, &draws);
    if (status != AIS_OK) return status;
    home->draws = draws;
    status = check_draws(context, name, draws);
    if (status != AIS_OK) return status;
    if (!ais_moments_take(home, draws->dim, &moments))
        return ais_fail_memory(context, "moments", (size_t)draws->dim * sizeof(double));
    for (int i = 0; i < draws->dim; i++) set_moments(draws, &moments, i);
    home->reference.log_z = NAN;
    home->reference.source = "the data";
    home->reference.size = (double)draws->chains * draws->draws;
    home->target.name = name;
    home->target.dim = draws->dim;
    home->target.logp = no_density;
    home->target.names = (const char *const *)draws->name;
    home->target.draws = draws;
    return AIS_OK;
}
