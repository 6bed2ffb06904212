/* The state of Adam in a checkpoint. */
#ifndef AIS_CHECKPOINT_ADAM_H
#define AIS_CHECKPOINT_ADAM_H

#include "checkpoint/checkpoint.h"
#include "nn/adam.h"

/* Fields NAME.step, NAME.scale and so on. */
void ais_adam_exchange(ais_checkpoint *checkpoint, const char *name, ais_adam *adam);

#endif
