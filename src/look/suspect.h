/* Densities that no sampler can handle, detected before time is spent on them. */
#ifndef AIS_LOOK_SUSPECT_H
#define AIS_LOOK_SUSPECT_H

#include "look/search.h"

/* Errors: the log density is the same everywhere, rises without end away from 0, does not fall along
 * some direction, or has a pole too strong to be integrated. A weaker pole is a warning, appended to
 * text (size bytes). To be called after ais_search_begin. */
ais_status ais_suspect(ais_search *search, char *text, size_t size);

#endif
