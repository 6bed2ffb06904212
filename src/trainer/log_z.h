/* The normalising constant by importance sampling with a trained flow. */
#ifndef AIS_TRAINER_LOG_Z_H
#define AIS_TRAINER_LOG_Z_H

#include <aisampler/trainer.h>

#include "base/pool.h"

/* Sets training's log_z and log_z_error from draws of the kernel's T^-1, when its error is smaller than what stands
 * there. Leaves them when the kernel is no independent proposal. */
ais_status ais_flow_log_z(ais_context *context, const ais_kernel *kernel, const ais_target *target, ais_pool *pool,
                          uint64_t seed, ais_training *training);

#endif
