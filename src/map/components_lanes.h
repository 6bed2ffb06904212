/* A mixture's arithmetic that takes time. */
#ifndef AIS_MAP_COMPONENTS_LANES_H
#define AIS_MAP_COMPONENTS_LANES_H

#include "simd/isa.h"

struct ais_components;

/* log q at the first `points` of AIS_LANES points; x is dim x AIS_LANES, logq has AIS_LANES places. term, or NULL:
 * points x count, the logarithm of every component's part of q. Beyond a distance of 10^150 all is as it is there. */
AIS_DECLARE_LANES(void, ais_components_tile, const struct ais_components *components, size_t points, const double *x,
                  double *logq, double *term);

/* x = m + far F z of component k. */
AIS_DECLARE_LANES(void, ais_components_place, const struct ais_components *components, int k, double far,
                  const double *z, double *x);

#endif
