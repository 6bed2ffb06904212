/* The maps as the mathematics has them: one point, scalars, plain loops, no speed. The place to start reading; what
 * runs (henon.c and henon_*_lanes.c, spline_lanes.c and marginal_lanes.c) is tested against it. */
#ifndef AIS_MAP_REFERENCE_H
#define AIS_MAP_REFERENCE_H

#include "map/henon.h"

enum { AIS_REFERENCE_MOST = 256 }; /* of dimensions, hidden units and bins */

/* g or g^-1 of a Henon map at the lattice point (x, y), dim numbers each, in place: math.md (6) and (7). */
void ais_reference_henon(const ais_henon *henon, const ais_real *weights, bool inverse, double *x, double *y);

/* S or S^-1 of a rational-quadratic spline on [-bound, bound], math.md (8) and (10). p: free numbers of `bins` widths,
 * `bins` heights and bins - 1 inner slopes. Adds the log of the derivative to *log_det. */
double ais_reference_spline(int bins, double bound, const double *p, bool inverse, double value, double *log_det);

#endif
