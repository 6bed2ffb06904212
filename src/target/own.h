/* Densities of a caller's own in FILE.c and FILE.so (density.h). */
#ifndef AIS_TARGET_OWN_H
#define AIS_TARGET_OWN_H

#include "target/builtin.h"

/* path is the file as it was given and lives as long as the home; options are what stands behind its colon, or NULL,
 * and are taken apart in place. */
ais_status ais_own_open(ais_context *context, const char *path, char *options, ais_home *home);

/* Where the options of FILE.c:... or FILE.so:... begin; the end if there are none; NULL if spec is no such file. */
char *ais_own_options(char *spec);

/* Closes the density and its library, if there are any. */
void ais_own_release(ais_home *home);

/* How a file is to be compiled, besides what it says itself. Words are separated by spaces; NULL: none. */
typedef struct ais_own_build {
    const char *flags, *link;
    bool debug;
} ais_own_build;

/* Compiles source (an absolute path) into the cache, unless what it comes to is there already, and
 * writes the object's path. fresh: compile in any case. */
ais_status ais_own_compile(ais_context *context, const char *source, const ais_own_build *build, bool fresh,
                           char *object, size_t size);

#endif
