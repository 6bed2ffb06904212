/* Opening Stan programs: the file, the library, the data. */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "target/stan_model.h"
#include "target/stan_program.h"

static bool ends_with(const char *text, const char *end) {
    size_t length = strlen(text), size = strlen(end);
    return length > size && strcmp(text + length - size, end) == 0;
}

static ais_status read_text(ais_context *context, const char *path, ais_arena *arena, char **text) {
    FILE *file = fopen(path, "rb");
    if (!file) return ais_fail(context, AIS_FILE_ERROR, "cannot open %.300s: %s", path, strerror(errno));
    long size = fseek(file, 0, SEEK_END) == 0 ? ftell(file) : -1;
    rewind(file);
    *text = size >= 0 ? ais_arena_take(arena, (size_t)size + 1) : NULL;
    bool whole = *text && fread(*text, 1, (size_t)size, file) == (size_t)size;
    fclose(file);
    if (whole) return AIS_OK;
    return ais_fail(context, AIS_FILE_ERROR, "cannot read %.300s: it is not a regular file, or memory ran out", path);
}

/* Data that begin with a brace are the data themselves. */
static ais_status read_data(ais_context *context, const char *data, ais_arena *arena, const char **text) {
    *text = data ? data : "{}";
    if (!data || data[strspn(data, " \t\r\n")] == '{') return AIS_OK;
    char *read = NULL;
    ais_status status = read_text(context, data, arena, &read);
    *text = read;
    return status;
}

/* Names with commas between, as a list; NULL when memory is out or there are not `count`. */
static const char *const *split(const char *names, int count, ais_arena *arena) {
    size_t size = strlen(names) + 1;
    char *copy = ais_arena_take(arena, size);
    const char **list = AIS_TAKE(arena, const char *, count ? count : 1);
    if (!copy || !list) return NULL;
    memcpy(copy, names, size);
    int found = 0;
    for (char *at = copy; at && found < count; found++) {
        list[found] = at;
        at = strchr(at, ',');
        if (at) *at++ = '\0';
    }
    return found == count ? list : NULL;
}

/* What there is to know of a model: its sizes and names. */
static ais_status describe(ais_context *context, const char *shown, ais_stan *stan, ais_home *home) {
    const ais_bridge *bridge = &stan->bridge;
    stan->dim = bridge->free_count(stan->model);
    if (stan->dim < 1)
        return ais_fail(context, AIS_BAD_ARGUMENT, "%.300s has no parameters: there is no density to draw from", shown);
    const char *info = bridge->info(stan->model);
    bool threads = info && strstr(info, "STAN_THREADS=true");
    stan->alone = !threads;
    stan->settles = threads && !stan->propto;
    for (int i = 0; i < 3; i++) stan->values[i] = bridge->count(stan->model, i > 0, i > 1);
    stan->names = split(bridge->free_names(stan->model), stan->dim, &home->arena);
    stan->view = (ais_view){.count = stan->values[2],
                            .names = split(bridge->names(stan->model, true, true), stan->values[2], &home->arena),
                            .show = ais_stan_show,
                            .generated = true};
    stan->record = ais_stan_record_new(stan->dim);
    if (stan->names && stan->view.names && stan->record) return AIS_OK;
    return ais_fail(context, AIS_BAD_ARGUMENT,
                    "%.300s: the library's names and values differ in number, or memory ran out", shown);
}

static ais_status construct(ais_context *context, const char *shown, const char *text, const char *data,
                            ais_stan *stan) {
    char *message = NULL, line[600] = "no reason given";
    pthread_mutex_lock(&ais_stan_alone); /* transformed data may be computed with derivatives */
    stan->model = stan->bridge.construct(text, 1, &message);
    pthread_mutex_unlock(&ais_stan_alone);
    if (message && !stan->model) ais_bridge_line(message, line, sizeof line);
    if (message) stan->bridge.free_message(message);
    if (stan->model) return AIS_OK;
    const char *lacks = strncmp(line, "unknown data variable", 21) == 0 ? ", which they lack" : "";
    if (!data)
        return ais_fail(context, AIS_BAD_ARGUMENT,
                        "%.100s cannot be used without data: %s; name them, as in stan:MODEL:DATA.json", shown, line);
    return ais_fail(context, AIS_BAD_ARGUMENT, "%.100s cannot be used with %.100s: %s%s", shown,
                    data[strspn(data, " \t\r\n")] == '{' ? "these data" : data, line, lacks);
}

typedef struct program {
    const char *shown; /* in messages */
    const char *name;  /* of the target */
    const char *path;  /* of the file, or NULL */
    const char *text;  /* of a program, or NULL */
    char folder[PATH_MAX];
} program;

/* The name of a file without folder and ending. */
static const char *stem(const char *path, ais_arena *arena) {
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path, *dot = strrchr(name, '.');
    size_t length = dot && dot > name ? (size_t)(dot - name) : strlen(name);
    char *copy = ais_arena_take(arena, length + 1);
    if (copy) snprintf(copy, length + 1, "%s", name);
    return copy ? copy : "stan";
}

static ais_status read_program(ais_context *context, const char *model, ais_arena *arena, program *to) {
    *to = (program){.shown = model, .path = model, .folder = "."};
    if (access(model, F_OK) != 0 && strchr(model, '{')) { /* a program always has one, the name of a file hardly */
        *to = (program){.shown = "the Stan program", .name = "stan", .text = model, .folder = "."};
        return AIS_OK;
    }
    to->name = stem(model, arena);
    if (ends_with(model, ".so")) {
        char *absolute = realpath(model, NULL);
        if (!absolute) return ais_fail(context, AIS_FILE_ERROR, "cannot open %.300s: %s", model, strerror(errno));
        size_t size = strlen(absolute) + 1;
        char *copy = ais_arena_take(arena, size);
        to->path = copy ? memcpy(copy, absolute, size) : model;
        free(absolute);
        return AIS_OK;
    }
    if (!ends_with(model, ".stan"))
        return ais_fail(context, AIS_BAD_ARGUMENT,
                        "stan:%.300s: a Stan program is a file MODEL.stan, or MODEL.so made by BridgeStan, with data: "
                        "stan:MODEL.stan:DATA.json",
                        model);
    const char *slash = strrchr(model, '/');
    if (slash && (size_t)(slash - model) < sizeof to->folder)
        snprintf(to->folder, sizeof to->folder, "%.*s", slash > model ? (int)(slash - model) : 1, model);
    char *text = NULL;
    ais_status status = read_text(context, model, arena, &text);
    to->text = text;
    return status;
}

static ais_status load(ais_context *context, const program *from, const char *data, const char *stanli, ais_stan *stan,
                       ais_home *home) {
    const char *text;
    ais_status status = read_data(context, data, &home->arena, &text);
    if (status != AIS_OK) return status;
    if (!from->text) {
        stan->random = true;
        status = ais_bridge_load(context, from->shown, from->path, false, &stan->bridge);
    } else {
        char library[PATH_MAX], *joined;
        stan->propto = true;
        stan->random = strstr(from->text, "_rng") || strstr(from->text, "#include");
        status = ais_stanli_find(context, stanli, library, sizeof library);
        if (status == AIS_OK) status = ais_bridge_load(context, library, library, true, &stan->bridge);
        if (status == AIS_OK)
            status = ais_stanli_compile(context, &stan->bridge, from->shown, from->text, from->folder, text,
                                        &home->arena, &joined);
        if (status == AIS_OK) text = joined;
    }
    return status == AIS_OK ? construct(context, from->shown, text, data, stan) : status;
}

ais_status ais_stan_open(ais_context *context, const char *model, const char *data, const char *stanli,
                         ais_home *home) {
    program from;
    ais_status status = read_program(context, model, &home->arena, &from);
    if (status != AIS_OK) return status;
    ais_stan *stan = home->stan = AIS_TAKE(&home->arena, ais_stan, 1);
    if (!stan) return ais_fail_memory(context, "a Stan program", sizeof *stan);
    status = load(context, &from, data, stanli, stan, home);
    if (status == AIS_OK) status = describe(context, from.shown, stan, home);
    if (status != AIS_OK) return status;
    ais_target *target = &home->target;
    target->name = from.name;
    target->dim = stan->dim;
    target->logp = ais_stan_logp;
    target->grad = ais_stan_grad;
    target->names = stan->names;
    target->view = &stan->view;
    target->tell = ais_stan_tell;
    target->data = stan;
    return AIS_OK;
}

/* MODEL.stan:DATA or MODEL.so:DATA. The ending of the model is what the colon is known by, so that names may have
 * colons of their own. */
ais_status ais_stan_open_spec(ais_context *context, char *spec, ais_home *home) {
    const char *data = NULL;
    static const char *const ending[] = {".stan:", ".so:"};
    for (int i = 0; i < 2; i++) {
        char *found = strstr(spec, ending[i]);
        if (!found) continue;
        data = found + strlen(ending[i]);
        found[strlen(ending[i]) - 1] = '\0';
        break;
    }
    if (*spec == '\0') return ais_fail(context, AIS_BAD_ARGUMENT, "stan needs a program: stan:MODEL.stan[:DATA.json]");
    if (data && *data == '\0')
        return ais_fail(context, AIS_BAD_ARGUMENT, "stan:%.300s: ends with a colon: name the data, or leave it out",
                        spec);
    return ais_stan_open(context, spec, data, NULL, home);
}

void ais_stan_release(ais_stan *stan) {
    if (!stan) return;
    if (stan->model) stan->bridge.destruct(stan->model);
    ais_bridge_unload(&stan->bridge);
    ais_stan_record_free(stan->record, stan->dim);
}
