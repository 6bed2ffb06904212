/* Opening targets by name. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <aisampler/draws.h>

#include "base/nearest.h"
#include "target/builtin.h"
#include "target/empirical.h"
#include "target/own.h"
#include "target/stan.h"

static const ais_target_type *const table[] = {
    &ais_target_mog2,     &ais_target_mog6,   &ais_target_ring,   &ais_target_ring5,
    &ais_target_triangle, &ais_target_heart,  &ais_target_german, &ais_target_australian,
    &ais_target_gaussian, &ais_target_funnel, &ais_target_banana, &ais_target_twomodes,
};
enum { TABLE = sizeof table / sizeof *table };

const ais_target_entry *ais_target_builtin(int i) { return i >= 0 && i < TABLE ? &table[i]->entry : NULL; }

static const char *word(const void *nothing, int i) {
    (void)nothing;
    static const char *const others[] = {"blr", "linear", "poisson", "data", "stan", NULL};
    return i < TABLE ? table[i]->entry.name : others[i - TABLE];
}

static void close_home(ais_target *target) {
    ais_home *home = (ais_home *)target;
    ais_stan_release(home->stan);
    ais_own_release(home);
    ais_arena_free(&home->arena);
    ais_draws_free(home->draws);
    free(home);
}

void ais_target_close(ais_target *target) {
    if (target && target->close) target->close(target);
}

static ais_status unknown_name(ais_context *context, const char *name) {
    if (strchr(name, '/') || strchr(name, '.'))
        return ais_fail(context, AIS_BAD_ARGUMENT,
                        "'%.200s' is not a target: a file must be FILE.c, FILE.so, stan:FILE.stan, blr:FILE.csv or "
                        "data:DRAWS.csv, and 'aisampler targets' lists the built-in ones",
                        name);
    const char *near = ais_nearest_word(name, word, NULL);
    return ais_fail(context, AIS_BAD_ARGUMENT, "there is no target '%.200s'%s%s%s; 'aisampler targets' lists them",
                    name, near ? " (did you mean '" : "", near ? near : "", near ? "'?)" : "");
}

static ais_status open_type(ais_context *context, const ais_target_type *type, char *options, const char *file,
                            ais_home *home) {
    ais_value value[AIS_MAX_OPTIONS];
    ais_status status = ais_options_parse(context, type, options, value);
    if (status != AIS_OK) return status;
    home->target.name = type->entry.name;
    return type->open(context, value, file, home);
}

/* MODEL:FILE[:options]. The last colon begins options if what follows looks like them, so that a file name may have
 * colons of its own. */
static ais_status open_regression(ais_context *context, const ais_target_type *type, char *file, ais_home *home) {
    char *colon = strrchr(file, ':'), *options = NULL;
    if (colon && strchr(colon, '=') && !strchr(colon, '/')) {
        *colon = '\0';
        options = colon + 1;
    }
    if (*file == '\0')
        return ais_fail(context, AIS_BAD_ARGUMENT, "%s needs a file: %s:FILE.csv[:%s]", type->entry.name,
                        type->entry.name, type->entry.options);
    return open_type(context, type, options, file, home);
}

/* What stands behind "name:" or the end of "name"; NULL if spec begins otherwise. */
static char *behind(char *spec, const char *name) {
    size_t length = strlen(name);
    if (strncmp(spec, name, length) != 0 || (spec[length] && spec[length] != ':')) return NULL;
    return spec + length + (spec[length] == ':');
}

/* spec is a copy in the home's arena and is taken apart in place. */
static ais_status open_spec(ais_context *context, char *spec, ais_home *home) {
    static const ais_target_type *const regressions[] = {&ais_target_blr, &ais_target_linear, &ais_target_poisson};
    for (int i = 0; i < 3; i++) {
        char *file = behind(spec, regressions[i]->entry.name);
        if (file) return open_regression(context, regressions[i], file, home);
    }
    if (behind(spec, "data")) return ais_empirical_open(context, spec, behind(spec, "data"), home);
    if (behind(spec, "stan")) return ais_stan_open_spec(context, behind(spec, "stan"), home);
    char *options = ais_own_options(spec);
    bool own = options != NULL;
    if (!own) options = strchr(spec, ':');
    if (options && *options)
        *options++ = '\0';
    else
        options = NULL;
    if (own) return ais_own_open(context, spec, options, home);
    for (int i = 0; i < TABLE; i++)
        if (strcmp(spec, table[i]->entry.name) == 0) return open_type(context, table[i], options, NULL, home);
    return unknown_name(context, spec);
}

static ais_home *new_home(ais_context *context) {
    ais_home *home = ais_allocate(sizeof *home);
    if (home)
        home->target.close = close_home;
    else
        ais_fail_memory(context, "a target", sizeof *home);
    return home;
}

/* Hands an opened home over to the caller, or closes one that failed. */
static ais_status hand_over(ais_status status, ais_home *home, ais_target **target) {
    if (status != AIS_OK)
        close_home(&home->target);
    else
        *target = &home->target;
    return status;
}

ais_status ais_target_open(ais_context *context, const char *spec, ais_target **target) {
    *target = NULL;
    if (!spec || !*spec)
        return ais_fail(context, AIS_BAD_ARGUMENT, "no target was given; 'aisampler targets' lists them");
    ais_home *home = new_home(context);
    if (!home) return AIS_NO_MEMORY;
    size_t size = strlen(spec) + 1;
    char *copy = ais_arena_take(&home->arena, size), *whole = ais_arena_take(&home->arena, size);
    ais_status status = copy && whole ? open_spec(context, memcpy(copy, spec, size), home)
                                      : ais_fail_memory(context, "the name of a target", size);
    /* What is written into files must open the same density again. */
    if (status == AIS_OK && behind(memcpy(whole, spec, size), home->target.name)) home->target.name = whole;
    return hand_over(status, home, target);
}

ais_status ais_target_stan(ais_context *context, const char *model, const char *data, const char *stanli,
                           ais_target **target) {
    *target = NULL;
    if (!model || !*model) return ais_fail(context, AIS_BAD_ARGUMENT, "no Stan program was given");
    ais_home *home = new_home(context);
    return home ? hand_over(ais_stan_open(context, model, data, stanli, home), home, target) : AIS_NO_MEMORY;
}

void ais_target_tell(const ais_target *target, char *text, size_t size) {
    text[0] = '\0';
    if (target->tell) target->tell(text, size, target->data);
}
