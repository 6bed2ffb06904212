/* Tables 2, 3 and 5: the logistic regressions. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "reproduce/reproduce.h"

enum { PREDICTIVE_DRAWS = 1000 };

static const struct {
    const char *name;
    int rows; /* in the data; the last tenth is not in the posterior */
} regressions[] = {{"heart", 270}, {"german", 1000}, {"australian", 690}};

/* Points of all chains together, evenly spaced, in the layout of a batch. */
static double *some_draws(const ais_draws *draws, size_t count) {
    size_t all = (size_t)draws->chains * (size_t)draws->draws, dim = (size_t)draws->dim;
    double *x = malloc(dim * count * sizeof *x);
    for (size_t i = 0; x && i < dim; i++)
        for (size_t k = 0; k < count; k++) x[i * count + k] = draws->value[i * all + k * all / count];
    return x;
}

/* log p of the points under the posterior of the first `rows` of `all` rows. */
static int log_posterior(const char *name, int rows, int all, size_t count, const double *x, double *logp) {
    ais_context context = {0};
    ais_target *target = NULL;
    char spec[96];
    snprintf(spec, sizeof spec, "%s:rows=%.17g", name, (double)rows / all);
    if (ais_target_open(&context, spec, &target) != AIS_OK) return failed(&context);
    target->batch(count, x, logp, target->data);
    ais_target_close(target);
    return 0;
}

static double log_mean_exp(const double *a, const double *b, size_t count) {
    double largest = -INFINITY, sum = 0;
    for (size_t k = 0; k < count; k++) largest = fmax(largest, a[k] - b[k]);
    for (size_t k = 0; k < count; k++) sum += exp(a[k] - b[k] - largest);
    return largest + log(sum / (double)count);
}

/* The mean over the test rows of log mean p(y | x, w), and its standard error over the rows. One row's log likelihood
 * is the difference of two posteriors, with and without it: the covariates are standardised over all rows in both. */
static int predictive(const char *name, int all, const ais_draws *draws, double *mean, double *error) {
    enum { COUNT = PREDICTIVE_DRAWS };
    int first = (int)(0.9 * all + 1e-9), code = 0;
    double *x = some_draws(draws, COUNT), sum = 0, squares = 0;
    double *with = malloc(COUNT * sizeof *with), *without = malloc(COUNT * sizeof *without);
    if (!x || !with || !without) code = complain(EXIT_FAILED, "out of memory");
    if (code == 0) code = log_posterior(name, first, all, COUNT, x, without);
    for (int row = first; row < all && code == 0; row++) {
        code = log_posterior(name, row + 1, all, COUNT, x, with);
        double value = code == 0 ? log_mean_exp(with, without, COUNT) : NAN, *turn = without;
        sum += value;
        squares += value * value;
        without = with;
        with = turn;
    }
    int tests = all - first;
    *mean = sum / tests;
    *error = sqrt(fmax(0, squares / tests - *mean * *mean) / tests);
    free(x);
    free(with);
    free(without);
    return code;
}

/* Of the means over all trials to the reference. */
static double distance(const ais_diagnosis *judged, const ais_target *target) {
    double sum = 0;
    for (int i = 0; target->reference && i < judged->dim; i++)
        sum += pow(judged->parameter[i].mean - target->reference->mean[i], 2);
    return target->reference ? sqrt(sum) : NAN;
}

static int predictive_row(table *to, int which, const char *sampler, const ais_target *target, const outcome *out) {
    double mean, error;
    char name[TABLE_CELL];
    const char *set = regressions[which].name;
    int code = predictive(set, regressions[which].rows, out->draws, &mean, &error);
    snprintf(name, sizeof name, "%.12s, %s", set, sampler);
    char(*cell)[TABLE_CELL] = code == 0 ? table_row(to, name) : NULL;
    if (!cell) return code;
    double gap = distance(out->diagnosis, target);
    cell_fixed(cell[1], mean, 3);
    cell_fixed(cell[2], error, 3);
    cell_fixed(cell[3], printed_number("predictive", set, sampler), 3);
    cell_number(cell[4], gap, 2);
    cell_number(cell[5], gap * gap, 2);
    cell_number(cell[6], printed_number("distance", set, sampler), 2);
    return 0;
}

static int one_regression(reproduction *set, int which, table *ess, table *predictions) {
    ais_context context = {0};
    ais_target *target = NULL;
    const char *name = regressions[which].name;
    if (ais_target_open(&context, name, &target) != AIS_OK) return failed(&context);
    int code = 0;
    for (int k = 0; k < RIVALS && code == 0; k++) {
        trials made;
        code = trials_make(set, target, rivals[k], REGRESSION_DRAWS, &made);
        if (code != 0) break;
        trial_row(ess, name, rivals[k], &made);
        code = predictive_row(predictions, which, rivals[k], target, &made.outcome);
        trials_free(&made);
    }
    ais_target_close(target);
    return code;
}

int reproduce_regressions(reproduction *set) {
    static const char *const headings[] = {"data, sampler",     "log predictive", "error of the split", "printed",
                                           "distance of means", "squared",        "printed distance",   NULL};
    const char *ess_headings[TABLE_COLUMNS] = {0};
    char columns[512];
    table ess, predictions;
    int count = 0;
    for (; trial_headings[count]; count++) ess_headings[count] = trial_headings[count];
    ess_headings[count] = "from N(0, 1)";
    table_begin(&ess, "Effective sample size on the regressions (tables 3 and 5)", ess_headings);
    snprintf(columns, sizeof columns,
             "%s The last column is mean-ESS when all chains start at N(0, 1), far outside: the learned involutions "
             "may then not move at all.",
             trial_columns);
    trial_note(set, REGRESSION_DRAWS, columns, &ess);
    table_begin(&predictions, "Log predictive density and distance of the means (table 2)", headings);
    snprintf(predictions.note, sizeof predictions.note,
             "Mean over the last tenth of the rows of the log of the mean likelihood over %d draws of all trials; the "
             "posterior has the other rows. The error is that of the mean over the test rows: another split of the "
             "data moves the number by about as much. Distance: l2 norm between the means over all %d trials and those "
             "of an independent reference; the paper does not say whether its norm is squared. The paper's heart data "
             "are of another size.",
             (int)PREDICTIVE_DRAWS, set->trials);
    int code = 0;
    for (int i = 0; i < 3 && code == 0; i++) code = one_regression(set, i, &ess, &predictions);
    if (code != 0) return code;
    show_table(set, "regressions", &ess);
    show_table(set, "predictive", &predictions);
    return 0;
}
