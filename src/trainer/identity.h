/* What makes two trainings the same: library, target, options and seed. */
#ifndef AIS_TRAINER_IDENTITY_H
#define AIS_TRAINER_IDENTITY_H

#include <aisampler/trainer.h>

/* Lines "key value", released by free(); NULL when memory is out. Threads, the time limit and whatever else cannot
 * change the result of a finished training are left out. */
char *ais_training_identity(const ais_target *target, const ais_train_options *options);

#endif
