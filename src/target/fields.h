/* The columns of a table: what is in them, which of them a regression uses, and which one is its outcome. */
#ifndef AIS_TARGET_FIELDS_H
#define AIS_TARGET_FIELDS_H

#include "base/csv.h"

typedef enum ais_outcome { AIS_OUTCOME_BINARY, AIS_OUTCOME_NUMBER, AIS_OUTCOME_COUNT } ais_outcome;

typedef enum ais_field_kind {
    AIS_FIELD_EMPTY, /* nothing but missing values */
    AIS_FIELD_NUMBERS,
    AIS_FIELD_TEXT,
    AIS_FIELD_MIXED /* numbers in some rows, text in others */
} ais_field_kind;

typedef struct ais_field {
    const char *name; /* of the header, or its number from 1 */
    ais_field_kind kind;
    int values;  /* different ones; 3: three or more */
    bool counts; /* whole numbers, none negative */
    bool factor; /* its values are levels: text, or because the caller says so */
    bool left_out;
    size_t odd; /* mixed: a row with text */
} ais_field;

typedef struct ais_fields {
    const char *path;
    const ais_table *table;
    ais_field *field;    /* table->columns of them */
    const double *value; /* rows x columns; NAN for text and missing values */
    const bool *missing; /* rows x columns */
    bool numbered_rows;  /* the first column has no name and was taken for row names */
    int label;           /* the column of the outcome */
} ais_fields;

/* The caller's choice of columns: names, or numbers from 1; lists are joined by +. NULL where nothing was chosen. */
typedef struct ais_field_wish {
    const char *model; /* for messages: blr, linear, poisson */
    ais_outcome outcome;
    const char *label; /* "last" is the last one */
    const char *factor, *drop;
} ais_field_wish;

/* Reads every cell: NA, N/A, nan, null, ? and nothing at all are missing values. Memory comes from the table's arena.
 */
ais_status ais_fields_read(ais_context *context, const char *path, ais_table *table, ais_fields *fields);

/* Sets left_out, factor and label. If no label is given it must be obvious: the last column, if it can be an
 * outcome of this kind and no other can, or if it is called like one (y, label, outcome, ...) and no other is.
 * Otherwise the message asks for it and lists the candidates. */
ais_status ais_fields_choose(ais_context *context, const ais_field_wish *wish, ais_fields *fields);

static inline double ais_field_value(const ais_fields *fields, size_t row, int k) {
    return fields->value[row * (size_t)fields->table->columns + (size_t)k];
}
static inline const char *ais_field_text(const ais_fields *fields, size_t row, int k) {
    return fields->table->cell[row * (size_t)fields->table->columns + (size_t)k];
}
static inline bool ais_field_missing(const ais_fields *fields, size_t row, int k) {
    return fields->missing[row * (size_t)fields->table->columns + (size_t)k];
}

#endif
