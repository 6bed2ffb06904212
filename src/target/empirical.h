/* Targets of which only draws are known: data:FILE. */
#ifndef AIS_TARGET_EMPIRICAL_H
#define AIS_TARGET_EMPIRICAL_H

#include "target/builtin.h"

/* name is what messages call the target; both texts stay valid as long as home. */
ais_status ais_empirical_open(ais_context *context, const char *name, const char *path, ais_home *home);

#endif
