#include "report/bins.h"

#include <math.h>
#include <stdlib.h>

#include "base/arena.h"
#include "base/sort.h"
#include "diagnostics/column.h"
#include "diagnostics/order.h"
#include "report/ticks.h"

size_t ais_sort_finite(const double *x, size_t n, double *sorted) {
    size_t finite = 0;
    for (size_t i = 0; i < n; i++)
        if (isfinite(x[i])) sorted[finite++] = x[i];
    qsort(sorted, finite, sizeof *sorted, ais_rising);
    return finite;
}

double ais_narrow_spread(const double *sorted, size_t n) {
    double narrowest = INFINITY;
    for (int k = 0; k <= 19; k++) {
        double low = ais_sorted_quantile(sorted, n, k * 0.05), high = ais_sorted_quantile(sorted, n, (k + 1) * 0.05);
        narrowest = fmin(narrowest, high - low);
    }
    return narrowest / 0.1254; /* the middle twentieth of a normal is 0.1254 sd wide */
}

ais_bins ais_bins_choose(const double *sorted, size_t n) {
    ais_bins bins = {.low = NAN, .high = NAN, .count = 1, .finite = n};
    if (n > 0) {
        double first = sorted[0], last = sorted[n - 1];
        double low = ais_sorted_quantile(sorted, n, 0.001), high = ais_sorted_quantile(sorted, n, 0.999);
        double room = n > 1000 ? 0.15 * (high - low) : INFINITY;
        bins.low = fmax(first, low - room);
        bins.high = fmin(last, high + room);
        double width = 2 * 1.349 * ais_narrow_spread(sorted, n) / cbrt((double)n),
               wanted = width > 0 ? (bins.high - bins.low) / width : 20;
        bins.count = (int)fmin(fmax(ceil(wanted), 10), AIS_MOST_BINS);
    }
    ais_ticks_range(&bins.low, &bins.high, false);
    for (size_t i = 0; i < n; i++) bins.outside += sorted[i] < bins.low || sorted[i] > bins.high;
    return bins;
}

void ais_bins_edges(const ais_bins *bins, double *edge) {
    for (int i = 0; i <= bins->count; i++) edge[i] = bins->low + (bins->high - bins->low) * ((double)i / bins->count);
}

void ais_bins_density(const ais_bins *bins, const double *x, size_t n, double *height) {
    double width = (bins->high - bins->low) / bins->count;
    size_t finite = 0;
    for (int i = 0; i < bins->count; i++) height[i] = 0;
    for (size_t i = 0; i < n; i++) {
        if (!isfinite(x[i])) continue;
        finite++;
        if (x[i] < bins->low || x[i] > bins->high) continue;
        int at = (int)((x[i] - bins->low) / (bins->high - bins->low) * bins->count);
        height[at < bins->count ? at : bins->count - 1] += 1;
    }
    for (int i = 0; i < bins->count; i++) height[i] = finite ? height[i] / ((double)finite * width) : 0;
}

int ais_rank_all(const double *x, size_t n, double *rank) {
    ais_ordered *order = ais_allocate((2 * n + 1) * sizeof *order);
    double *finite = ais_allocate((n + 1) * sizeof *finite);
    size_t *from = ais_allocate((n + 1) * sizeof *from), count = 0;
    int there = order && finite && from;
    for (size_t i = 0; there && i < n; i++) {
        rank[i] = NAN;
        if (!isfinite(x[i])) continue;
        finite[count] = x[i];
        from[count++] = i;
    }
    if (there && count) ais_order(finite, count, order, order + n);
    for (size_t i = 0; there && i < count;) {
        size_t end = i + 1;
        while (end < count && order[end].key == order[i].key) end++;
        double middle = 0.5 * (double)(i + end - 1);
        for (size_t k = i; k < end; k++) rank[from[order[k].index]] = middle / (double)count;
        i = end;
    }
    free(order);
    free(finite);
    free(from);
    return there;
}

/* The least and the largest of a stretch, in their order; what is not finite makes a gap. */
static size_t extremes(const double *x, size_t first, size_t end, double *place, double *value) {
    size_t least = end, most = end;
    for (size_t i = first; i < end; i++) {
        if (!isfinite(x[i])) continue;
        if (least == end || x[i] < x[least]) least = i;
        if (most == end || x[i] > x[most]) most = i;
    }
    if (least == end) {
        place[0] = (double)first;
        value[0] = NAN;
        return 1;
    }
    size_t one = least < most ? least : most, other = least < most ? most : least;
    place[0] = (double)one;
    value[0] = x[one];
    if (one == other) return 1;
    place[1] = (double)other;
    value[1] = x[other];
    return 2;
}

size_t ais_envelope(const double *x, size_t n, size_t most, double *place, double *value) {
    size_t stretches = n <= most ? n : most / 2, points = 0;
    for (size_t k = 0; k < stretches; k++)
        points +=
            extremes(x, n / stretches * k + n % stretches * k / stretches,
                     n / stretches * (k + 1) + n % stretches * (k + 1) / stretches, place + points, value + points);
    return points;
}
