/* Where stanli's library may be. No Python is started to ask: a library must not fork. */
#define _GNU_SOURCE /* dladdr */
#include <dlfcn.h>
#include <glob.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "target/stan_program.h"

#define LIBRARY "stanli/_bin/libstanli.so"

typedef struct search {
    char *path;
    size_t size;
} search;

static bool take(const search *to, const char *path) {
    if (access(path, R_OK) != 0 || strlen(path) >= to->size) return false;
    memcpy(to->path, path, strlen(path) + 1);
    return true;
}

/* A pattern of the shell, of which the last match is taken. */
static bool match(const search *to, const char *pattern) {
    glob_t found = {0};
    bool taken =
        glob(pattern, 0, NULL, &found) == 0 && found.gl_pathc > 0 && take(to, found.gl_pathv[found.gl_pathc - 1]);
    globfree(&found);
    return taken;
}

/* The packages of the Pythons that are installed below a folder such as /usr or a virtual environment. */
static bool below(const search *to, const char *prefix) {
    static const char *const kind[] = {"lib/python3*/site-packages", "lib/python3*/dist-packages",
                                       "local/lib/python3*/dist-packages", "lib64/python3*/site-packages"};
    char pattern[PATH_MAX + 100];
    if (!prefix || !*prefix) return false;
    for (size_t k = 0; k < sizeof kind / sizeof *kind; k++) {
        snprintf(pattern, sizeof pattern, "%.*s/%s/" LIBRARY, PATH_MAX, prefix, kind[k]);
        if (match(to, pattern)) return true;
    }
    return false;
}

/* A list of folders with colons between: each of them with `tail`. */
static bool in_list(const search *to, const char *list, const char *tail, bool (*look)(const search *, const char *)) {
    for (const char *at = list; at && *at;) {
        size_t length = strcspn(at, ":");
        char path[PATH_MAX];
        if (length > 0 && length + strlen(tail) < sizeof path) {
            snprintf(path, sizeof path, "%.*s%s", (int)length, at, tail);
            if (look(to, path)) return true;
        }
        at += length + (at[length] == ':');
    }
    return false;
}

/* Next to the package that this library is part of: .../site-packages/aisampler/libaisampler.so. */
static bool beside_us(const search *to) {
    Dl_info info;
    char path[PATH_MAX];
    static const char own = 0;
    if (!dladdr(&own, &info) || !info.dli_fname) return false;
    const char *slash = strrchr(info.dli_fname, '/');
    int folder = slash ? (int)(slash - info.dli_fname) : 0;
    snprintf(path, sizeof path, "%.*s/../" LIBRARY, folder, info.dli_fname);
    return folder > 0 && take(to, path);
}

ais_status ais_stanli_find(ais_context *context, const char *given, char *path, size_t size) {
    const search to = {path, size};
    const char *home = getenv("HOME"), *said = getenv("AISAMPLER_STANLI");
    char local[PATH_MAX];
    if (given ? take(&to, given) : said && *said && take(&to, said)) return AIS_OK;
    if (given || (said && *said))
        return ais_fail(context, AIS_BAD_ARGUMENT, "%s%.300s cannot be read: it must be stanli's library, libstanli.so",
                        given ? "" : "AISAMPLER_STANLI: ", given ? given : said);
    snprintf(local, sizeof local, "%s/.local", home ? home : "");
    bool found = below(&to, getenv("VIRTUAL_ENV")) || below(&to, getenv("CONDA_PREFIX")) || beside_us(&to) ||
                 in_list(&to, getenv("PYTHONPATH"), "/" LIBRARY, take) || in_list(&to, getenv("PATH"), "/..", below) ||
                 (home && below(&to, local)) || below(&to, "/usr/local") || below(&to, "/usr") ||
                 take(&to, "/usr/lib/python3/dist-packages/" LIBRARY);
    if (found) return AIS_OK;
    return ais_fail(context, AIS_BAD_ARGUMENT,
                    "Stan programs need stanli, which was not found: 'pip install stanli', or set "
                    "AISAMPLER_STANLI to its libstanli.so; a library made by BridgeStan (stan:MODEL.so) needs none");
}
