/* Effective sample sizes: Geyer's initial monotone sequence on split chains. */
#include <aisampler/diagnostics.h>

#include <float.h>
#include <math.h>

#include "base/status.h"
#include "diagnostics/column.h"
#include "diagnostics/worst.h"

/* The half chains less their means into column->centred; the variance between their means is returned. */
static double centre(ais_column *column, const double *split) {
    size_t half = (size_t)column->half, halves = 2 * (size_t)column->chains;
    double first = ais_mean(split, half), sum = 0, squares = 0;
    for (size_t h = 0; h < halves; h++) {
        const double *x = split + h * half;
        double mean = ais_mean(x, half), *centred = column->centred + h * half;
        for (size_t t = 0; t < half; t++) centred[t] = x[t] - mean;
        sum += mean - first;
        squares += (mean - first) * (mean - first);
    }
    double between = (squares - sum * sum / (double)halves) / (double)(halves - 1);
    return between > 0 ? between : 0;
}

/* All autocovariances averaged over the half chains into column->lag. Only the mean is needed, so the power spectra are
 * added up and go back together. */
static void all_lags(ais_column *column) {
    size_t half = (size_t)column->half, halves = 2 * (size_t)column->chains, bins = column->fft.length / 2 + 1;
    double *power = column->power, *re = column->re, *im = column->im;
    for (size_t k = 0; k < bins; k++) power[k] = 0;
    for (size_t h = 0; h < halves; h++) {
        ais_fft_forward(&column->fft, column->centred + h * half, half, re, im);
        for (size_t k = 0; k < bins; k++) power[k] += re[k] * re[k] + im[k] * im[k];
    }
    for (size_t k = 0; k < bins; k++) im[k] = 0;
    ais_fft_inverse(&column->fft, power, im, column->lag, half);
    for (size_t t = 0; t < half; t++) column->lag[t] /= (double)half * (double)halves;
}

enum { TOGETHER = 16 }; /* lags */

/* Autocovariances `from` to `from` + TOGETHER by their definition. */
static void some_lags(ais_column *column, size_t from) {
    size_t half = (size_t)column->half, halves = 2 * (size_t)column->chains, whole = half - from - TOGETHER;
    double sum[TOGETHER] = {0};
    for (size_t h = 0; h < halves; h++) {
        const double *x = column->centred + h * half;
        double part[TOGETHER] = {0};
        for (size_t t = 0; t < whole; t++)
            for (size_t k = 0; k < TOGETHER; k++) part[k] += x[t] * x[t + from + k];
        for (size_t t = whole; t + from < half; t++)
            for (size_t k = 0; k < TOGETHER && t + from + k < half; k++) part[k] += x[t] * x[t + from + k];
        for (size_t k = 0; k < TOGETHER; k++) sum[k] += part[k];
    }
    for (size_t k = 0; k < TOGETHER; k++) column->lag[from + k] = sum[k] / ((double)half * (double)halves);
}

/* Autocorrelations from..to in place of the autocovariances that column->lag has; autocovariance: the one at lag 0. */
static void correlate(ais_column *column, double autocovariance, double between, int from, int to) {
    int half = column->half;
    double within = autocovariance * half / (half - 1.0), total = autocovariance + between, *lag = column->lag;
    for (int t = from; t < to; t++) lag[t] = 1 - (within - lag[t]) / total;
    if (from == 0) lag[0] = 1;
}

/* Autocorrelations into column->lag, to the first pair that is not positive: there Geyer's sequence ends, and nothing
 * looks further. Chains that mix need a few, which by their definition take a fraction of what Fourier transforms of
 * whole chains do; where the decay so far does not suggest an end within MOST_DIRECT lags, those are made at once. */
static void autocorrelations(ais_column *column, double between) {
    enum { MOST_DIRECT = 48 };
    int half = column->half, known = 0, pair = 2;
    double autocovariance = 0, noise = 1 / sqrt((double)column->split_n), *lag = column->lag;
    while (known < MOST_DIRECT && 2 * (known + TOGETHER) <= half) {
        some_lags(column, (size_t)known);
        if (known == 0) autocovariance = lag[0];
        correlate(column, autocovariance, between, known, known + TOGETHER);
        known += TOGETHER;
        for (; pair + 1 < known; pair += 2)
            if (!(lag[pair] + lag[pair + 1] > 0)) return;
        if (pow((lag[known - 2] + lag[known - 1]) / 2, (double)MOST_DIRECT / known) > noise) break;
    }
    all_lags(column);
    correlate(column, lag[0], between, 0, half);
}

/* The integrated autocorrelation time from autocorrelations rho[0..n) whose values past the last
 * pair are replaced as Geyer requires: pairs rho_{2k} + rho_{2k+1} stay positive and do not grow. */
static double monotone_time(double *rho, int n) {
    double even = 1, odd = rho[1];
    int t = 1;
    while (t < n - 3 && even + odd > 0) {
        even = rho[t + 1];
        odd = rho[t + 2];
        t += 2;
    }
    int last = t - 2; /* -1 if there is no whole pair */
    double tail = even > 0 || even + odd >= 0 ? even : 0;
    for (int s = 1; s <= last - 2; s += 2) {
        if (rho[s + 1] + rho[s + 2] > rho[s - 1] + rho[s]) {
            rho[s + 1] = (rho[s - 1] + rho[s]) / 2;
            rho[s + 2] = rho[s + 1];
        }
    }
    double sum = 0;
    for (int s = 0; s <= last; s++) sum += rho[s];
    return 2 * sum - 1 + tail;
}

/* math.md (26), with values that differ by no more than tolerance taken as equal. */
double ais_column_ess_tolerant(ais_column *column, const double *split, double tolerance) {
    double low = INFINITY, high = -INFINITY, size = (double)column->split_n;
    for (size_t i = 0; i < column->split_n; i++) {
        if (!isfinite(split[i])) return NAN;
        if (split[i] < low) low = split[i];
        if (split[i] > high) high = split[i];
    }
    if (high - low <= tolerance) return size;
    double *rho = column->lag;
    autocorrelations(column, centre(column, split));
    if (isnan(rho[1])) return NAN;                                         /* squares overflowed */
    return size / fmax(monotone_time(rho, column->half), 1 / log10(size)); /* antithetic chains: at most n log10 n */
}

double ais_column_ess(ais_column *column, const double *split) { return ais_column_ess_tolerant(column, split, 0); }

/* other: the scores of split. */
static double bulk_of_scores(ais_column *column, double *rhat) {
    double ess = ais_column_ess(column, column->other);
    if (rhat) {
        double bulk = ais_column_rhat(column, column->other);
        ais_column_normalise_folded(column, column->split, column->other);
        double folded = ais_column_rhat(column, column->other);
        *rhat = folded > bulk ? folded : bulk;
    }
    return ess;
}

double ais_column_bulk(ais_column *column, const double *x, double *rhat) {
    ais_column_split(column, x, column->split);
    ais_column_normalise(column, column->split, column->other);
    return bulk_of_scores(column, rhat);
}

double ais_column_bulk_sorted(ais_column *column, const double *x, double *rhat) {
    if (column->split_n != column->n) return ais_column_bulk(column, x, rhat); /* a draw of each chain is left out */
    ais_column_split(column, x, column->split);
    ais_column_score(column, column->other);
    return bulk_of_scores(column, rhat);
}

double ais_column_bulk_square(ais_column *column) {
    ais_column_normalise_square(column, column->split, column->other);
    return ais_column_ess(column, column->other);
}

double ais_column_ess_quantile(ais_column *column, const double *x, double probability) {
    double bound = ais_sorted_quantile_weighted(column->sorted, column->n, probability);
    ais_column_split_below(column, x, bound, column->split);
    return ais_column_ess(column, column->split);
}

double ais_column_ess_sd(ais_column *column, const double *x) {
    double mean = ais_mean(x, column->n), largest = 0, farthest = 0;
    for (size_t i = 0; i < column->n; i++) {
        double deviation = x[i] - mean;
        column->function[i] = deviation * deviation;
        largest = fmax(largest, fabs(x[i]));
        farthest = fmax(farthest, fabs(deviation));
    }
    ais_column_split(column, column->function, column->split);
    /* Two values with equal shares have one (x - mean)^2, up to rounding. */
    return ais_column_ess_tolerant(column, column->split, 16 * DBL_EPSILON * largest * farthest);
}

/* ---- the public, one-quantity forms ---- */

static bool prepare(ais_column *column, const double *x, int chains, int draws) {
    return chains >= 1 && draws >= 4 && ais_column_usable(x, (size_t)chains * (size_t)draws) &&
           ais_column_init(column, chains, draws);
}

double ais_ess_bulk(const double *x, int chains, int draws) {
    ais_column column;
    if (!prepare(&column, x, chains, draws)) return NAN;
    double ess = ais_column_bulk(&column, x, NULL);
    ais_column_free(&column);
    return ess;
}

double ais_ess_mean(const double *x, int chains, int draws) {
    ais_column column;
    if (!prepare(&column, x, chains, draws)) return NAN;
    ais_column_split(&column, x, column.split);
    double ess = ais_column_ess(&column, column.split);
    ais_column_free(&column);
    return ess;
}

double ais_ess_sd(const double *x, int chains, int draws) {
    ais_column column;
    if (!prepare(&column, x, chains, draws)) return NAN;
    double ess = ais_column_ess_sd(&column, x);
    ais_column_free(&column);
    return ess;
}

double ais_ess_quantile(const double *x, int chains, int draws, double probability) {
    ais_column column;
    if (!(probability >= 0 && probability <= 1) || !prepare(&column, x, chains, draws)) return NAN;
    ais_column_sort(&column, x);
    double ess = ais_column_ess_quantile(&column, x, probability);
    ais_column_free(&column);
    return ess;
}

double ais_ess_tail(const double *x, int chains, int draws) {
    ais_column column;
    if (!prepare(&column, x, chains, draws)) return NAN;
    double ess = ais_column_tail(&column, x);
    ais_column_free(&column);
    return ess;
}

ais_status ais_autocovariance(ais_context *context, const double *x, int draws, double *autocovariance) {
    if (draws < 1)
        return ais_fail(context, AIS_BAD_ARGUMENT, "an autocovariance needs 1 draw or more, but got %d", draws);
    size_t n = (size_t)draws, length = ais_fft_length(2 * n), bins = length / 2 + 1;
    ais_fft fft = {0};
    ais_arena arena = {0};
    double *re = AIS_TAKE(&arena, double, bins), *im = AIS_TAKE(&arena, double, bins);
    if (!re || !im || !ais_fft_init(&fft, length)) {
        ais_arena_free(&arena);
        return ais_fail_memory(context, "an autocovariance", 8 * length * sizeof(double));
    }
    double mean = ais_sum(x, n) / (double)draws;
    for (int t = 0; t < draws; t++) autocovariance[t] = x[t] - mean;
    ais_fft_forward(&fft, autocovariance, n, re, im);
    for (size_t k = 0; k < bins; k++) {
        re[k] = re[k] * re[k] + im[k] * im[k];
        im[k] = 0;
    }
    ais_fft_inverse(&fft, re, im, autocovariance, n);
    for (int t = 0; t < draws; t++) autocovariance[t] /= draws;
    ais_fft_free(&fft);
    ais_arena_free(&arena);
    return AIS_OK;
}
