#include "target/fields.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static bool one_of(const char *text, const char *const *list) {
    for (; *list; list++)
        if (strcasecmp(text, *list) == 0) return true;
    return false;
}

static bool is_missing(const char *cell) {
    static const char *const list[] = {"", "NA", "N/A", "nan", "null", "?", NULL};
    return one_of(cell, list);
}

static bool called_like_an_outcome(const char *name) {
    static const char *const list[] = {"y",      "label",    "labels", "outcome", "class", "target",
                                       "result", "response", "count",  "counts",  NULL};
    return one_of(name, list);
}

/* ---- reading --------------------------------------------------------------------------------------- */

static ais_status take_names(ais_context *context, ais_fields *fields, ais_table *table) {
    enum { DIGITS = 12 };
    for (int k = 0; k < table->columns; k++) {
        fields->field[k].name = table->names ? table->names[k] : "";
        if (fields->field[k].name[0]) continue;
        char *number = ais_arena_take(&table->arena, DIGITS);
        if (!number) return ais_fail_memory(context, fields->path, DIGITS);
        snprintf(number, DIGITS, "%d", k + 1);
        fields->field[k].name = number;
    }
    fields->numbered_rows = table->names && table->columns > 2 && !table->names[0][0];
    fields->field[0].left_out = fields->numbered_rows;
    return AIS_OK;
}

/* Whether rows a and b have the same value in column k: "1" and "1.0" are, as numbers. */
static bool equal(const ais_fields *fields, size_t a, size_t b, int k) {
    double first = ais_field_value(fields, a, k), second = ais_field_value(fields, b, k);
    if (!isnan(first) && !isnan(second)) return first == second;
    return strcmp(ais_field_text(fields, a, k), ais_field_text(fields, b, k)) == 0;
}

static void look_at(const ais_fields *fields, int k, ais_field *field) {
    size_t numbers = 0, texts = 0, different[2] = {0};
    field->counts = true;
    for (size_t row = 0; row < fields->table->rows; row++) {
        if (ais_field_missing(fields, row, k)) continue;
        double value = ais_field_value(fields, row, k);
        if (isnan(value) && texts++ == 0) field->odd = row;
        if (!isnan(value)) numbers++;
        if (!(value >= 0) || value != floor(value) || isinf(value)) field->counts = false;
        bool known = (field->values > 0 && equal(fields, row, different[0], k)) ||
                     (field->values > 1 && equal(fields, row, different[1], k));
        if (known || field->values == 3) continue;
        if (field->values < 2) different[field->values] = row;
        field->values++;
    }
    field->kind = numbers && texts ? AIS_FIELD_MIXED
                  : numbers        ? AIS_FIELD_NUMBERS
                  : texts          ? AIS_FIELD_TEXT
                                   : AIS_FIELD_EMPTY;
    field->factor = field->kind == AIS_FIELD_TEXT;
}

ais_status ais_fields_read(ais_context *context, const char *path, ais_table *table, ais_fields *fields) {
    size_t cells = table->rows * (size_t)table->columns;
    double *value = AIS_TAKE(&table->arena, double, cells);
    bool *missing = AIS_TAKE(&table->arena, bool, cells);
    *fields = (ais_fields){.path = path,
                           .table = table,
                           .field = AIS_TAKE(&table->arena, ais_field, table->columns),
                           .value = value,
                           .missing = missing};
    if (!value || !missing || !fields->field) return ais_fail_memory(context, path, cells * sizeof *value);
    for (size_t i = 0; i < cells; i++) {
        missing[i] = is_missing(table->cell[i]);
        if (missing[i] || !ais_cell_number(table->cell[i], table->separator, &value[i])) value[i] = NAN;
    }
    ais_status status = take_names(context, fields, table);
    for (int k = 0; k < table->columns; k++) look_at(fields, k, &fields->field[k]);
    return status;
}

/* ---- choosing -------------------------------------------------------------------------------------- */

/* The column called `name`, or whose number it is; -1 if there is none. */
static int find(const ais_fields *fields, const char *name) {
    for (int k = 0; k < fields->table->columns; k++)
        if (strcmp(fields->field[k].name, name) == 0) return k;
    char *end;
    long number = strtol(name, &end, 10);
    return end != name && *end == '\0' && number >= 1 && number <= fields->table->columns ? (int)number - 1 : -1;
}

static ais_status no_such(ais_context *context, const ais_fields *fields, const char *key, const char *name) {
    int columns = fields->table->columns;
    if (fields->table->names)
        return ais_fail(context, AIS_BAD_ARGUMENT,
                        "%s: there is no column '%.60s' for %s; give a name of the header (e.g. %.60s) or a number "
                        "from 1 to %d",
                        fields->path, name, key, fields->field[columns - 1].name, columns);
    return ais_fail(context, AIS_BAD_ARGUMENT,
                    "%s: %s is '%.60s', but the file has no header: give the column's number from 1 to %d",
                    fields->path, key, name, columns);
}

/* Marks the columns of a list a+b+c. */
static ais_status mark(ais_context *context, ais_fields *fields, const char *key, const char *list, bool factor) {
    char name[256];
    while (list && *list) {
        size_t length = strcspn(list, "+");
        snprintf(name, sizeof name, "%.*s", (int)length, list);
        int k = find(fields, name);
        if (k < 0) return no_such(context, fields, key, name);
        if (factor) {
            fields->field[k].factor = true;
            fields->field[k].left_out = false;
        } else {
            fields->field[k].left_out = true;
        }
        list += length + (list[length] == '+');
    }
    return AIS_OK;
}

static bool fits(const ais_field *field, ais_outcome outcome) {
    if (field->left_out) return false;
    if (outcome == AIS_OUTCOME_BINARY) return field->values == 2;
    if (outcome == AIS_OUTCOME_COUNT) return field->kind == AIS_FIELD_NUMBERS && field->counts && field->values > 1;
    return field->kind == AIS_FIELD_NUMBERS && field->values > 2;
}

static const char *const needed[] = {"two values", "numbers", "counts (whole numbers, none negative)"};

/* The message that asks for the label: why the last column is not obviously it, and the candidates. */
static ais_status ask(ais_context *context, const ais_field_wish *wish, const ais_fields *fields, int last) {
    char list[400] = "";
    size_t used = 0;
    int candidates = 0;
    for (int k = 0; k < fields->table->columns && used + 80 < sizeof list; k++)
        if (fits(&fields->field[k], wish->outcome) ||
            (!fields->field[k].left_out && called_like_an_outcome(fields->field[k].name)))
            used += (size_t)snprintf(list + used, sizeof list - used, "%s%.60s", candidates++ ? ", " : "",
                                     fields->field[k].name);
    if (candidates == 0)
        return ais_fail(context, AIS_BAD_ARGUMENT,
                        "%s: no column can be the outcome of %s: none has %s; choose it with label=NAME", fields->path,
                        wish->model, needed[wish->outcome]);
    bool good = fits(&fields->field[last], wish->outcome);
    return ais_fail(context, AIS_BAD_ARGUMENT,
                    "%s: which column is the outcome of %s? The last one, %.60s, %s%s; add label=NAME after the file. "
                    "Candidates: %s",
                    fields->path, wish->model, fields->field[last].name,
                    good ? "is not the only candidate" : "does not have ", good ? "" : needed[wish->outcome], list);
}

static ais_status find_label(ais_context *context, const ais_field_wish *wish, ais_fields *fields) {
    int last = fields->table->columns - 1;
    while (last > 0 && fields->field[last].left_out) last--;
    fields->label = last;
    if (wish->label) {
        if (strcmp(wish->label, "last") != 0) fields->label = find(fields, wish->label);
        if (fields->label < 0) return no_such(context, fields, "label", wish->label);
        if (fields->field[fields->label].left_out)
            return ais_fail(context, AIS_BAD_ARGUMENT, "%s: column %s cannot be the label and be dropped", fields->path,
                            fields->field[fields->label].name);
        return AIS_OK;
    }
    bool rival = false; /* another column may be meant */
    bool named = called_like_an_outcome(fields->field[last].name);
    for (int k = 0; k < fields->table->columns; k++) {
        const ais_field *field = &fields->field[k];
        if (k == last || field->left_out) continue;
        rival |= called_like_an_outcome(field->name) || (!named && fits(field, wish->outcome));
    }
    if (rival || !fits(&fields->field[last], wish->outcome)) return ask(context, wish, fields, last);
    return AIS_OK;
}

ais_status ais_fields_choose(ais_context *context, const ais_field_wish *wish, ais_fields *fields) {
    ais_status status = mark(context, fields, "drop", wish->drop, false);
    if (status == AIS_OK) status = mark(context, fields, "factor", wish->factor, true);
    if (status == AIS_OK) status = find_label(context, wish, fields);
    if (status != AIS_OK) return status;
    for (int k = 0; k < fields->table->columns; k++) {
        const ais_field *field = &fields->field[k];
        if (field->left_out || k == fields->label || field->kind != AIS_FIELD_MIXED || field->factor) continue;
        return ais_fail(context, AIS_BAD_FORMAT,
                        "%s:%ld: column %s is '%.40s', but a number in other rows; correct it, or add factor=%.60s or "
                        "drop=%.60s",
                        fields->path, fields->table->line[field->odd], field->name,
                        ais_field_text(fields, field->odd, k), field->name, field->name);
    }
    return AIS_OK;
}
