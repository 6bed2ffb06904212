/* What makes two trainings the same: library, target, options and seed. */
#ifndef AIS_TRAINER_IDENTITY_H
#define AIS_TRAINER_IDENTITY_H

#include <stdbool.h>
#include <stdio.h>

#include <aisampler/trainer.h>

enum { AIS_IDENTITY_POINTS = 4 }; /* at which a density is evaluated, to be recognised */

/* Lines "key value", released by free(); NULL when memory is out. Budgets are among them: they
 * decide when learning ends. Threads and whatever else cannot change the result are left out. */
char *ais_training_identity(const ais_target *target, const ais_train_options *options);

/* The lines that every job has: library, target, seed; the same with the density at a few points; and those of how a
 * kernel is learned. False when memory is out. */
void ais_identity_target(FILE *file, const ais_target *target, uint64_t seed);
bool ais_identity_begin(FILE *file, const ais_target *target, uint64_t seed);
void ais_identity_learning(FILE *file, const ais_train_options *options);

uint64_t ais_sum_of_draws(const ais_draws *draws);

#endif
