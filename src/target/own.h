/* Densities of a caller's own in FILE.c and FILE.so (density.h). */
#ifndef AIS_TARGET_OWN_H
#define AIS_TARGET_OWN_H

#include "target/builtin.h"

ais_status ais_own_open(ais_context *context, const char *path, ais_home *home);

/* Closes home->library; NULL is allowed. */
void ais_own_release(void *library);

/* Compiles source (an absolute path) into the cache, unless what it comes to is there already, and
 * writes the object's path. fresh: compile in any case. */
ais_status ais_own_compile(ais_context *context, const char *source, bool fresh, char *object, size_t size);

#endif
