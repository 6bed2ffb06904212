#include "shown.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct list {
    const char *const *name;
    int count;
} list;

/* ---- names ------------------------------------------------------------------------------------------------ */

/* Names may contain commas and equals signs: the longest one that ends at one of `ends` or at the end. -1: none. */
static int name_at(const list *known, const char *at, const char *ends, size_t *length) {
    int found = -1;
    *length = 0;
    for (int i = 0; i < known->count; i++) {
        size_t n = strlen(known->name[i]);
        if (n < *length || strncmp(at, known->name[i], n) != 0 || (at[n] && !strchr(ends, at[n]))) continue;
        found = i;
        *length = n;
    }
    return found;
}

static int find(const list *known, const char *name) {
    for (int i = 0; i < known->count; i++)
        if (strcmp(known->name[i], name) == 0) return i;
    return -1;
}

static int unknown(const list *known, const char *at, size_t length) {
    char wrong[256];
    snprintf(wrong, sizeof wrong, "%.*s", (int)(length < 200 ? length : 200), at);
    const char **words = calloc((size_t)known->count + 1, sizeof *words);
    for (int i = 0; words && i < known->count; i++) words[i] = known->name[i];
    const char *near = words ? ais_nearest(wrong, words) : NULL;
    free(words);
    if (near) return complain(EXIT_USAGE, "there is no parameter '%s'; did you mean '%s'?", wrong, near);
    return complain(EXIT_USAGE, "there is no parameter '%s'; there are %s%s%s", wrong, known->name[0],
                    known->count > 1 ? " to " : "", known->count > 1 ? known->name[known->count - 1] : "");
}

/* ---- which ------------------------------------------------------------------------------------------------ */

/* x stands for x.1, x.2, ...; adds them and says how many. */
static int add_vector(shown *set, const list *known, const char *at, size_t length) {
    int added = 0;
    for (int i = 0; length && i < known->count; i++) {
        if (strncmp(known->name[i], at, length) != 0 || known->name[i][length] != '.') continue;
        set->parameter[set->parameters++] = i;
        added++;
    }
    return added;
}

static int find_parameters(shown *set, const list *known) {
    /* a word of the list stands for at most all parameters */
    size_t words = 1;
    for (const char *at = set->names; *at; at++) words += *at == ',';
    set->parameter = malloc(words * (size_t)known->count * sizeof *set->parameter);
    if (!set->parameter) return complain(EXIT_FAILED, "out of memory");
    for (const char *at = set->names; at; at = *at ? at + 1 : NULL) {
        size_t length;
        int found = name_at(known, at, ",", &length);
        if (found >= 0) {
            set->parameter[set->parameters++] = found;
        } else {
            length = strcspn(at, ",");
            if (add_vector(set, known, at, length) == 0) return unknown(known, at, length);
        }
        at += length;
    }
    return 0;
}

/* ---- true values ------------------------------------------------------------------------------------------ */

static int read_list(shown *set, const list *known) {
    for (const char *at = set->truths; at;) {
        size_t length;
        int found = name_at(known, at, "=", &length);
        if (found < 0 || at[length] != '=') return unknown(known, at, strcspn(at, "=,"));
        char *end;
        const char *value = at + length + 1;
        set->truth[found] = strtod(value, &end);
        if (end == value || (*end && *end != ',') || !isfinite(set->truth[found]))
            return complain(EXIT_USAGE, "--truth takes a number for %s, not '%.*s'", known->name[found],
                            (int)strcspn(value, ","), value);
        at = *end ? end + 1 : NULL;
    }
    return 0;
}

/* A number, or an array of them, whose elements are called NAME.1, NAME.2, ..., as those of draws are. */
static int read_value(shown *set, const list *known, const char *name, const json_t *value) {
    if (json_is_array(value)) {
        int code = 0;
        for (size_t i = 0; code == 0 && i < json_array_size(value); i++) {
            char element[512];
            snprintf(element, sizeof element, "%.480s.%zu", name, i + 1);
            code = read_value(set, known, element, json_array_get(value, i));
        }
        return code;
    }
    int found = find(known, name);
    if (!json_is_number(value)) return complain(EXIT_USAGE, "%s: %s is not a number", set->truths, name);
    if (found < 0) return unknown(known, name, strlen(name));
    set->truth[found] = json_number_value(value);
    return 0;
}

static int read_file(shown *set, const list *known) {
    json_error_t error;
    FILE *file = fopen(set->truths, "r");
    if (!file)
        return complain(EXIT_USAGE, "--truth: '%s' is neither NAME=VALUE nor a file that can be read: %s", set->truths,
                        strerror(errno));
    json_t *json = json_loadf(file, 0, &error);
    fclose(file);
    if (!json) return complain(EXIT_USAGE, "%s is not JSON: %s in line %d", set->truths, error.text, error.line);
    int code = json_is_object(json) ? 0 : complain(EXIT_USAGE, "%s is not an object such as {\"x\": 1.5}", set->truths);
    const char *name;
    json_t *value;
    if (code == 0) json_object_foreach(json, name, value) {
            code = read_value(set, known, name, value);
            if (code != 0) break;
        }
    json_decref(json);
    return code;
}

static int find_truths(shown *set, const list *known) {
    set->truth = malloc((size_t)known->count * sizeof *set->truth);
    if (!set->truth) return complain(EXIT_FAILED, "out of memory");
    for (int i = 0; i < known->count; i++) set->truth[i] = NAN;
    return strchr(set->truths, '=') ? read_list(set, known) : read_file(set, known);
}

int shown_find(shown *set, const char *const *names, int count) {
    const list known = {names, count};
    int code = set->names ? find_parameters(set, &known) : 0;
    return code == 0 && set->truths ? find_truths(set, &known) : code;
}

int shown_find_of(shown *set, const ais_target *target) {
    if (!set->names && !set->truths) return 0;
    size_t count = (size_t)ais_target_shown(target);
    const char **name = calloc(count, sizeof *name);
    char(*room)[32] = malloc(count * sizeof *room);
    int code = name && room ? 0 : complain(EXIT_FAILED, "out of memory");
    for (size_t i = 0; code == 0 && i < count; i++) name[i] = ais_target_shown_name(target, (int)i, room[i]);
    if (code == 0) code = shown_find(set, name, (int)count);
    free(name);
    free(room);
    return code;
}

void shown_free(shown *set) {
    free(set->parameter);
    free(set->truth);
    set->parameter = NULL;
    set->truth = NULL;
    set->parameters = 0;
}
