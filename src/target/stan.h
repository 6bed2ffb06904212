/* Stan programs as targets: MODEL.stan through stanli, MODEL.so made by BridgeStan. */
#ifndef AIS_TARGET_STAN_H
#define AIS_TARGET_STAN_H

#include "target/builtin.h"

/* What a target of a Stan program owns besides its arena. */
typedef struct ais_stan ais_stan;

/* model: MODEL.stan, MODEL.so, or a program's text; data: FILE, JSON text, or NULL; stanli: its library, or NULL. */
ais_status ais_stan_open(ais_context *context, const char *model, const char *data, const char *stanli, ais_home *home);

/* What stands behind "stan:", which is taken apart in place. */
ais_status ais_stan_open_spec(ais_context *context, char *spec, ais_home *home);

void ais_stan_release(ais_stan *stan); /* NULL is allowed */

#endif
