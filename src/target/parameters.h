/* Densities of parameters with priors and bounds, as densities of x on the whole of space. */
#ifndef AIS_TARGET_PARAMETERS_H
#define AIS_TARGET_PARAMETERS_H

#include "base/arena.h"
#include "target/parameter_kinds.h"

/* Puts the parameters around *target, in place; all memory is the arena's. */
ais_status ais_parameters_put(ais_context *context, const ais_parameter *parameters, int count, ais_arena *arena,
                              ais_target *target);

#endif
