/* Bayesian linear regression: linear:FILE. The outcome is standardised as the covariates are; coefficients have normal
 * priors, sigma, the standard deviation of what is left, an exponential one of mean 1, and log sigma is the last
 * parameter. The integral is the evidence of the outcome as it stands in the table. */
#include <math.h>
#include <string.h>

#include "base/constants.h"
#include "target/linear_lanes.h"
#include "target/regression.h"

typedef struct linear {
    ais_regression_scale scale;
    ais_linear lanes;
} linear;

/* Rw - c at w, row i. */
static double miss(const ais_linear *this, const double *w, int i) {
    const double *factor = this->factor + (size_t)i * (size_t)this->columns;
    double sum = -this->goal[i];
    for (int j = i; j < this->columns; j++) sum += factor[j] * w[j];
    return sum;
}

static double point(const ais_linear *this, const double *w, double *gradient) {
    int columns = this->columns;
    double log_sigma = w[columns], sigma = exp(log_sigma), precision = 1 / (sigma * sigma);
    double square = this->rest, prior = 0;
    for (int i = 0; i < columns; i++) {
        prior += this->half_precision[i] * w[i] * w[i];
        if (gradient) gradient[i] = -2 * this->half_precision[i] * w[i];
    }
    for (int i = 0; i < columns; i++) {
        const double *factor = this->factor + (size_t)i * (size_t)columns;
        double sum = miss(this, w, i);
        square += sum * sum;
        for (int j = i; gradient && j < columns; j++) gradient[j] -= precision * sum * factor[j];
    }
    if (gradient) gradient[columns] = 1 - this->rows - sigma + square * precision;
    return this->constant - prior + (1 - this->rows) * log_sigma - sigma - 0.5 * square * precision;
}

static double logp(const double *w, void *data) {
    const linear *this = data;
    return ais_settle(point(&this->lanes, w, NULL), w, this->lanes.columns + 1);
}

static double grad(const double *w, double *gradient, void *data) {
    const linear *this = data;
    return ais_settle(point(&this->lanes, w, gradient), w, this->lanes.columns + 1);
}

static void batch(size_t n, const double *w, double *logp_, void *data) {
    const linear *this = data;
    ais_batch_by_blocks(AIS_CHOOSE(ais_linear_block), AIS_LANES, &this->lanes, n, this->lanes.columns + 1, w, logp_);
}

/* Reflects rows k.. of column k of a (rows x width) onto the first of them, and all later columns along. */
static void reflect(double *a, size_t rows, size_t width, size_t k, double *v) {
    double norm = 0, square = 0;
    for (size_t r = k; r < rows; r++) norm = hypot(norm, a[r * width + k]);
    if (!(norm > 0)) return;
    double pivot = a[k * width + k] > 0 ? -norm : norm;
    for (size_t r = k; r < rows; r++) {
        v[r] = a[r * width + k] - (r == k ? pivot : 0);
        square += v[r] * v[r];
    }
    for (size_t j = k; j < width; j++) {
        double along = 0;
        for (size_t r = k; r < rows; r++) along += v[r] * a[r * width + j];
        for (size_t r = k; r < rows; r++) a[r * width + j] -= 2 * along / square * v[r];
    }
}

/* Covariates with the standardised outcome behind them, reduced to R, c and what is left of the outcome. */
static void reduce(double *a, size_t rows, size_t columns, double *v, double *factor, double *goal, double *rest) {
    size_t width = columns + 1;
    for (size_t k = 0; k < columns && k < rows; k++) reflect(a, rows, width, k, v);
    for (size_t i = 0; i < columns && i < rows; i++) {
        goal[i] = a[i * width + columns];
        for (size_t j = i; j < columns; j++) factor[i * columns + j] = a[i * width + j];
    }
    for (size_t r = columns; r < rows; r++) *rest += a[r * width + columns] * a[r * width + columns];
}

/* Over all rows, as the covariates'. Without an intercept it is scaled only. */
static void scale_outcome(ais_regression_data *data) {
    double rows = (double)data->rows, square = 0;
    data->outcome_mean = 0;
    for (size_t r = 0; r < data->rows; r++) data->outcome_mean += data->outcome[r] / rows;
    for (size_t r = 0; r < data->rows; r++) square += pow(data->outcome[r] - data->outcome_mean, 2);
    data->outcome_sd = sqrt(square / rows);
    if (!data->intercept) data->outcome_mean = 0;
}

static const char **names_of(const ais_regression_data *data, ais_arena *arena) {
    const char **names = AIS_TAKE(arena, const char *, data->dim + 1);
    for (int i = 0; names && i < data->dim; i++) names[i] = data->names[i];
    if (names) names[data->dim] = "log_sigma";
    return names;
}

static ais_status set_linear(ais_context *context, ais_regression_data *from, size_t rows,
                             const ais_regression_wish *wish, ais_home *home) {
    size_t columns = (size_t)from->dim, width = columns + 1;
    linear *this = AIS_TAKE(&home->arena, linear, 1);
    double *factor = AIS_TAKE(&home->arena, double, columns *columns), *goal = AIS_TAKE(&home->arena, double, columns);
    double *half_precision = AIS_TAKE(&home->arena, double, columns);
    const char **names = names_of(from, &home->arena);
    ais_arena scratch = {0};
    double *a = AIS_TAKE(&scratch, double, rows *width), *v = AIS_TAKE(&scratch, double, rows), rest = 0;
    if (!this || !factor || !goal || !half_precision || !names || !a || !v) {
        ais_arena_free(&scratch);
        return ais_fail_memory(context, "a regression", rows * width * sizeof(double));
    }
    scale_outcome(from);
    for (size_t r = 0; r < rows; r++) {
        memcpy(a + r * width, from->covariate + r * columns, columns * sizeof *a);
        a[r * width + columns] = (from->outcome[r] - from->outcome_mean) / from->outcome_sd;
    }
    reduce(a, rows, columns, v, factor, goal, &rest);
    ais_arena_free(&scratch);
    ais_regression_precisions(from, wish, half_precision);
    this->lanes = (ais_linear){.columns = from->dim,
                               .rows = (double)rows,
                               .factor = factor,
                               .goal = goal,
                               .rest = rest,
                               .half_precision = half_precision,
                               .constant = ais_regression_prior(from, wish) -
                                           (double)rows * (0.5 * AIS_LOG_2PI + log(from->outcome_sd))};
    home->target.names = names;
    ais_home_functions(home, from->dim + 1, logp, batch, grad, this);
    return AIS_OK;
}

static const ais_regression_model model = {"linear", AIS_OUTCOME_NUMBER, set_linear};

static ais_status open_file(ais_context *context, const ais_value *value, const char *file, ais_home *home) {
    return ais_regression_open(context, &model, value, file, home);
}

static const ais_option options[] = {AIS_REGRESSION_OPTIONS(2.5, 0), {.name = NULL}};
const ais_target_type ais_target_linear = {
    {"linear", "linear regression on a table", AIS_REGRESSION_KEYS("2.5", "prior")}, options, open_file};
