/* What a classical kernel was made with: itself again, for a file. */
#ifndef AIS_CLASSICAL_CLASSICAL_H
#define AIS_CLASSICAL_CLASSICAL_H

#include "kernel/kernel.h"

/* Options that make the same kernel again; false when it is another one. */
bool ais_rwm_options_of(const ais_kernel *kernel, ais_rwm_options *options);
bool ais_hmc_options_of(const ais_kernel *kernel, ais_hmc_options *options);
bool ais_nuts_options_of(const ais_kernel *kernel, ais_nuts_options *options);

#endif
