/* Bayesian logistic regression: blr:FILE, and heart, german and australian with their data inside the library. Normal
 * priors, normalised, so that the integral is the evidence. */
#include <math.h>

#include "target/embedded.h"
#include "target/logistic.h"
#include "target/reference_blr.h"

#define LOG_2_E 1.44269504088896340736

static double logp(const double *w, void *data) {
    const ais_logistic *this = data;
    double value = AIS_CHOOSE(ais_regression_point)(&this->lanes, w, NULL);
    if (this->corrected) value += this->correction * w[0] * w[0];
    return ais_settle(value, w, this->lanes.dim);
}

static double grad(const double *w, double *gradient, void *data) {
    const ais_logistic *this = data;
    double value = AIS_CHOOSE(ais_regression_point)(&this->lanes, w, gradient);
    if (this->corrected) {
        value += this->correction * w[0] * w[0];
        gradient[0] += 2 * this->correction * w[0];
    }
    return ais_settle(value, w, this->lanes.dim);
}

static void batch(size_t n, const double *w, double *logp_, void *data) {
    const ais_logistic *this = data;
    ais_batch_by_blocks(AIS_CHOOSE(ais_regression_block), AIS_LANES, &this->lanes, n, this->lanes.dim, w, logp_);
    for (size_t c = 0; this->corrected && c < n; c++)
        if (logp_[c] > -INFINITY) logp_[c] += this->correction * w[c] * w[c];
}

/* Both layouts of the signed covariates; rows beyond the used ones stay zero, and count log 2 each. */
static void set_layouts(const ais_regression_data *from, size_t rows, size_t padded, double *by_group,
                        double *by_column) {
    enum { GROUP = 4 };
    size_t dim = (size_t)from->dim;
    for (size_t row = 0; row < rows; row++)
        for (size_t i = 0; i < dim; i++) {
            double value = from->outcome[row] > 0 ? -from->covariate[row * dim + i] : from->covariate[row * dim + i];
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

static ais_status set_logistic(ais_context *context, ais_regression_data *from, size_t rows,
                               const ais_regression_wish *wish, ais_home *home) {
    ais_logistic *this = AIS_TAKE(&home->arena, ais_logistic, 1);
    size_t dim = (size_t)from->dim, padded = (rows + AIS_TILE_ROWS - 1) / AIS_TILE_ROWS * AIS_TILE_ROWS;
    double *by_group = AIS_TAKE(&home->arena, double, dim *padded);
    double *by_column = AIS_TAKE(&home->arena, double, dim *padded);
    double *half_sum = AIS_TAKE(&home->arena, double, dim);
    if (!this || !by_group || !by_column || !half_sum)
        return ais_fail_memory(context, "a regression", 2 * dim * padded * sizeof(double));
    set_layouts(from, rows, padded, by_group, by_column);
    this->lanes = (ais_regression){.dim = from->dim,
                                   .rows = rows,
                                   .padded = padded,
                                   .by_group = by_group,
                                   .by_column = by_column,
                                   .half_sum = half_sum,
                                   .half_precision = 0.5 / (wish->prior * wish->prior),
                                   .constant = ais_regression_prior(from, wish)};
    this->lanes.near_square = (double)AIS_NEAR_MOST * AIS_NEAR_MOST / sum_rows(&this->lanes, half_sum);
    this->corrected = wish->intercept && wish->intercept_prior != wish->prior;
    this->correction = this->lanes.half_precision - 0.5 / (wish->intercept_prior * wish->intercept_prior);
    home->target.names = from->names;
    ais_home_functions(home, from->dim, logp, batch, grad, this);
    return AIS_OK;
}

static const ais_regression_model model = {"blr", AIS_OUTCOME_BINARY, set_logistic};

static ais_status open_file(ais_context *context, const ais_value *value, const char *file, ais_home *home) {
    return ais_regression_open(context, &model, value, file, home);
}

static ais_status open_embedded(ais_context *context, const ais_value *value, const unsigned char *text, size_t length,
                                const ais_reference *reference, ais_home *home) {
    ais_status status = ais_regression_open_text(context, &model, value, (const char *)text, length, home);
    /* The stored numbers are of the posterior of the experiments only. */
    if (status == AIS_OK && value[AIS_KEY_PRIOR].number == 1 && value[AIS_KEY_ROWS].number == 0.9) {
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

static const ais_option embedded_options[] = {{.name = "prior", .value = 1, .low = 1e-3, .high = 1e6},
                                              {.name = "rows", .value = 0.9, .low = 1e-3, .high = 1, .word = "all"},
                                              {.name = NULL}};
static const ais_option file_options[] = {AIS_REGRESSION_OPTIONS(1, 0), {.name = NULL}};

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
    {"blr", "logistic regression on a table", AIS_REGRESSION_KEYS("1", "prior")}, file_options, open_file};
