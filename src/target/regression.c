/* Bayesian logistic regression: blr:FILE.csv, and heart, german and australian with their data inside
 * the library. Prior N(0, prior^2) on every weight, normalised, so that the integral is the evidence.
 * The bias is first; covariates are standardised over all rows, whichever rows are used. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "target/builtin.h"
#include "target/embedded.h"
#include "target/reference_blr.h"
#include "target/regression_data.h"
#include "target/regression_lanes.h"

#define LOG_2_E  1.44269504088896340736
#define LOG_2_PI 1.83787706640934548356

static double logp(const double *w, void *data) {
    const ais_regression *regression = data;
    return ais_settle(AIS_CHOOSE(ais_regression_point)(regression, w, NULL), w, regression->dim);
}

static double grad(const double *w, double *gradient, void *data) {
    const ais_regression *regression = data;
    return ais_settle(AIS_CHOOSE(ais_regression_point)(regression, w, gradient), w, regression->dim);
}

static void batch(size_t n, const double *w, double *logp_, void *data) {
    const ais_regression *regression = data;
    ais_batch_by_blocks(AIS_CHOOSE(ais_regression_block), AIS_LANES, regression, n, regression->dim, w, logp_);
}

/* Both layouts of the signed covariates; rows beyond the used ones stay zero, and count log 2 each. */
static void set_layouts(const ais_regression_data *from, size_t rows, size_t padded, double *by_group,
                        double *by_column) {
    enum { GROUP = 4 };
    size_t dim = (size_t)from->dim;
    for (size_t row = 0; row < rows; row++)
        for (size_t i = 0; i < dim; i++) {
            double value = from->label[row] > 0 ? -from->covariate[row * dim + i] : from->covariate[row * dim + i];
            by_group[(row / GROUP * dim + i) * GROUP + row % GROUP] = LOG_2_E * value;
            by_column[i * padded + row] = value;
        }
}

/* Half the sum of all rows, and the largest |x|^2 of one. */
static double sum_rows(const ais_regression *regression, double *half_sum) {
    double most = 0;
    for (size_t row = 0; row < regression->rows; row++) {
        double square = 0;
        for (size_t i = 0; i < (size_t)regression->dim; i++) {
            double value = regression->by_column[i * regression->padded + row];
            half_sum[i] += 0.5 * value;
            square += value * value;
        }
        most = square > most ? square : most;
    }
    return most;
}

static ais_status set_regression(ais_context *context, const ais_regression_data *from, double fraction, double prior,
                                 ais_home *home) {
    ais_regression *regression = AIS_TAKE(&home->arena, ais_regression, 1);
    size_t rows = (size_t)(fraction * (double)from->rows + 1e-9), dim = (size_t)from->dim;
    if (rows < 1) rows = 1;
    size_t padded = (rows + AIS_TILE_ROWS - 1) / AIS_TILE_ROWS * AIS_TILE_ROWS;
    double *by_group = AIS_TAKE(&home->arena, double, dim *padded);
    double *by_column = AIS_TAKE(&home->arena, double, dim *padded);
    double *half_sum = AIS_TAKE(&home->arena, double, dim);
    if (!regression || !by_group || !by_column || !half_sum)
        return ais_fail_memory(context, "a regression", 2 * dim * padded * sizeof(double));
    set_layouts(from, rows, padded, by_group, by_column);
    *regression = (ais_regression){.dim = from->dim,
                                   .rows = rows,
                                   .padded = padded,
                                   .by_group = by_group,
                                   .by_column = by_column,
                                   .half_sum = half_sum,
                                   .half_precision = 0.5 / (prior * prior),
                                   .constant = -from->dim * (0.5 * LOG_2_PI + log(prior))};
    regression->near_square = (double)AIS_NEAR_MOST * AIS_NEAR_MOST / sum_rows(regression, half_sum);
    home->target.dim = from->dim;
    home->target.names = from->names;
    home->target.logp = logp;
    home->target.batch = batch;
    home->target.grad = grad;
    home->target.data = regression;
    return AIS_OK;
}

enum { PRIOR, ROWS, LABEL };

static ais_status open_table(ais_context *context, const ais_value *value, const char *path, const char *label,
                             ais_table *table, ais_home *home) {
    ais_regression_data data;
    ais_status status = ais_regression_prepare(context, path, table, label, &home->arena, &data);
    if (status == AIS_OK) status = set_regression(context, &data, value[ROWS].number, value[PRIOR].number, home);
    ais_table_free(table);
    return status;
}

static ais_status open_file(ais_context *context, const ais_value *value, const char *file, ais_home *home) {
    const char *slash = strrchr(file, '/'), *base = slash ? slash + 1 : file;
    size_t size = strlen(base) + sizeof "blr:";
    char *name = ais_arena_take(&home->arena, size);
    if (!name) return ais_fail_memory(context, "the name of a target", size);
    snprintf(name, size, "blr:%s", base);
    home->target.name = name;
    ais_table table;
    ais_status status = ais_csv_read(context, file, &table);
    return status == AIS_OK ? open_table(context, value, file, value[LABEL].text, &table, home) : status;
}

static ais_status open_embedded(ais_context *context, const ais_value *value, const unsigned char *text, size_t length,
                                const ais_reference *reference, ais_home *home) {
    ais_table table;
    ais_status status = ais_csv_parse(context, home->target.name, (const char *)text, length, &table);
    if (status == AIS_OK) status = open_table(context, value, home->target.name, NULL, &table, home);
    /* The stored numbers are of the posterior of the experiments only. */
    if (status == AIS_OK && value[PRIOR].number == 1 && value[ROWS].number == 0.9) {
        home->reference = *reference;
        home->target.reference = &home->reference;
    }
    return status;
}

#define OPEN_EMBEDDED(set, SET)                                                                                        \
    static ais_status open_##set(ais_context *context, const ais_value *value, const char *file, ais_home *home) {     \
        (void)file;                                                                                                    \
        static const ais_reference reference = {                                                                       \
            .mean = set##_mean,                                                                                        \
            .variance = set##_variance,                                                                                \
            .square_mean = set##_square_mean,                                                                          \
            .square_variance = set##_square_variance,                                                                  \
            .log_z = SET##_LOG_Z,                                                                                      \
            .source = "importance sampling, bench/reference/regressions.py",                                           \
        };                                                                                                             \
        return open_embedded(context, value, ais_embedded_##set, ais_embedded_##set##_size, &reference, home);         \
    }
OPEN_EMBEDDED(heart, HEART)
OPEN_EMBEDDED(german, GERMAN)
OPEN_EMBEDDED(australian, AUSTRALIAN)

#define PRIOR_OPTION                                                                                                   \
    { .name = "prior", .value = 1, .low = 1e-3, .high = 1e6 }
static const ais_option embedded_options[] = {
    PRIOR_OPTION, {.name = "rows", .value = 0.9, .low = 1e-3, .high = 1, .word = "all"}, {.name = NULL}};
static const ais_option file_options[] = {PRIOR_OPTION,
                                          {.name = "rows", .value = 1, .low = 1e-3, .high = 1, .word = "all"},
                                          {.name = "label", .text = true},
                                          {.name = NULL}};

const ais_target_type ais_target_heart = {
    {"heart", "logistic regression, 13 covariates, 243 of 270 rows", "prior=1,rows=0.9"}, embedded_options, open_heart};
const ais_target_type ais_target_german = {
    {"german", "logistic regression, 24 covariates, 900 of 1000 rows", "prior=1,rows=0.9"},
    embedded_options,
    open_german};
const ais_target_type ais_target_australian = {
    {"australian", "logistic regression, 14 covariates, 621 of 690 rows", "prior=1,rows=0.9"},
    embedded_options,
    open_australian};
const ais_target_type ais_target_blr = {
    {"blr", "logistic regression on FILE.csv", "prior=1,rows=all,label=last"}, file_options, open_file};
