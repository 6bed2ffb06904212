#include "target/own.h"

#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "target/parameters.h"

void ais_own_release(void *library) {
    if (library) dlclose(library);
}

static ais_status check_names(ais_context *context, const char *path, const ais_density *density) {
    for (int i = 0; density->names && i < density->dim; i++)
        if (!density->names[i] || !density->names[i][0])
            return ais_fail(context, AIS_BAD_DENSITY,
                            "%s: names[%d] is missing; there must be %d, one for each dimension", path, i,
                            density->dim);
    return AIS_OK;
}

static ais_status check_density(ais_context *context, const char *path, const ais_density *density) {
    if (density->version != AIS_DENSITY_VERSION)
        return ais_fail(context, AIS_BAD_DENSITY,
                        "%s: version is %d, but this library wants %d; begin the struct with AIS_DENSITY_HEAD and "
                        "compile it with this library's density.h",
                        path, density->version, AIS_DENSITY_VERSION);
    if (density->size != (int)sizeof *density)
        return ais_fail(context, AIS_BAD_DENSITY,
                        "%s: size is %d, but this library wants %d; begin the struct with AIS_DENSITY_HEAD and compile "
                        "it with this library's density.h",
                        path, density->size, (int)sizeof *density);
    if (density->dim < 1)
        return ais_fail(context, AIS_BAD_DENSITY, "%s: dim is %d, but must be 1 or more", path, density->dim);
    if (!density->logp)
        return ais_fail(context, AIS_BAD_DENSITY, "%s: logp is missing; set .logp to the log density", path);
    if (!(density->start_scale >= 0) || isinf(density->start_scale))
        return ais_fail(context, AIS_BAD_DENSITY, "%s: start_scale is %g, but must be a number, 0 or more", path,
                        density->start_scale);
    return check_names(context, path, density);
}

static ais_status adopt(ais_context *context, const char *path, ais_home *home) {
    const ais_density *density = dlsym(home->library, "aisampler_density");
    if (!density)
        return ais_fail(context, AIS_BAD_DENSITY,
                        "%s: there is no aisampler_density in it; define it with AIS_DENSITY = {AIS_DENSITY_HEAD, .dim "
                        "= ..., .logp = ...}",
                        path);
    ais_status status = check_density(context, path, density);
    if (status != AIS_OK) return status;
    const char *slash = strrchr(path, '/');
    home->target.name = slash ? slash + 1 : path;
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

static ais_status load(ais_context *context, const char *path, const char *object, ais_home *home) {
    home->library = dlopen(object, RTLD_NOW | RTLD_LOCAL);
    if (!home->library)
        return ais_fail(context, AIS_BAD_FORMAT, "%.300s cannot be loaded: %.600s", path, dynamic_error());
    return adopt(context, path, home);
}

static ais_status open_source(ais_context *context, const char *path, const char *source, ais_home *home) {
    char object[PATH_MAX];
    ais_status status = ais_own_compile(context, source, false, object, sizeof object);
    if (status != AIS_OK) return status;
    status = load(context, path, object, home);
    if (status != AIS_BAD_FORMAT) return status;
    /* What was in the cache is damaged. */
    status = ais_own_compile(context, source, true, object, sizeof object);
    return status == AIS_OK ? load(context, path, object, home) : status;
}

ais_status ais_own_open(ais_context *context, const char *path, ais_home *home) {
    char *absolute = realpath(path, NULL);
    if (!absolute) return ais_fail(context, AIS_FILE_ERROR, "cannot open %.300s: %s", path, strerror(errno));
    size_t length = strlen(path);
    ais_status status =
        path[length - 1] == 'c' ? open_source(context, path, absolute, home) : load(context, path, absolute, home);
    free(absolute);
    return status;
}
