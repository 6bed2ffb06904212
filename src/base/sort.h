/* Comparisons of doubles for qsort. */
#ifndef AIS_BASE_SORT_H
#define AIS_BASE_SORT_H

#include <stdlib.h>

static inline int ais_rising(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static inline int ais_falling(const void *a, const void *b) { return ais_rising(b, a); }

#endif
