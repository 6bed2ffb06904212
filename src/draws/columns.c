#include "draws/columns.h"

#include <ctype.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *const ais_info_name[AIS_INFO_COUNT] = {
    [AIS_INFO_ACCEPT_STAT] = "accept_stat__", [AIS_INFO_STEP_SIZE] = "stepsize__",
    [AIS_INFO_TREE_DEPTH] = "treedepth__",    [AIS_INFO_N_LEAPFROG] = "n_leapfrog__",
    [AIS_INFO_DIVERGENT] = "divergent__",     [AIS_INFO_ENERGY] = "energy__",
    [AIS_INFO_ROUND_TRIP] = "round_trip__",   [AIS_INFO_REJECTION] = "swap_rejection__",
    [AIS_INFO_TRIP] = "ladder_trip__",        [AIS_INFO_LOG_WEIGHT] = "log_weight__",
};

const ais_info_column ais_info_columns[AIS_INFO_COUNT] = {
    [AIS_INFO_ACCEPT_STAT] = {offsetof(ais_info, accept_stat), "acceptance_rate", AIS_COLUMN_DOUBLE},
    [AIS_INFO_STEP_SIZE] = {offsetof(ais_info, step_size), "step_size", AIS_COLUMN_DOUBLE},
    [AIS_INFO_TREE_DEPTH] = {offsetof(ais_info, tree_depth), "tree_depth", AIS_COLUMN_INTEGER},
    [AIS_INFO_N_LEAPFROG] = {offsetof(ais_info, n_leapfrog), "n_steps", AIS_COLUMN_INTEGER},
    [AIS_INFO_DIVERGENT] = {offsetof(ais_info, divergent), "diverging", AIS_COLUMN_BOOL},
    [AIS_INFO_ENERGY] = {offsetof(ais_info, energy), "energy", AIS_COLUMN_DOUBLE},
    [AIS_INFO_ROUND_TRIP] = {offsetof(ais_info, round_trip), "round_trip", AIS_COLUMN_DOUBLE},
    [AIS_INFO_REJECTION] = {offsetof(ais_info, rejection), "swap_rejection", AIS_COLUMN_DOUBLE},
    [AIS_INFO_TRIP] = {offsetof(ais_info, trip), "ladder_trip", AIS_COLUMN_INTEGER},
    [AIS_INFO_LOG_WEIGHT] = {offsetof(ais_info, log_weight), "log_weight", AIS_COLUMN_DOUBLE},
};

int ais_info_fields(unsigned info, int field[AIS_INFO_COUNT]) {
    int count = 0;
    for (int i = 0; i < AIS_INFO_COUNT; i++)
        if (info >> i & 1) field[count++] = i;
    return count;
}

/* ---- names in use: a hash set with open addressing ------------------------------------------- */

typedef struct name_set {
    const char **slot;
    size_t mask;
} name_set;

static size_t name_hash(const char *name) {
    uint64_t hash = 0xcbf29ce484222325U; /* FNV-1a */
    for (; *name; name++) hash = (hash ^ (unsigned char)*name) * 0x100000001b3U;
    return (size_t)(hash ^ hash >> 32);
}

static const char **name_slot(const name_set *set, const char *name) {
    size_t at = name_hash(name) & set->mask;
    while (set->slot[at] && strcmp(set->slot[at], name) != 0) at = (at + 1) & set->mask;
    return &set->slot[at];
}

static bool name_taken(const name_set *set, const char *name) { return *name_slot(set, name) != NULL; }

/* ---- one name ---------------------------------------------------------------------------------- */

typedef struct parsed_name {
    char base[AIS_NAME_BYTES + 1];
    int rank;
    int index[AIS_MAX_RANK]; /* from 1 */
} parsed_name;

static bool is_harmful(unsigned char c) { return c <= ' ' || c == 0x7f || strchr(",\"'#/\\`;", c) != NULL; }

/* Splits base.1.2 at its first dot; false unless all that follows are numbers from 1. */
static bool split_index(parsed_name *parsed) {
    char *dot = strchr(parsed->base, '.');
    if (!dot || dot == parsed->base) return false;
    int rank = 0;
    for (const char *at = dot; *at;) {
        if (*at != '.' || rank == AIS_MAX_RANK || at[1] < '1' || at[1] > '9') return false;
        char *end;
        long value = strtol(at + 1, &end, 10);
        if (end - at > 9) return false;
        parsed->index[rank++] = (int)value;
        at = end;
    }
    *dot = 0;
    parsed->rank = rank;
    return true;
}

static void join_dots(char *name) {
    for (; *name; name++)
        if (*name == '.') *name = '_';
}

/* The length of the UTF-8 character at text, 0 if there is none: netCDF and Python refuse other
 * bytes. */
static size_t character_bytes(const char *text) {
    const unsigned char *byte = (const unsigned char *)text;
    size_t length = byte[0] < 0x80 ? 1 : byte[0] < 0xc2 ? 0 : byte[0] < 0xe0 ? 2 : byte[0] < 0xf0 ? 3 : 4;
    if (byte[0] > 0xf4 || (byte[0] == 0xe0 && byte[1] < 0xa0) || (byte[0] == 0xed && byte[1] > 0x9f)) return 0;
    if ((byte[0] == 0xf0 && byte[1] < 0x90) || (byte[0] == 0xf4 && byte[1] > 0x8f)) return 0;
    for (size_t i = 1; i < length; i++)
        if ((byte[i] & 0xc0) != 0x80) return 0;
    return length;
}

static void parse_name(const char *name, parsed_name *parsed) {
    char *base = parsed->base;
    size_t length = 0;
    unsigned char initial = (unsigned char)*name;
    if (!isalnum(initial) && initial < 0x80 && initial != '_') base[length++] = '_';
    while (*name) {
        size_t bytes = character_bytes(name);
        if (length + (bytes ? bytes : 1) > AIS_NAME_BYTES) break;
        if (bytes == 0 || is_harmful((unsigned char)*name))
            base[length++] = '_';
        else
            for (size_t i = 0; i < bytes; i++) base[length++] = name[i];
        name += bytes ? bytes : 1;
    }
    base[length] = 0;
    parsed->rank = 0;
    if (!split_index(parsed)) join_dots(base);
    for (length = strlen(base); length > 1 && base[length - 1] == '_' && base[length - 2] == '_';) base[--length] = 0;
}

/* ---- groups ------------------------------------------------------------------------------------- */

static int box_place(const parsed_name *parsed, const int *extent) {
    int place = 0;
    for (int r = 0; r < parsed->rank; r++) place = place * extent[r] + parsed->index[r] - 1;
    return place;
}

/* The parameters from the first on that share its base and rank. */
static int run_length(const parsed_name *parsed, int dim) {
    int count = 1;
    while (count < dim && parsed[count].rank == parsed->rank && strcmp(parsed[count].base, parsed->base) == 0) count++;
    return count;
}

/* Whether the indices of a run fill a box, each place once. `seen` has room for count bytes. */
static bool fills_box(const parsed_name *parsed, int count, int *extent, char *seen) {
    int rank = parsed->rank;
    for (int r = 0; r < rank; r++) extent[r] = 0;
    for (int i = 0; i < count; i++)
        for (int r = 0; r < rank; r++)
            if (parsed[i].index[r] > extent[r]) extent[r] = parsed[i].index[r];
    int64_t volume = 1;
    for (int r = 0; r < rank && volume <= count; r++) volume *= extent[r];
    if (volume != count) return false;
    memset(seen, 0, (size_t)count);
    for (int i = 0; i < count; i++) {
        char *mark = &seen[box_place(&parsed[i], extent)];
        if (*mark) return false;
        *mark = 1;
    }
    return true;
}

/* A variable's name and the names of its dimensions (x_dim_0, ...) must all be free. */
static bool variable_free(const name_set *set, const char *name, int rank) {
    if (name_taken(set, name)) return false;
    for (int r = 0; r < rank; r++) {
        char dimension[AIS_NAME_BYTES + 48];
        snprintf(dimension, sizeof dimension, "%s_dim_%d", name, r);
        if (name_taken(set, dimension)) return false;
    }
    return true;
}

static char *take_text(ais_arena *arena, const char *text) {
    size_t bytes = strlen(text) + 1;
    char *copy = ais_arena_take(arena, bytes);
    if (copy) memcpy(copy, text, bytes);
    return copy;
}

static bool name_variable(ais_columns *columns, name_set *set, const char *base, ais_variable *variable) {
    char name[AIS_NAME_BYTES + 24];
    snprintf(name, sizeof name, "%s", base);
    for (int again = 2; !variable_free(set, name, variable->rank); again++)
        snprintf(name, sizeof name, "%s_%d", base, again);
    variable->name = take_text(&columns->arena, name);
    if (!variable->name) return false;
    *name_slot(set, name) = variable->name;
    for (int r = 0; r < variable->rank; r++) {
        char dimension[AIS_NAME_BYTES + 48];
        snprintf(dimension, sizeof dimension, "%s_dim_%d", name, r);
        char *copy = take_text(&columns->arena, dimension);
        if (!copy) return false;
        *name_slot(set, copy) = copy;
    }
    return true;
}

static bool name_columns(ais_columns *columns, const ais_variable *variable, const parsed_name *parsed) {
    for (int i = 0; i < variable->count; i++) {
        char name[AIS_NAME_BYTES + 24 + AIS_MAX_RANK * 12];
        int length = snprintf(name, sizeof name, "%s", variable->name);
        for (int r = 0; r < variable->rank; r++)
            length += snprintf(name + length, sizeof name - (size_t)length, ".%d", parsed[i].index[r]);
        columns->place[variable->first + i] = variable->rank ? box_place(&parsed[i], variable->extent) : 0;
        if (!(columns->name[variable->first + i] = take_text(&columns->arena, name))) return false;
    }
    return true;
}

/* A run that does not fill a box keeps its indices as plain text: x.3 alone becomes x_3, because a
 * reader would make up x.1 and x.2. */
static void drop_indices(parsed_name *parsed, int count) {
    for (int i = 0; i < count; i++) {
        size_t length = strlen(parsed[i].base);
        for (int r = 0; r < parsed[i].rank && length < AIS_NAME_BYTES; r++) {
            char *end = parsed[i].base + length;
            length += (size_t)snprintf(end, sizeof parsed[i].base - length, "_%d", parsed[i].index[r]);
        }
        parsed[i].rank = 0;
    }
}

static bool group_columns(ais_columns *columns, name_set *set, parsed_name *parsed, char *seen) {
    for (int first = 0; first < columns->dim;) {
        ais_variable *variable = &columns->variable[columns->variables];
        int count = 1;
        if (parsed[first].rank) {
            count = run_length(&parsed[first], columns->dim - first);
            if (!fills_box(&parsed[first], count, variable->extent, seen)) {
                drop_indices(&parsed[first], count);
                count = 1;
            }
        }
        variable->first = first;
        variable->count = count;
        variable->rank = parsed[first].rank;
        if (!name_variable(columns, set, parsed[first].base, variable)) return false;
        if (!name_columns(columns, variable, &parsed[first])) return false;
        columns->variables++;
        first += count;
    }
    return true;
}

ais_status ais_columns_new(ais_context *context, const ais_names *names, ais_columns **columns_out) {
    *columns_out = NULL;
    size_t dim = (size_t)names->count, slots = 64;
    /* A name and at most AIS_MAX_RANK dimensions a parameter; never more than half full. */
    while (slots < dim * 2 * (AIS_MAX_RANK + 1) + 64) slots *= 2;
    ais_arena scratch = {0};
    ais_columns *columns = calloc(1, sizeof *columns);
    parsed_name *parsed = AIS_TAKE(&scratch, parsed_name, dim);
    char *seen = AIS_TAKE(&scratch, char, dim);
    name_set set = {AIS_TAKE(&scratch, const char *, slots), slots - 1};
    bool good = columns && parsed && seen && set.slot;
    if (good) {
        columns->dim = (int)dim;
        columns->variable = AIS_TAKE(&columns->arena, ais_variable, dim);
        columns->name = AIS_TAKE(&columns->arena, char *, dim);
        columns->place = AIS_TAKE(&columns->arena, int, dim);
        good = columns->variable && columns->name && columns->place;
    }
    if (good) {
        *name_slot(&set, "chain") = "chain";
        *name_slot(&set, "draw") = "draw";
        for (int i = 0; i < columns->dim; i++) {
            char buffer[32];
            parse_name(ais_name(names, i, buffer), &parsed[i]);
        }
        good = group_columns(columns, &set, parsed, seen);
    }
    ais_arena_free(&scratch);
    if (!good) {
        ais_columns_free(columns);
        return ais_fail_memory(context, "the names of the columns", dim * sizeof *parsed);
    }
    *columns_out = columns;
    return AIS_OK;
}

void ais_columns_free(ais_columns *columns) {
    if (!columns) return;
    ais_arena_free(&columns->arena);
    free(columns);
}
