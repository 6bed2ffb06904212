/* Monte Carlo standard errors: how far an estimate from these draws may be off. */
#include <aisampler/diagnostics.h>

#include <math.h>

#include "base/special.h"
#include "diagnostics/column.h"

double ais_mcse_mean(const double *x, int chains, int draws) {
    double ess = ais_ess_mean(x, chains, draws);
    return isnan(ess) ? NAN : sqrt(ais_variance(x, (size_t)chains * (size_t)draws) / ess);
}

/* By the delta method from the variance of (x - mean)^2. */
double ais_mcse_sd(const double *x, int chains, int draws) {
    double ess = ais_ess_sd(x, chains, draws);
    if (isnan(ess)) return NAN;
    size_t n = (size_t)chains * (size_t)draws;
    double mean = ais_mean(x, n), second = 0, fourth = 0;
    for (size_t i = 0; i < n; i++) {
        double square = (x[i] - mean) * (x[i] - mean);
        second += square / (double)n;
        fourth += square * square / (double)n;
    }
    double spread = fmax(fourth - second * second, 0);
    return sqrt(spread / ess / second / 4);
}

/* Half the distance between the draws at the 16% and 84% points of the quantile's own posterior,
 * Beta(ess p + 1, ess (1 - p) + 1) in the probability. */
double ais_mcse_quantile(const double *x, int chains, int draws, double probability) {
    ais_column column;
    if (chains < 1 || draws < 4 || !(probability >= 0 && probability <= 1)) return NAN;
    size_t n = (size_t)chains * (size_t)draws;
    if (!ais_column_usable(x, n) || !ais_column_init(&column, chains, draws)) return NAN;
    ais_column_sort(&column, x);
    double ess = ais_column_ess_quantile(&column, x, probability);
    double a = ess * probability + 1, b = ess * (1 - probability) + 1, size = (double)n;
    /* 7 digits of Phi(-1) and Phi(1), as ArviZ has them: the same draws must be chosen */
    double low = floor(fmax(ais_beta_quantile(0.1586553, a, b) * size - 1, 0));
    double high = ceil(fmin(ais_beta_quantile(0.8413447, a, b) * size - 1, size - 1));
    double error = NAN;
    if (low >= 0 && high >= low) error = (column.sorted[(size_t)high] - column.sorted[(size_t)low]) / 2;
    ais_column_free(&column);
    return error;
}
