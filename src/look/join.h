/* Which modes are one: places along a ridge, or of a density that is flat on top. */
#ifndef AIS_LOOK_JOIN_H
#define AIS_LOOK_JOIN_H

#include "look/evaluate.h"
#include "look/modes.h"

/* The number of groups of modes that no valley of log p divides; group[k] for every mode. */
ais_status ais_join_modes(ais_evaluator *evaluator, const ais_modes *modes, int *group, int *groups);

#endif
