/* Means, variances and quantiles of plain arrays. */
#include <aisampler/diagnostics.h>

#include <math.h>
#include <stdlib.h>

#include "diagnostics/column.h"

double ais_sum(const double *x, size_t n) {
    enum { BLOCK = 128 };
    if (n > BLOCK) {
        size_t left = n / 2 / BLOCK * BLOCK;
        if (left == 0) left = BLOCK;
        return ais_sum(x, left) + ais_sum(x + left, n - left);
    }
    double sum = 0;
    for (size_t i = 0; i < n; i++) sum += x[i];
    return sum;
}

double ais_mean(const double *x, size_t n) {
    if (n == 0) return NAN;
    double mean = ais_sum(x, n) / (double)n, rest = 0;
    if (!isfinite(mean)) return NAN;
    for (size_t i = 0; i < n; i++) rest += x[i] - mean; /* exact for equal values: rest is 0 there */
    return mean + rest / (double)n;
}

double ais_variance(const double *x, size_t n) {
    if (n < 2) return NAN;
    double mean = ais_mean(x, n), squares = 0, rest = 0;
    if (isnan(mean)) return NAN;
    for (size_t i = 0; i < n; i++) {
        double deviation = x[i] - mean;
        squares += deviation * deviation;
        rest += deviation;
    }
    double variance = (squares - rest * rest / (double)n) / (double)(n - 1);
    return variance > 0 ? variance : 0;
}

double ais_sorted_quantile(const double *sorted, size_t n, double probability) {
    double position = (double)(n - 1) * probability, below = floor(position), part = position - below;
    size_t i = (size_t)below;
    if (i + 1 >= n) return sorted[n - 1];
    double low = sorted[i], high = sorted[i + 1], step = high - low;
    return part < 0.5 ? low + step * part : high - step * (1 - part);
}

double ais_sorted_quantile_weighted(const double *sorted, size_t n, double probability) {
    if (n == 1) return sorted[0];
    double place = (double)n * probability + (1 - probability);
    double whole = floor(fmin(fmax(place, 1), (double)(n - 1)));
    double part = fmin(fmax(place - whole, 0), 1);
    size_t k = (size_t)whole;
    return (1 - part) * sorted[k - 1] + part * sorted[k];
}

double ais_quantile(const double *x, size_t n, double probability) {
    if (n == 0 || !(probability >= 0 && probability <= 1)) return NAN;
    for (size_t i = 0; i < n; i++)
        if (isnan(x[i])) return NAN;
    ais_arena arena = {0};
    ais_ordered *order = AIS_TAKE(&arena, ais_ordered, n), *spare = AIS_TAKE(&arena, ais_ordered, n);
    double *sorted = AIS_TAKE(&arena, double, n), quantile = NAN;
    if (order && spare && sorted) {
        ais_order(x, n, order, spare);
        for (size_t i = 0; i < n; i++) sorted[i] = x[order[i].index];
        quantile = ais_sorted_quantile(sorted, n, probability);
    }
    ais_arena_free(&arena);
    return quantile;
}
