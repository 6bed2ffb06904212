#include "file/classical_json.h"

#include "classical/classical.h"

bool ais_is_classical(const ais_kernel *kernel) { return ais_classical_of(kernel) != NULL; }

static json_t *value_of(const ais_classical_options *options, const ais_classical_field *field) {
    const void *at = (const char *)options + field->offset;
    return field->kind == AIS_FIELD_NUMBER  ? json_real(*(const double *)at)
           : field->kind == AIS_FIELD_COUNT ? json_integer(*(const int *)at)
                                            : json_boolean(*(const bool *)at);
}

static bool take_value(const json_t *value, const ais_classical_field *field, ais_classical_options *options) {
    void *at = (char *)options + field->offset;
    switch (field->kind) {
    case AIS_FIELD_NUMBER:
        *(double *)at = json_number_value(value);
        return json_is_number(value);
    case AIS_FIELD_COUNT:
        *(int *)at = (int)json_integer_value(value);
        return json_is_integer(value);
    default:
        *(bool *)at = json_is_true(value);
        return json_is_boolean(value);
    }
}

json_t *ais_classical_to_json(const ais_kernel *kernel) {
    const ais_classical *row = ais_classical_of(kernel);
    json_t *json = row ? json_pack("{ss}", "kernel", row->entry.name) : NULL;
    if (!json) return NULL;
    const ais_classical_options options = row->options(kernel);
    const ais_classical_field *field;
    for (int k = 0; (field = ais_classical_option(row, k)); k++)
        if (json_object_set_new(json, field->key, value_of(&options, field)) != 0) {
            json_decref(json);
            return NULL;
        }
    return json;
}

/* All options of the kernel must be there, each of its kind, and no others. */
ais_status ais_classical_from_json(ais_context *context, const json_t *json, ais_kernel **kernel) {
    const char *name = json_string_value(json_object_get(json, "kernel"));
    const ais_classical *row = name ? ais_classical_find(name) : NULL;
    ais_classical_options options = {0};
    const ais_classical_field *field;
    bool whole = row != NULL;
    size_t count = 1;
    *kernel = NULL;
    for (int k = 0; whole && (field = ais_classical_option(row, k)); k++, count++)
        whole = take_value(json_object_get(json, field->key), field, &options);
    if (whole && json_object_size(json) == count) return row->make(context, &options, kernel);
    char known[128];
    ais_classical_list(" or ", known, sizeof known);
    return ais_fail(context, AIS_BAD_ARGUMENT, "an inner kernel that is not %s with all its options", known);
}
