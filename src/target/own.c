#include "target/own.h"

#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "target/parameters.h"

void ais_own_release(ais_home *home) {
    if (home->density && home->density->close) home->density->close(home->density);
    if (home->library) dlclose(home->library);
}

char *ais_own_options(char *spec) {
    for (char *at = spec + 1; *spec && *at; at++) {
        size_t size = strncmp(at, ".c", 2) == 0 ? 2 : strncmp(at, ".so", 3) == 0 ? 3 : 0;
        if (size && (at[size] == '\0' || at[size] == ':')) return at + size;
    }
    return NULL;
}

static ais_status check_names(ais_context *context, const char *path, const ais_density *density) {
    for (int i = 0; density->names && i < density->dim; i++)
        if (!density->names[i] || !density->names[i][0])
            return ais_fail(context, AIS_BAD_DENSITY,
                            "%s: names[%d] is missing; there must be %d, one for each dimension", path, i,
                            density->dim);
    return AIS_OK;
}

/* Structs of earlier versions of density.h end before `parameters`. */
static ais_status check_head(ais_context *context, const char *path, const ais_density *density) {
    if (density->version != AIS_DENSITY_VERSION)
        return ais_fail(context, AIS_BAD_DENSITY,
                        "%s: version is %d, but this library needs %d; begin the struct with AIS_DENSITY_HEAD and "
                        "compile it with this library's density.h",
                        path, density->version, AIS_DENSITY_VERSION);
    if (density->size < (int)offsetof(ais_density, parameters) || density->size > (int)sizeof *density)
        return ais_fail(context, AIS_BAD_DENSITY,
                        "%s: size is %d, but this library needs %d; begin the struct with AIS_DENSITY_HEAD and compile "
                        "it with this library's density.h",
                        path, density->size, (int)sizeof *density);
    return AIS_OK;
}

static ais_status check_density(ais_context *context, const char *path, const ais_density *density) {
    if (density->dim < 1)
        return ais_fail(context, AIS_BAD_DENSITY, "%s: dim is %d, but must be 1 or more", path, density->dim);
    if (!density->logp)
        return ais_fail(context, AIS_BAD_DENSITY, "%s: logp is missing; set .logp to the log density", path);
    if (!(density->start_scale >= 0) || isinf(density->start_scale))
        return ais_fail(context, AIS_BAD_DENSITY, "%s: start_scale is %g, but must be a number, 0 or more", path,
                        density->start_scale);
    return check_names(context, path, density);
}

/* Calls the density's own open, with the file of data=. */
static ais_status read_data(ais_context *context, const char *path, const char *file, ais_density *density) {
    char message[400] = "";
    if (file && !density->open)
        return ais_fail(context, AIS_BAD_ARGUMENT,
                        "%s takes no data: it has no .open that could read %.200s (aisampler/density.h)", path, file);
    if (file && access(file, R_OK) != 0)
        return ais_fail(context, AIS_FILE_ERROR, "%s: cannot open data=%.300s: %s", path, file, strerror(errno));
    if (!density->open || density->open(file, density, message, sizeof message) == 0) return AIS_OK;
    density->close = NULL; /* there is nothing to close */
    message[sizeof message - 1] = '\0';
    message[strcspn(message, "\n")] = '\0';
    if (file) return ais_fail(context, AIS_BAD_DENSITY, "%s with data=%.300s: %s", path, file, message);
    return ais_fail(context, AIS_BAD_DENSITY, "%s without data=FILE: %s", path, message);
}

static ais_status adopt(ais_context *context, const char *path, const char *file, ais_home *home) {
    const ais_density *given = dlsym(home->library, "aisampler_density");
    if (!given)
        return ais_fail(context, AIS_BAD_DENSITY,
                        "%s: there is no aisampler_density in it; define it with AIS_DENSITY = {AIS_DENSITY_HEAD, .dim "
                        "= ..., .logp = ...}",
                        path);
    ais_status status = check_head(context, path, given);
    if (status != AIS_OK) return status;
    ais_density *density = AIS_TAKE(&home->arena, ais_density, 1);
    if (!density) return ais_fail_memory(context, path, sizeof *density);
    memcpy(density, given, (size_t)given->size);
    home->density = density;
    status = read_data(context, path, file, density);
    if (status == AIS_OK) status = check_density(context, path, density);
    if (status != AIS_OK) return status;
    home->target.name = path;
    home->target.dim = density->dim;
    home->target.logp = density->logp;
    home->target.batch = density->batch;
    home->target.grad = density->grad;
    home->target.names = density->names;
    home->target.start_scale = density->start_scale;
    home->target.data = density->data;
    if (!density->parameters && density->parameter_count == 0) return AIS_OK;
    return ais_parameters_put(context, density->parameters, density->parameter_count, &home->arena, &home->target);
}

/* One line: dlerror's may have more, and is long. */
static const char *dynamic_error(void) {
    const char *error = dlerror();
    return error ? error : "no reason given";
}

static ais_status load(ais_context *context, const char *path, const char *object, const char *file, ais_home *home) {
    home->library = dlopen(object, RTLD_NOW | RTLD_LOCAL);
    if (!home->library)
        return ais_fail(context, AIS_BAD_FORMAT, "%.300s cannot be loaded: %.600s", path, dynamic_error());
    return adopt(context, path, file, home);
}

enum { KEY_DATA, KEY_LINK, KEY_FLAGS, KEY_DEBUG, KEYS };
static const ais_option source_options[] = {{.name = "data", .text = true},
                                            {.name = "link", .text = true},
                                            {.name = "flags", .text = true},
                                            {.name = "debug", .text = true},
                                            {.name = NULL}};
static const ais_option object_options[] = {{.name = "data", .text = true}, {.name = NULL}};

static ais_status open_source(ais_context *context, const char *path, const char *source, const ais_value *value,
                              ais_home *home) {
    char object[PATH_MAX];
    const char *debug = value[KEY_DEBUG].text;
    const ais_own_build build = {value[KEY_FLAGS].text, value[KEY_LINK].text, debug && strcmp(debug, "on") == 0};
    if (debug && !build.debug && strcmp(debug, "off") != 0)
        return ais_fail(context, AIS_BAD_ARGUMENT, "%s: debug is '%.60s', but must be on or off", path, debug);
    ais_status status = ais_own_compile(context, source, &build, false, object, sizeof object);
    if (status != AIS_OK) return status;
    status = load(context, path, object, value[KEY_DATA].text, home);
    if (home->library || status != AIS_BAD_FORMAT) return status;
    /* What was in the cache is damaged. */
    status = ais_own_compile(context, source, &build, true, object, sizeof object);
    return status == AIS_OK ? load(context, path, object, value[KEY_DATA].text, home) : status;
}

ais_status ais_own_open(ais_context *context, const char *path, char *options, ais_home *home) {
    bool source = path[strlen(path) - 1] == 'c';
    const ais_target_type type = {{path, "", source ? "data=FILE,link=WORDS,flags=WORDS,debug=on" : "data=FILE"},
                                  source ? source_options : object_options,
                                  NULL};
    ais_value value[KEYS] = {{0}};
    ais_status status = ais_options_parse(context, &type, options, value);
    if (status != AIS_OK) return status;
    char *absolute = realpath(path, NULL);
    if (!absolute) return ais_fail(context, AIS_FILE_ERROR, "cannot open %.300s: %s", path, strerror(errno));
    status = source ? open_source(context, path, absolute, value, home)
                    : load(context, path, absolute, value[KEY_DATA].text, home);
    free(absolute);
    return status;
}
