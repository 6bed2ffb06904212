/* A box, and points that lie evenly in it. */
#ifndef AIS_LOOK_BOX_H
#define AIS_LOOK_BOX_H

#include <stddef.h>
#include <stdint.h>

typedef struct ais_box {
    double *low, *high; /* dim */
} ais_box;

/* n points (rows of x), a pure function of (seed, step): a lattice that is nowhere dense nor sparse, shifted at random,
 * so that every point alone is uniform in the box. */
void ais_box_points(const ais_box *box, uint64_t seed, uint64_t step, size_t n, int dim, double *x);

/* The log density of such a point: -infinity outside. */
double ais_box_logq(const ais_box *box, int dim, const double *x);

#endif
