/* Sorting, and ranks with ties. */
#ifndef AIS_DIAGNOSTICS_ORDER_H
#define AIS_DIAGNOSTICS_ORDER_H

#include <stddef.h>
#include <stdint.h>

/* A value in a form that sorts as an unsigned integer, and where it stood. */
typedef struct ais_ordered {
    uint64_t key;
    size_t index;
} ais_ordered;

/* Sorts x[0..n), which holds no NaN, upward, into order[0..n); spare: room for n more. Equal
 * values (0 and -0 too) have equal keys and keep their order. */
void ais_order(const double *x, size_t n, ais_ordered *order, ais_ordered *spare);

#endif
