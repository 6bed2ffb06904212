/* Henon maps on the lattice in one or two dimensions with V of one hidden layer: the sampler's hottest
 * loop. Nothing is stored between V's layers: unit by unit, h = act(w x + b) is made for several
 * vectors of chains, which share the broadcast weights, and added to the output at once.
 *
 * V's sum over hidden units is taken one unit after the other for many chains, and for a single one, where vectors hold
 * eight floats or more, as eight partial sums (units k, k + 8, ..., the first of them from V's bias on), added as
 * ((0+2)+(1+3)) + ((4+6)+(5+7)). The two differ by rounding: there is no order that is fast for both. */
#ifndef AIS_MAP_HENON_SMALL_LANES_H
#define AIS_MAP_HENON_SMALL_LANES_H

#include "map/henon.h"

/* From x and y, dim x lanes each, to z, 2 dim x lanes, which may hold them. */
AIS_DECLARE_LANES(void, ais_henon_many, const ais_henon_small *map, ais_henon_direction direction, size_t lanes,
                  const double *x, const double *y, double *z);

/* A whole proposal of lane 0: v (dim) is put on the lattice, z = M(u, v), x = mean + factor u'. Returns
 * 1/2 |v|^2 - 1/2 |v'|^2. Coordinates are `lanes` apart. */
typedef struct ais_alone_call {
    ais_henon_small map;
    ais_henon_direction direction;
    size_t lanes;
    const double *mean, *factor, *u;
    double *v, *z, *x;
} ais_alone_call;
AIS_DECLARE_LANES(double, ais_henon_alone_propose, const ais_alone_call *call);

#endif
