#include "diagnostics/column.h"

#include <math.h>
#include <string.h>

#include <aisampler/diagnostics.h>

#include "base/special.h"

bool ais_column_init(ais_column *column, int chains, int draws) {
    size_t half = (size_t)(draws / 2), n = (size_t)chains * (size_t)draws, split_n = 2 * (size_t)chains * half;
    *column = (ais_column){.chains = chains, .draws = draws, .half = draws / 2, .n = n, .split_n = split_n};
    ais_arena *arena = &column->arena;
    size_t length = ais_fft_length(2 * half);
    column->split = AIS_TAKE(arena, double, split_n);
    column->other = AIS_TAKE(arena, double, split_n);
    column->function = AIS_TAKE(arena, double, n);
    column->sorted = AIS_TAKE(arena, double, n);
    column->score = AIS_TAKE(arena, double, split_n);
    column->order = AIS_TAKE(arena, ais_ordered, n);
    column->spare = AIS_TAKE(arena, ais_ordered, n);
    column->lag = AIS_TAKE(arena, double, half);
    column->centred = AIS_TAKE(arena, double, split_n);
    column->re = AIS_TAKE(arena, double, length / 2 + 1);
    column->im = AIS_TAKE(arena, double, length / 2 + 1);
    column->power = AIS_TAKE(arena, double, length / 2 + 1);
    bool complete = column->split && column->other && column->function && column->sorted && column->score &&
                    column->order && column->spare && column->lag && column->centred && column->re && column->im &&
                    column->power && ais_fft_init(&column->fft, length);
    if (!complete) {
        ais_column_free(column);
        return false;
    }
    for (size_t r = 0; r < split_n; r++)
        column->score[r] = ais_normal_quantile(((double)(r + 1) - 0.375) / ((double)split_n + 0.25));
    return true;
}

void ais_column_free(ais_column *column) {
    ais_fft_free(&column->fft);
    ais_arena_free(&column->arena);
}

bool ais_column_usable(const double *x, size_t n) {
    bool differ = false;
    for (size_t i = 0; i < n; i++) {
        if (!isfinite(x[i])) return false;
        differ |= x[i] != x[0];
    }
    return differ;
}

void ais_column_sort(ais_column *column, const double *x) {
    ais_order(x, column->n, column->order, column->spare);
    for (size_t i = 0; i < column->n; i++) column->sorted[i] = x[column->order[i].index];
}

/* Where half chain h starts in a chains x draws array. */
static size_t start_of(const ais_column *column, int h) {
    size_t chain = (size_t)(h / 2) * (size_t)column->draws;
    return h % 2 ? chain + (size_t)(column->draws - column->half) : chain;
}

void ais_column_split(const ais_column *column, const double *x, double *split) {
    for (int h = 0; h < 2 * column->chains; h++) {
        const double *from = x + start_of(column, h);
        double *to = split + (size_t)h * (size_t)column->half;
        for (int t = 0; t < column->half; t++) to[t] = from[t];
    }
}

void ais_column_split_below(const ais_column *column, const double *x, double bound, double *split) {
    for (int h = 0; h < 2 * column->chains; h++) {
        const double *from = x + start_of(column, h);
        double *to = split + (size_t)h * (size_t)column->half;
        for (int t = 0; t < column->half; t++) to[t] = from[t] <= bound;
    }
}

static void score(const ais_column *column, const ais_ordered *order, double *scores) {
    size_t n = column->split_n;
    for (size_t first = 0, next; first < n; first = next) {
        for (next = first + 1; next < n && order[next].key == order[first].key;) next++;
        double score = column->score[first];
        if (next > first + 1) { /* ranks first + 1 .. next share their mean */
            double rank = 0.5 * (double)(first + 1 + next);
            score = ais_normal_quantile((rank - 0.375) / ((double)n + 0.25));
        }
        for (size_t i = first; i < next; i++) scores[order[i].index] = score;
    }
}

void ais_column_score(const ais_column *column, double *scores) { score(column, column->order, scores); }

void ais_column_normalise(ais_column *column, const double *split, double *scores) {
    ais_order(split, column->split_n, column->order, column->spare);
    score(column, column->order, scores);
}

/* The key of a number that is not negative: its bits sort as it does. */
static uint64_t key_of(double distance) {
    uint64_t key;
    memcpy(&key, &distance, sizeof key);
    return key;
}

/* Distances from the centre rise to both sides of it: two sorted sequences become one, in column->spare. */
static void order_by_distance(ais_column *column, const double *split, double centre, bool square) {
    size_t n = column->split_n, above = 0;
    const ais_ordered *order = column->order;
    while (above < n && split[order[above].index] < centre) above++;
    for (size_t below = above, at = 0; at < n; at++) {
        double left = below > 0 ? centre - split[order[below - 1].index] : INFINITY;
        double right = above < n ? split[order[above].index] - centre : INFINITY;
        bool lower = below > 0 && (above == n || left < right);
        double distance = (lower ? left : right) + 0.0; /* -0 becomes 0 */
        column->spare[at].key = key_of(square ? distance * distance : distance);
        column->spare[at].index = order[lower ? --below : above++].index;
    }
}

void ais_column_normalise_folded(ais_column *column, const double *split, double *scores) {
    size_t n = column->split_n; /* even */
    double median = (split[column->order[n / 2 - 1].index] + split[column->order[n / 2].index]) / 2;
    order_by_distance(column, split, median, false);
    score(column, column->spare, scores);
}

void ais_column_normalise_square(ais_column *column, const double *split, double *scores) {
    order_by_distance(column, split, 0, true);
    score(column, column->spare, scores);
}

/* math.md (25). */
double ais_column_rhat(const ais_column *column, const double *split) {
    size_t half = (size_t)column->half, halves = 2 * (size_t)column->chains;
    double within = 0, mean_of_means = 0, spread = 0;
    for (size_t h = 0; h < halves; h++) {
        within += ais_variance(split + h * half, half) / (double)halves;
        mean_of_means += ais_mean(split + h * half, half) / (double)halves;
    }
    for (size_t h = 0; h < halves; h++) {
        double deviation = ais_mean(split + h * half, half) - mean_of_means;
        spread += deviation * deviation / (double)(halves - 1);
    }
    return sqrt(((double)half * spread / within + (double)half - 1) / (double)half);
}
