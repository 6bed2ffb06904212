/* A mixture in a checkpoint. */
#ifndef AIS_CHECKPOINT_COMPONENTS_H
#define AIS_CHECKPOINT_COMPONENTS_H

#include "checkpoint/checkpoint.h"
#include "map/components.h"

/* Fields NAME.factor, NAME.mean and so on: all that was computed, since an inverse computed again would round
 * otherwise. On reading, components of this dimension are taken from the arena; none when there were none. */
void ais_components_exchange(ais_checkpoint *checkpoint, const char *name, int dim, ais_components *components,
                             ais_arena *arena);

#endif
