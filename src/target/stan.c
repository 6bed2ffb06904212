#include "target/stan.h"

#include <errno.h>
#include <limits.h>
#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "target/stan_bridge.h"
#include "target/stan_program.h"

/* Points, or draws, at which the program raised an error. Of them the one nearest to 0 is told: which one comes first
 * depends on the threads. */
typedef struct failures {
    atomic_long count;
    double distance; /* of the one that is told, squared */
    double *x;
    char message[160];
} failures;

struct ais_stan {
    ais_bridge bridge;
    bs_model *model;
    const char *const *names; /* of x */
    int dim;
    bool propto;   /* constants are left out: all that stanli can do */
    bool alone;    /* one call at a time: the library was compiled without threads */
    bool settles;  /* a thread's first call must be a gradient, which makes its stack of derivatives */
    bool random;   /* what it computes of a draw may be drawn at random */
    int values[3]; /* of a draw: the parameters, with the transformed ones, with the generated ones */
    ais_view view;
    atomic_long points; /* that were asked for */
    failures density, shown;
    pthread_mutex_t telling; /* of failures but their counts */
    bool made;               /* the mutex is */
};

/* ---- calls --------------------------------------------------------------------------------------- */

/* Libraries without threads have one stack of derivatives each; which of them share one we need not know. */
static pthread_mutex_t alone = PTHREAD_MUTEX_INITIALIZER;

/* The library for which this thread has a stack of derivatives. */
static _Thread_local const void *settled;

static void settle(const ais_stan *stan) {
    double *room = calloc(2 * (size_t)stan->dim, sizeof *room), value;
    char *message = NULL;
    if (!room) return;
    stan->bridge.gradient(stan->model, stan->propto, true, room, &value, room + stan->dim, &message);
    if (message) stan->bridge.free_message(message);
    free(room);
    settled = stan->bridge.library;
}

static void enter(const ais_stan *stan) {
    if (stan->alone) pthread_mutex_lock(&alone);
    if (stan->settles && settled != stan->bridge.library) settle(stan);
}

static void leave(const ais_stan *stan) {
    if (stan->alone) pthread_mutex_unlock(&alone);
}

/* Counts a failure; takes the message over. */
static void fail_at(ais_stan *stan, failures *of, const double *x, const char *why, char *message) {
    double distance = 0;
    for (int i = 0; i < stan->dim; i++) distance += x[i] * x[i];
    pthread_mutex_lock(&stan->telling);
    if (atomic_load(&of->count) == 0 || distance < of->distance ||
        (distance == of->distance && memcmp(x, of->x, (size_t)stan->dim * sizeof *x) < 0)) {
        of->distance = distance;
        memcpy(of->x, x, (size_t)stan->dim * sizeof *x);
        ais_bridge_line(message ? message : why, of->message, sizeof of->message);
    }
    atomic_fetch_add(&of->count, 1);
    pthread_mutex_unlock(&stan->telling);
}

static double settle_value(ais_stan *stan, const double *x, int code, double value, char *message) {
    bool good = code == 0 && !isnan(value) && value < INFINITY;
    if (!good)
        fail_at(stan, &stan->density, x,
                code == 0 ? isnan(value) ? "the log density is NaN" : "the log density is infinite" : "no reason given",
                message);
    if (message) stan->bridge.free_message(message);
    return good ? value : -INFINITY;
}

static double stan_logp(const double *x, void *data) {
    ais_stan *stan = data;
    double value = NAN;
    char *message = NULL;
    atomic_fetch_add_explicit(&stan->points, 1, memory_order_relaxed);
    enter(stan);
    int code = stan->bridge.density(stan->model, stan->propto, true, x, &value, &message);
    leave(stan);
    return settle_value(stan, x, code, value, message);
}

static double stan_grad(const double *x, double *gradient, void *data) {
    ais_stan *stan = data;
    double value = NAN;
    char *message = NULL;
    atomic_fetch_add_explicit(&stan->points, 1, memory_order_relaxed);
    enter(stan);
    int code = stan->bridge.gradient(stan->model, stan->propto, true, x, &value, gradient, &message);
    leave(stan);
    value = settle_value(stan, x, code, value, message);
    if (value == -INFINITY) memset(gradient, 0, (size_t)stan->dim * sizeof *gradient);
    return value;
}

/* ---- what is shown of a draw ---------------------------------------------------------------------- */

/* The bits of a number mixed: neighbours have nothing in common (SplitMix64's finaliser). */
static unsigned mixed(uint64_t number) {
    number = (number ^ number >> 30) * 0xbf58476d1ce4e5b9;
    number = (number ^ number >> 27) * 0x94d049bb133111eb;
    return (unsigned)(number >> 32);
}

/* Generated quantities that cannot be had leave the rest as it is, transformed parameters the parameters. */
static void show_row(ais_stan *stan, const double *x, bs_rng *rng, double *value) {
    char *message = NULL;
    int depth = 3, code = stan->bridge.constrain(stan->model, true, rng != NULL, x, value, rng, &message);
    if (code == 0 && (rng || stan->values[2] == stan->values[1])) return;
    if (code == 0) depth = 2; /* there was no memory for a generator */
    fail_at(stan, &stan->shown, x, "memory is out", message);
    while (code != 0 && --depth > 0) {
        if (message) stan->bridge.free_message(message);
        message = NULL;
        code = stan->bridge.constrain(stan->model, depth > 1, false, x, value, NULL, &message);
    }
    if (message) stan->bridge.free_message(message);
    for (int i = code == 0 ? stan->values[depth - 1] : 0; i < stan->values[2]; i++) value[i] = NAN;
}

static bs_rng *new_rng(const ais_stan *stan, uint64_t stream) {
    char *message = NULL;
    bs_rng *rng = stan->bridge.rng(mixed(stream), &message);
    if (message) stan->bridge.free_message(message);
    return rng;
}

/* A generator for every row: what is drawn must not depend on how draws are shared out over calls. Its start takes
 * 20 us in newer versions of Stan, which programs without random numbers are spared. */
static void stan_show(size_t n, const double *x, uint64_t stream, double *value, double *slope, void *data) {
    ais_stan *stan = data;
    bs_rng *rng = NULL;
    for (size_t r = 0; r < n; r++) {
        enter(stan);
        if (stan->values[2] > stan->values[1] && !rng) rng = new_rng(stan, stream + r);
        show_row(stan, x + r * (size_t)stan->dim, rng, value + r * (size_t)stan->values[2]);
        if (rng && (stan->random || r + 1 == n)) {
            stan->bridge.free_rng(rng);
            rng = NULL;
        }
        leave(stan);
        slope[r] = 0; /* lp__ is Stan's: of the unconstrained parameters */
    }
}

/* ---- what is told at the end ---------------------------------------------------------------------- */

/* "mu = 1.5, tau = -3 and 8 more" */
static void write_point(const ais_stan *stan, const double *x, char *text, size_t size) {
    enum { most = 3 };
    size_t used = 0;
    for (int i = 0; i < stan->dim && i < most && used < size; i++)
        used += (size_t)snprintf(text + used, size - used, "%s%.20s = %.4g", i ? ", " : "", stan->names[i], x[i]);
    if (stan->dim > most && used < size) snprintf(text + used, size - used, " and %d more", stan->dim - most);
}

static size_t tell_failures(const ais_stan *stan, const failures *of, const char *what, char *text, size_t size) {
    char point[140] = "";
    write_point(stan, of->x, point, sizeof point);
    int used = snprintf(text, size, "%s, for instance \"%s\" where unconstrained %s", what, of->message, point);
    return used < 0 ? 0 : (size_t)used < size ? (size_t)used : size - 1;
}

static void stan_tell(char *text, size_t size, void *data) {
    ais_stan *stan = data;
    char what[140];
    size_t used = 0;
    text[0] = '\0';
    long failed = atomic_load(&stan->density.count), unshown = atomic_load(&stan->shown.count);
    pthread_mutex_lock(&stan->telling);
    if (failed > 0) {
        snprintf(what, sizeof what, "the Stan program failed at %ld of %ld points, which have log density -inf", failed,
                 atomic_load(&stan->points));
        used = tell_failures(stan, &stan->density, what, text, size);
    }
    if (unshown > 0) {
        snprintf(what, sizeof what, "%swhat it computes of %ld draws failed and is NaN",
                 used ? "; " : "in the Stan program ", unshown);
        tell_failures(stan, &stan->shown, what, text + used, size - used);
    }
    pthread_mutex_unlock(&stan->telling);
}

/* ---- opening -------------------------------------------------------------------------------------- */

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
    return ais_fail(context, AIS_FILE_ERROR, "cannot read %.300s: it is no plain file, or memory is out", path);
}

/* Data that begin with a brace are the data themselves. */
static ais_status read_data(ais_context *context, const char *data, ais_arena *arena, const char **text) {
    *text = data ? data : "{}";
    if (!data || data[strspn(data, " \t\r\n")] == '{') return AIS_OK;
    char *read;
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
                            .show = stan_show};
    stan->density.x = AIS_TAKE(&home->arena, double, stan->dim);
    stan->shown.x = AIS_TAKE(&home->arena, double, stan->dim);
    if (stan->names && stan->view.names && stan->density.x && stan->shown.x) return AIS_OK;
    return ais_fail(context, AIS_BAD_ARGUMENT,
                    "%.300s: the library tells not as many names as it has values, or memory is out", shown);
}

static ais_status construct(ais_context *context, const char *shown, const char *text, const char *data,
                            ais_stan *stan) {
    char *message = NULL, line[600] = "no reason given";
    pthread_mutex_lock(&alone); /* transformed data may be computed with derivatives */
    stan->model = stan->bridge.construct(text, 1, &message);
    pthread_mutex_unlock(&alone);
    if (message && !stan->model) ais_bridge_line(message, line, sizeof line);
    if (message) stan->bridge.free_message(message);
    if (stan->model) return AIS_OK;
    if (!data)
        return ais_fail(context, AIS_BAD_ARGUMENT,
                        "%.100s cannot be used without data: %s; name them: stan:MODEL:DATA.json", shown, line);
    return ais_fail(context, AIS_BAD_ARGUMENT, "%.100s cannot be used with %.100s: %s", shown,
                    data[strspn(data, " \t\r\n")] == '{' ? "these data" : data, line);
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
    return copy ? memcpy(copy, name, length) : "stan";
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
    char *text;
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
    stan->made = pthread_mutex_init(&stan->telling, NULL) == 0;
    status = stan->made ? load(context, &from, data, stanli, stan, home)
                        : ais_fail_memory(context, "a lock", sizeof stan->telling);
    if (status == AIS_OK) status = describe(context, from.shown, stan, home);
    if (status != AIS_OK) return status;
    ais_target *target = &home->target;
    target->name = from.name;
    target->dim = stan->dim;
    target->logp = stan_logp;
    target->grad = stan_grad;
    target->names = stan->names;
    target->view = &stan->view;
    target->tell = stan_tell;
    target->data = stan;
    return AIS_OK;
}

/* MODEL.stan:DATA or MODEL.so:DATA. The ending of the model is what the colon is known by, so that names may have
 * colons of their own. */
ais_status ais_stan_open_spec(ais_context *context, char *spec, ais_home *home) {
    char *data = NULL;
    static const char *const ending[] = {".stan:", ".so:"};
    for (int i = 0; i < 2 && !data; i++) {
        char *found = strstr(spec, ending[i]);
        if (!found) continue;
        data = found + strlen(ending[i]);
        data[-1] = '\0';
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
    if (stan->made) pthread_mutex_destroy(&stan->telling);
}
