/* Running mean and (co)variance of points (Welford 1962). */
#ifndef AIS_CLASSICAL_WELFORD_H
#define AIS_CLASSICAL_WELFORD_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/record.h"

typedef struct ais_welford {
    int dim;
    bool dense;
    uint64_t count;
    double *mean;   /* dim */
    double *before; /* dim: x - mean before x was added */
    double *moment; /* sums of (products of) deviations: dim, or dim x dim of which the lower half is kept */
} ais_welford;

/* false when memory is out. */
bool ais_welford_take(ais_welford *welford, ais_arena *arena, int dim, bool dense);

void ais_welford_restart(ais_welford *welford);
void ais_welford_persist(ais_welford *welford, ais_record *record);
void ais_welford_add(ais_welford *welford, const double *x);

/* The sample (co)variance, drawn towards 1e-3 times the identity as 5 more draws of it would, as Stan
 * does: dim values, or dim x dim. Wants two draws or more. */
void ais_welford_regularised(const ais_welford *welford, double *variance);

#endif
