#include "judge/weights.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/sort.h"

/* Sorted log weights with, for every k, the sum of the weights of those below. */
typedef struct table {
    size_t n;
    const double *sorted;
    const double *below; /* n + 1; in units of the largest weight */
    double top;
} table;

/* The mean of min(1, w' / w) over the table. */
static double leaving(const table *of, double log_weight) {
    size_t low = 0, high = of->n; /* the first that is not below */
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (of->sorted[middle] < log_weight)
            low = middle + 1;
        else
            high = middle;
    }
    double moved = (double)(of->n - low);
    if (low > 0) moved += of->below[low] * exp(of->top - log_weight);
    return fmin(moved / (double)of->n, 1);
}

typedef struct sums {
    double weight, acceptance, time;
} sums;

static void add(const table *of, double log_weight, double weight, sums *to) {
    double a = leaving(of, log_weight);
    if (!(a > 0) || !(weight > 0)) return;
    to->weight += weight;
    to->acceptance += weight * a;
    to->time += weight * (2 / a - 1);
}

ais_verdict ais_judge_weights(size_t n, const double *log_weight, size_t many, const double *given) {
    ais_verdict verdict = {0};
    double *sorted = malloc((3 * n + 2) * sizeof *sorted);
    if (!sorted || n < 2) {
        free(sorted);
        return verdict;
    }
    double *below = sorted + n;
    verdict.weighing = ais_weigh(n, log_weight, below);
    memcpy(sorted, log_weight, n * sizeof *sorted);
    qsort(sorted, n, sizeof *sorted, ais_rising);
    table of = {n, sorted, below, sorted[n - 1]};
    if (!(of.top > -INFINITY)) {
        free(sorted);
        return verdict;
    }
    below[0] = 0;
    for (size_t i = 0; i < n; i++) below[i + 1] = below[i] + exp(sorted[i] - of.top);
    sums own = {0}, others = {0};
    for (size_t i = 0; i < n; i++) add(&of, sorted[i], exp(sorted[i] - of.top), &own);
    for (size_t i = 0; i < many; i++)
        if (given[i] < INFINITY) add(&of, given[i], 1, &others);
    verdict.largest = (double)n / below[n];
    verdict.efficiency = own.weight / own.time;
    verdict.acceptance = own.acceptance / own.weight;
    if (others.weight > 0 && others.weight / others.time < verdict.efficiency) {
        verdict.efficiency = others.weight / others.time;
        verdict.acceptance = fmin(verdict.acceptance, others.acceptance / others.weight);
    }
    free(sorted);
    return verdict;
}
