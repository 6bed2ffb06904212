#include "look/importance.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/sort.h"

static double mean_log1p(size_t m, const double *x, double theta) {
    double sum = 0;
    for (size_t i = 0; i < m; i++) sum += log1p(-theta * x[i]);
    return sum / (double)m;
}

double ais_pareto_shape(size_t m, const double *excess) {
    if (m < 5 || !(excess[m - 1] > 0)) return m < 5 ? INFINITY : -INFINITY;
    enum { MOST_POINTS = 200 };
    size_t points = 30 + (size_t)sqrt((double)m);
    if (points > MOST_POINTS) points = MOST_POINTS;
    double quartile = excess[(size_t)((double)m / 4 + 0.5) - 1], largest = excess[m - 1];
    if (!(quartile > 0)) quartile = largest * 1e-12;
    double theta[MOST_POINTS], like[MOST_POINTS], top = -INFINITY, sum = 0, best = 0;
    for (size_t j = 0; j < points; j++) {
        theta[j] = 1 / largest + (1 - sqrt((double)points / ((double)j + 0.5))) / (3 * quartile);
        double k = mean_log1p(m, excess, theta[j]);
        like[j] = (double)m * (log(-theta[j] / k) - k - 1);
        if (!isfinite(like[j])) like[j] = -INFINITY;
        top = fmax(top, like[j]);
    }
    for (size_t j = 0; j < points; j++) {
        double weight = exp(like[j] - top);
        sum += weight;
        best += weight * theta[j];
    }
    double k = mean_log1p(m, excess, best / sum);
    return ((double)m * k + 10 * 0.5) / ((double)m + 10);
}

size_t ais_tail_count(size_t n) {
    size_t m = (size_t)fmin((double)n / 5, 3 * sqrt((double)n));
    return m < 5 || m >= n ? 0 : m;
}

/* Of the largest weights; sorted holds the log weights in rising order. */
static double tail_shape(size_t n, double *sorted) {
    size_t m = ais_tail_count(n);
    if (!m) return INFINITY;
    double top = sorted[n - 1], cut = exp(sorted[n - m - 1] - top);
    double *tail = sorted + n - m;
    for (size_t i = 0; i < m; i++) tail[i] = exp(tail[i] - top) - cut;
    return ais_pareto_shape(m, tail);
}

/* math.md (20). */
ais_weighing ais_weigh(size_t n, const double *log_weight, double *room) {
    double top = -INFINITY, sum = 0, squares = 0;
    for (size_t i = 0; i < n; i++) top = fmax(top, log_weight[i]);
    if (top == -INFINITY) return (ais_weighing){0, -INFINITY, INFINITY, INFINITY};
    for (size_t i = 0; i < n; i++) {
        double weight = exp(log_weight[i] - top);
        sum += weight;
        squares += weight * weight;
    }
    ais_weighing result = {.ess = sum * sum / squares, .log_mean = top + log(sum / (double)n)};
    result.log_error = sqrt(fmax(0, 1 / result.ess - 1 / (double)n));
    memcpy(room, log_weight, n * sizeof *room);
    qsort(room, n, sizeof *room, ais_rising);
    result.pareto_k = tail_shape(n, room);
    return result;
}

void ais_systematic(size_t n, const double *log_weight, double shift, size_t count, size_t *index) {
    double top = -INFINITY, sum = 0, reached = 0;
    for (size_t i = 0; i < n; i++) top = fmax(top, log_weight[i]);
    for (size_t i = 0; i < n; i++) sum += top > -INFINITY ? exp(log_weight[i] - top) : 1;
    size_t taken = 0, last = 0;
    for (size_t i = 0; i < n && taken < count; i++) {
        double weight = top > -INFINITY ? exp(log_weight[i] - top) : 1;
        if (weight > 0) last = i;
        reached += weight;
        while (taken < count && ((double)taken + shift) * sum < reached * (double)count) index[taken++] = i;
    }
    while (taken < count) index[taken++] = last; /* rounding at the end of the sum */
}
