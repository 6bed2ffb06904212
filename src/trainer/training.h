/* The record of a training, and what every training keeps of itself in its checkpoint. */
#ifndef AIS_TRAINER_TRAINING_H
#define AIS_TRAINER_TRAINING_H

#include <aisampler/trainer.h>

#include "checkpoint/checkpoint.h"

/* Opens the checkpoint that the options name. */
ais_status ais_training_checkpoint(ais_context *context, const ais_target *target, const ais_train_options *options,
                                   ais_checkpoint **checkpoint);

/* The same for any training. identity (NULL: memory is out) is released; seconds as for ais_checkpoint_open; of ranks
 * all read and the first writes. */
ais_status ais_training_open(ais_context *context, const char *path, char *identity, bool resume, double seconds,
                             bool writes, ais_checkpoint **checkpoint);

enum { AIS_MOST_POINTS = 4096 }; /* that the curve has room for */

/* Reports progress, with seconds and what is left of the stage filled in; with `point` the curve gets one. Both times
 * by ais_now(). */
void ais_training_tell(ais_training *training, double began, double stage_began, ais_train_progress progress,
                       bool point, void (*tell)(const ais_train_progress *, void *), void *data);

/* All of the record but its population. */
void ais_training_exchange(ais_checkpoint *checkpoint, ais_training *training);

/* The whole record of a training that is over, or of none (NULL); on reading *training is made. Its discriminator is
 * left out. */
void ais_training_exchange_whole(ais_checkpoint *checkpoint, int dim, ais_training **training);

/* began: when training began by ais_now(); on reading so that the seconds before the interruption count. */
void ais_began_exchange(ais_checkpoint *checkpoint, double *began);

#endif
