/* The record of a training, and what every training keeps of itself in its checkpoint. */
#ifndef AIS_TRAINER_TRAINING_H
#define AIS_TRAINER_TRAINING_H

#include <aisampler/trainer.h>

#include "nn/adam.h"
#include "trainer/checkpoint.h"

/* Opens the checkpoint that the options ask for. */
ais_status ais_training_checkpoint(ais_context *context, const ais_target *target, const ais_train_options *options,
                                   ais_checkpoint **checkpoint);

/* All of the record but its population; `point` has room for `most` points. */
void ais_training_exchange(ais_checkpoint *checkpoint, ais_training *training, int most);

/* began: when training began by ais_now(); on reading so that the seconds before the interruption count. */
void ais_began_exchange(ais_checkpoint *checkpoint, double *began);

/* Fields NAME.step, NAME.scale and so on. */
void ais_adam_exchange(ais_checkpoint *checkpoint, const char *name, ais_adam *adam);

#endif
