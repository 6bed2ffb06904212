/* Modes that differ from a known one in a single coordinate: a sign, the other image of an angle. */
#ifndef AIS_LOOK_LINES_H
#define AIS_LOOK_LINES_H

#include "look/search.h"

/* Points along every coordinate through the relevant modes, and optimisations from the summits that a valley divides
 * from the mode. Points of a plane miss such a mode where other coordinates are known well. */
ais_status ais_search_lines(ais_search *search);

#endif
