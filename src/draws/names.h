/* What kernels of learned maps are called, in files, reports and options, in the order of ais_map. Names of other
 * kernels contain them: nuts@realnvp, henon+rwm. */
#ifndef AIS_DRAWS_NAMES_H
#define AIS_DRAWS_NAMES_H

#include <stdbool.h>

#define AIS_HENON_NAME   "henon"
#define AIS_REALNVP_NAME "realnvp"
#define AIS_SPLINE_NAME  "spline"
#define AIS_AFFINE_NAME  "affine"
#define AIS_ANICE_NAME   "anice"

/* Whether the kernel of this name has a network, which can be trained for longer. */
bool ais_is_trained(const char *kernel);

#endif
