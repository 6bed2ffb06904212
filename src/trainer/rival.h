/* Is a classical kernel better than the learned one? */
#ifndef AIS_TRAINER_RIVAL_H
#define AIS_TRAINER_RIVAL_H

#include <aisampler/trainer.h>

#include "explore/population.h"

/* Short runs of NUTS (with a gradient) and of the random walk from members of the population, against the kernel, in
 * worst ESS per second of one thread. Fills training's rival fields. */
ais_status ais_compare_rivals(ais_context *context, const ais_population *population, const ais_kernel *kernel,
                              uint64_t seed, ais_training *training);

#endif
