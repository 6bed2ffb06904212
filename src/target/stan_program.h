/* Stan programs through stanli, a compiler and interpreter of Stan without C++ (PyPI's stanli). Its library speaks
 * BridgeStan's language; the program reaches it inside of the data. */
#ifndef AIS_TARGET_STAN_PROGRAM_H
#define AIS_TARGET_STAN_PROGRAM_H

#include "base/arena.h"
#include "target/stan_bridge.h"

/* Writes the path of libstanli.so: `given` or AISAMPLER_STANLI if there is one, or where Python packages are usually
 * installed. Fails with what to do when there is none. */
ais_status ais_stanli_find(ais_context *context, const char *given, char *path, size_t size);

/* Compiles a program and joins it with the data into what construct() of the loaded stanli takes, in the arena. `shown`
 * is what messages call the program; folder is searched for what it includes. */
ais_status ais_stanli_compile(ais_context *context, const ais_bridge *bridge, const char *shown, const char *program,
                              const char *folder, const char *data, ais_arena *arena, char **joined);

#endif
