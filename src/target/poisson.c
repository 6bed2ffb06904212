/* Bayesian Poisson regression: poisson:FILE. The logarithm of the rate is linear in the covariates; normal priors. The
 * integral is the evidence. */
#include <math.h>

#include "base/special.h"
#include "target/poisson_lanes.h"
#include "target/regression.h"

typedef struct poisson {
    ais_regression_scale scale;
    ais_poisson lanes;
} poisson;

static double logp(const double *w, void *data) {
    const poisson *this = data;
    return ais_settle(AIS_CHOOSE(ais_poisson_point)(&this->lanes, w, NULL), w, this->lanes.dim);
}

static double grad(const double *w, double *gradient, void *data) {
    const poisson *this = data;
    return ais_settle(AIS_CHOOSE(ais_poisson_point)(&this->lanes, w, gradient), w, this->lanes.dim);
}

static void batch(size_t n, const double *w, double *logp_, void *data) {
    const poisson *this = data;
    ais_batch_by_blocks(AIS_CHOOSE(ais_poisson_block), AIS_LANES, &this->lanes, n, this->lanes.dim, w, logp_);
}

static ais_status set_poisson(ais_context *context, ais_regression_data *from, size_t rows,
                              const ais_regression_wish *wish, ais_home *home) {
    size_t dim = (size_t)from->dim;
    poisson *this = AIS_TAKE(&home->arena, poisson, 1);
    double *total = AIS_TAKE(&home->arena, double, dim), *half_precision = AIS_TAKE(&home->arena, double, dim);
    if (!this || !total || !half_precision) return ais_fail_memory(context, "a regression", dim * sizeof *total);
    double constant = ais_regression_prior(from, wish);
    for (size_t row = 0; row < rows; row++) {
        constant -= ais_log_gamma(from->outcome[row] + 1);
        for (size_t i = 0; i < dim; i++) total[i] += from->outcome[row] * from->covariate[row * dim + i];
    }
    ais_regression_precisions(from, wish, half_precision);
    this->lanes = (ais_poisson){.dim = from->dim,
                                .rows = rows,
                                .covariate = from->covariate,
                                .total = total,
                                .half_precision = half_precision,
                                .constant = constant};
    home->target.names = from->names;
    ais_home_functions(home, from->dim, logp, batch, grad, this);
    return AIS_OK;
}

static const ais_regression_model model = {"poisson", AIS_OUTCOME_COUNT, set_poisson};

static ais_status open_file(ais_context *context, const ais_value *value, const char *file, ais_home *home) {
    return ais_regression_open(context, &model, value, file, home);
}

static const ais_option options[] = {AIS_REGRESSION_OPTIONS(1, 10), {.name = NULL}};
const ais_target_type ais_target_poisson = {
    {"poisson", "Poisson regression on a table of counts", AIS_REGRESSION_KEYS("1", "10")}, options, open_file};
