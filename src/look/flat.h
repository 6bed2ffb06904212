/* How far a density is flat: beyond the search region, so that a refusal can say which scale to give. */
#ifndef AIS_LOOK_FLAT_H
#define AIS_LOOK_FLAT_H

#include "look/search.h"

#define AIS_FLAT_RANGE    1e-13 /* log densities that differ by less of their size are the same */
#define AIS_FLAT_FARTHEST 1e100 /* distances that are looked at, in units of the scale */

/* *reach: the scale when log p differs within the region after all; else the distance from 0, the scale times a power
 * of ten, where it has changed by a half; INFINITY when it never does. */
ais_status ais_flat_region(ais_search *search, double *reach);

/* *reach: the distance at which log p has fallen on both sides of a mode, along its widest axis; INFINITY when it never
 * does. */
ais_status ais_flat_axis(ais_search *search, int mode, double *reach);

#endif
