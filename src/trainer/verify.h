/* ais_verify for a caller who has weighed the draws already. */
#ifndef AIS_TRAINER_VERIFY_H
#define AIS_TRAINER_VERIFY_H

#include <aisampler/verify.h>

/* weight: of every draw by the kernel, as ais_weigh_draws has it; NULL: they are weighed here. */
ais_status ais_verify_weighed(ais_context *context, const ais_target *target, const ais_draws *draws,
                              const ais_verify_options *options, const double *weight, ais_diagnosis *diagnosis,
                              long *densities);

#endif
