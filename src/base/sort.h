/* Comparisons of doubles for qsort, and selection without sorting. */
#ifndef AIS_BASE_SORT_H
#define AIS_BASE_SORT_H

#include <stdlib.h>

static inline int ais_rising(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static inline int ais_falling(const void *a, const void *b) { return ais_rising(b, a); }

/* The number that x[k] would be if x were sorted, in n steps or so. Moves x: what comes before k is no larger, what
 * comes after it no smaller. No NaNs. */
double ais_select(size_t n, double *x, size_t k);

#endif
