#include "classical/classical.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ROW(name) &ais_classical_##name,
static const ais_classical *const table[] = {AIS_CLASSICAL_KERNELS(ROW)};
#undef ROW
enum { TABLE = sizeof table / sizeof *table };

const ais_classical_field ais_classical_fields[] = {
    {"step_size", AIS_FIELD_NUMBER, offsetof(ais_classical_options, step_size)},
    {"scale", AIS_FIELD_NUMBER, offsetof(ais_classical_options, scale)},
    {"target_accept", AIS_FIELD_NUMBER, offsetof(ais_classical_options, target_accept)},
    {"jitter", AIS_FIELD_NUMBER, offsetof(ais_classical_options, jitter)},
    {"leapfrogs", AIS_FIELD_COUNT, offsetof(ais_classical_options, leapfrogs)},
    {"max_depth", AIS_FIELD_COUNT, offsetof(ais_classical_options, max_depth)},
    {"dense", AIS_FIELD_FLAG, offsetof(ais_classical_options, dense)},
    {0},
};

const ais_classical_entry *ais_classical_builtin(int i) { return i >= 0 && i < TABLE ? &table[i]->entry : NULL; }

const ais_classical *ais_classical_of(const ais_kernel *kernel) {
    for (int i = 0; i < TABLE; i++)
        if (table[i]->type == kernel->type) return table[i];
    return NULL;
}

const ais_classical *ais_classical_find(const char *name) {
    for (int i = 0; i < TABLE; i++)
        if (strcmp(table[i]->entry.name, name) == 0) return table[i];
    return NULL;
}

bool ais_classical_takes(const ais_classical_entry *entry, const char *option) {
    size_t length = strlen(option);
    for (const char *at = entry->options; *at; at += strspn(at, " ")) {
        size_t word = strcspn(at, " ");
        if (word == length && memcmp(at, option, length) == 0) return true;
        at += word;
    }
    return false;
}

const ais_classical_field *ais_classical_option(const ais_classical *row, int k) {
    const char *at = row->entry.options;
    for (; *at && k > 0; k--) {
        at += strcspn(at, " ");
        at += strspn(at, " ");
    }
    size_t length = strcspn(at, " ");
    for (const ais_classical_field *field = ais_classical_fields; length && field->key; field++)
        if (strlen(field->key) == length && memcmp(field->key, at, length) == 0) return field;
    return NULL;
}

void ais_classical_list(const char *last, char *text, size_t size) {
    size_t used = 0;
    for (int i = 0; i < TABLE && used < size; i++)
        used += (size_t)snprintf(text + used, size - used, "%s%s",
                                 i == 0          ? ""
                                 : i + 1 < TABLE ? ", "
                                                 : last,
                                 table[i]->entry.name);
}

static bool is_given(const ais_classical_options *options, const ais_classical_field *field) {
    const char *at = (const char *)options + field->offset;
    switch (field->kind) {
    case AIS_FIELD_NUMBER:
        return *(const double *)(const void *)at != 0;
    case AIS_FIELD_COUNT:
        return *(const int *)(const void *)at != 0;
    default:
        return *(const bool *)(const void *)at;
    }
}

ais_status ais_kernel_classical(ais_context *context, const char *name, const ais_classical_options *options,
                                ais_kernel **kernel) {
    const ais_classical *row = ais_classical_find(name);
    const ais_classical_options wish = options ? *options : (ais_classical_options){0};
    char known[128];
    *kernel = NULL;
    ais_classical_list(" and ", known, sizeof known);
    if (!row)
        return ais_fail(context, AIS_BAD_ARGUMENT, "there is no classical kernel '%.100s'; there are %s", name, known);
    for (const ais_classical_field *field = ais_classical_fields; field->key; field++)
        if (is_given(&wish, field) && !ais_classical_takes(&row->entry, field->key))
            return ais_fail(context, AIS_BAD_ARGUMENT, "%s takes no %s", name, field->key);
    return row->make(context, &wish, kernel);
}

ais_status ais_classical_keep(ais_context *context, const ais_kernel *made, size_t size, ais_kernel **kernel) {
    *kernel = malloc(size);
    if (!*kernel) return ais_fail_memory(context, made->type->name, size);
    memcpy(*kernel, made, size);
    return AIS_OK;
}

void ais_classical_free(ais_kernel *kernel) { free(kernel); }
