/* Names of kernels, which reports and warnings go by; those of learned maps are in map/families.h. */
#ifndef AIS_DRAWS_NAMES_H
#define AIS_DRAWS_NAMES_H

#include <stdbool.h>

#define AIS_ANICE_NAME "anice"

/* Whether the kernel of this name has a network, which can be trained for longer. */
bool ais_is_trained(const char *kernel);

#endif
