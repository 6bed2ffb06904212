#include "target/regression_data.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct source {
    const char *path;
    const ais_table *table;
    int label; /* its column */
} source;

static double cell(const source *from, size_t row, int column) {
    return from->table->value[row * (size_t)from->table->columns + (size_t)column];
}

/* What messages call a column: its name, or its number. */
static const char *column_name(const source *from, int column, char buffer[32]) {
    if (from->table->names) return from->table->names[column];
    snprintf(buffer, 32, "%d", column + 1);
    return buffer;
}

static ais_status find_label(ais_context *context, source *from, const char *label) {
    int columns = from->table->columns;
    from->label = columns - 1;
    if (!label || strcmp(label, "last") == 0) return AIS_OK;
    for (int k = 0; k < columns && from->table->names; k++)
        if (strcmp(from->table->names[k], label) == 0) {
            from->label = k;
            return AIS_OK;
        }
    char *end;
    long number = strtol(label, &end, 10);
    if (end != label && *end == '\0' && number >= 1 && number <= columns) {
        from->label = (int)number - 1;
        return AIS_OK;
    }
    if (from->table->names)
        return ais_fail(context, AIS_BAD_ARGUMENT,
                        "%s: there is no column '%.60s' for the label; give a name of the header (e.g. %.60s) or a "
                        "number from 1 to %d",
                        from->path, label, from->table->names[columns - 1], columns);
    return ais_fail(context, AIS_BAD_ARGUMENT,
                    "%s: label is '%.60s', but the file has no header: give the column's number from 1 to %d",
                    from->path, label, columns);
}

static ais_status check_numbers(ais_context *context, const source *from) {
    char buffer[32];
    for (size_t row = 0; row < from->table->rows; row++)
        for (int k = 0; k < from->table->columns; k++)
            if (!isfinite(cell(from, row, k)))
                return ais_fail(context, AIS_BAD_FORMAT, "%s:%ld: column %s is %g; fill in or drop rows like this one",
                                from->path, from->table->line[row], column_name(from, k, buffer), cell(from, row, k));
    return AIS_OK;
}

/* The smaller of the two values becomes 0, the larger 1. */
static ais_status set_label(ais_context *context, const source *from, double *label) {
    char buffer[32];
    double low = cell(from, 0, from->label), high = low;
    for (size_t row = 1; row < from->table->rows; row++) {
        double value = cell(from, row, from->label);
        if (low == high && value != low) {
            low = value < low ? value : low;
            high = value > high ? value : high;
        }
        if (value != low && value != high)
            return ais_fail(context, AIS_BAD_FORMAT,
                            "%s:%ld: the label (column %s) is %g after %g and %g, but must have two values; choose "
                            "another column with label=NAME or a number",
                            from->path, from->table->line[row], column_name(from, from->label, buffer), value, low,
                            high);
    }
    if (low == high)
        return ais_fail(context, AIS_BAD_FORMAT,
                        "%s: the label (column %s) is %g in every row, but must have two values", from->path,
                        column_name(from, from->label, buffer), low);
    for (size_t row = 0; row < from->table->rows; row++) label[row] = cell(from, row, from->label) == high;
    return AIS_OK;
}

/* Column k of the table as covariate i: less its mean, over its standard deviation (of the n rows). */
static ais_status standardise(ais_context *context, const source *from, int k, int i, int dim, double *covariate) {
    char buffer[32];
    size_t rows = from->table->rows;
    double mean = 0, square = 0, low = cell(from, 0, k), high = low;
    for (size_t row = 0; row < rows; row++) {
        low = fmin(low, cell(from, row, k));
        high = fmax(high, cell(from, row, k));
    }
    /* Relative to the largest, so that neither tiny nor huge values leave the range of double. */
    double scale = low == high ? 1 : fmax(fabs(low), fabs(high));
    for (size_t row = 0; row < rows; row++) mean += cell(from, row, k) / scale / (double)rows;
    for (size_t row = 0; row < rows; row++) square += pow(cell(from, row, k) / scale - mean, 2);
    double sd = sqrt(square / (double)rows);
    if (low == high || !(sd > 0))
        return ais_fail(context, AIS_BAD_FORMAT,
                        "%s: column %s is %g in every row; remove it, the regression has a bias of its own", from->path,
                        column_name(from, k, buffer), low);
    for (size_t row = 0; row < rows; row++)
        covariate[row * (size_t)dim + (size_t)i] = (cell(from, row, k) / scale - mean) / sd;
    return AIS_OK;
}

static const char *copy_name(const source *from, int k, int i, ais_arena *arena) {
    char buffer[32];
    const char *name = buffer;
    if (from->table->names)
        name = from->table->names[k];
    else
        snprintf(buffer, sizeof buffer, "x%d", i);
    size_t size = strlen(name) + 1;
    char *copy = ais_arena_take(arena, size);
    return copy ? memcpy(copy, name, size) : NULL;
}

static ais_status set_covariates(ais_context *context, const source *from, ais_arena *arena, double *covariate,
                                 const char **names) {
    int dim = from->table->columns, i = 1;
    names[0] = "bias";
    for (size_t row = 0; row < from->table->rows; row++) covariate[row * (size_t)dim] = 1;
    for (int k = 0; k < from->table->columns; k++) {
        if (k == from->label) continue;
        ais_status status = standardise(context, from, k, i, dim, covariate);
        if (status != AIS_OK) return status;
        names[i] = copy_name(from, k, i, arena);
        if (!names[i]) return ais_fail_memory(context, from->path, 1);
        i++;
    }
    return AIS_OK;
}

ais_status ais_regression_prepare(ais_context *context, const char *path, const ais_table *table, const char *label,
                                  ais_arena *arena, ais_regression_data *data) {
    source from = {.path = path, .table = table};
    if (table->columns < 2)
        return ais_fail(
            context, AIS_BAD_FORMAT,
            "%s:%ld: there is one column, but a regression needs covariates and a label, separated by commas", path,
            table->line[0]);
    ais_status status = find_label(context, &from, label);
    if (status == AIS_OK) status = check_numbers(context, &from);
    if (status != AIS_OK) return status;
    size_t cells = table->rows * (size_t)table->columns;
    double *covariate = AIS_TAKE(arena, double, cells), *labels = AIS_TAKE(arena, double, table->rows);
    const char **names = AIS_TAKE(arena, const char *, table->columns);
    if (!covariate || !labels || !names) return ais_fail_memory(context, path, cells * sizeof(double));
    *data = (ais_regression_data){table->rows, table->columns, covariate, labels, names};
    status = set_label(context, &from, labels);
    return status == AIS_OK ? set_covariates(context, &from, arena, covariate, names) : status;
}
