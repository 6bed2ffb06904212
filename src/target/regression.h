/* Regressions on a table: blr:FILE, linear:FILE and poisson:FILE. They differ in their density; table, keys, priors and
 * words are the same. */
#ifndef AIS_TARGET_REGRESSION_H
#define AIS_TARGET_REGRESSION_H

#include "target/builtin.h"
#include "target/regression_data.h"

/* The keys of blr, linear and poisson, in this order. Data inside the library know the first two. */
enum {
    AIS_KEY_PRIOR,
    AIS_KEY_ROWS,
    AIS_KEY_LABEL,
    AIS_KEY_INTERCEPT,
    AIS_KEY_INTERCEPT_PRIOR,
    AIS_KEY_FACTOR,
    AIS_KEY_DROP,
    AIS_KEYS
};

/* Their ranges; an intercept_prior of 0 stands for that of the coefficients. */
#define AIS_REGRESSION_OPTIONS(PRIOR, INTERCEPT_PRIOR)                                                                 \
    {.name = "prior", .value = (PRIOR), .low = 1e-3, .high = 1e6},                                                     \
        {.name = "rows", .value = 1, .low = 1e-3, .high = 1, .word = "all"}, {.name = "label", .text = true},          \
        {.name = "intercept", .text = true},                                                                           \
        {.name = "intercept_prior", .value = (INTERCEPT_PRIOR), .low = 1e-3, .high = 1e6},                             \
        {.name = "factor", .text = true}, {                                                                            \
        .name = "drop", .text = true                                                                                   \
    }

/* The same for people. */
#define AIS_REGRESSION_COLUMNS ",factor=NAME+...,drop=NAME+..."
#define AIS_REGRESSION_KEYS(PRIOR, INTERCEPT_PRIOR)                                                                    \
    "prior=" PRIOR ",rows=all,label=NAME,intercept=on,intercept_prior=" INTERCEPT_PRIOR AIS_REGRESSION_COLUMNS

/* The options of a regression besides its data. */
typedef struct ais_regression_wish {
    const char *file;       /* as it was given; NULL: data inside the library */
    double prior;           /* standard deviation of the coefficients of standardised covariates, */
    double intercept_prior; /* and of the intercept */
    double fraction;        /* of the rows, the first ones, that are used */
    bool intercept;
    const char *factor, *drop; /* as they were given, or NULL */
} ais_regression_wish;

/* From standardised coefficients to those on the data's scale. The data of every regression's target begin with it. */
typedef struct ais_regression_scale {
    int dim; /* coefficients */
    bool intercept, sigma;
    const double *mean, *sd; /* dim */
    double outcome_mean, outcome_sd;
} ais_regression_scale;

typedef struct ais_regression_model {
    const char *name;
    ais_outcome outcome;
    /* Fills the target: dim, names, logp, batch, grad, data, but for the scale. `rows` of the data are used. */
    ais_status (*set)(ais_context *context, ais_regression_data *data, size_t rows, const ais_regression_wish *wish,
                      ais_home *home);
} ais_regression_model;

/* Opens model:file, or the table of home->target.name in text. */
ais_status ais_regression_open(ais_context *context, const ais_regression_model *model, const ais_value *value,
                               const char *file, ais_home *home);
ais_status ais_regression_open_text(ais_context *context, const ais_regression_model *model, const ais_value *value,
                                    const char *text, size_t length, ais_home *home);

/* The target's name, which is the whole specification, and what it is about, in sentences. */
ais_status ais_regression_describe(ais_context *context, const ais_regression_model *model,
                                   const ais_regression_data *data, size_t rows, const ais_regression_wish *wish,
                                   ais_home *home);

/* What is shown: the parameters themselves, and behind them the coefficients on the data's scale (raw_intercept,
 * raw_NAME) and sigma. */
ais_status ais_regression_show(ais_context *context, const ais_regression_data *data, ais_home *home);

/* log of the joint density of all normal priors where every coefficient is zero. */
double ais_regression_prior(const ais_regression_data *data, const ais_regression_wish *wish);

/* half_precision[i] = 0.5 / sd^2 of the prior of coefficient i. */
void ais_regression_precisions(const ais_regression_data *data, const ais_regression_wish *wish,
                               double *half_precision);

#endif
