#include "target/regression_data.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What is made of the table, under way. */
typedef struct design {
    ais_fields fields;
    ais_arena *arena;   /* of what stays */
    ais_arena *scratch; /* of what does not */
    size_t *row;        /* of the table, those that are used */
    size_t rows;
    double *covariate, *mean, *sd, *column; /* column: rows values of the covariate under way */
    const char **names;
    int dim, next; /* covariates in all, and set so far */
    int used;      /* columns of the table that became covariates so far */
    bool intercept;
} design;

static const char *name_of(const design *this, int k) { return this->fields.field[k].name; }

static const char *copy_text(ais_arena *arena, const char *text) {
    size_t size = strlen(text) + 1;
    char *copy = ais_arena_take(arena, size);
    return copy ? memcpy(copy, text, size) : NULL;
}

/* ---- rows -------------------------------------------------------------------------------------------- */

/* The column with the most missing values. */
static int worst_column(const ais_fields *fields) {
    int worst = 0;
    size_t most = 0;
    for (int k = 0; k < fields->table->columns; k++) {
        size_t count = 0;
        for (size_t row = 0; row < fields->table->rows; row++) count += ais_field_missing(fields, row, k);
        if (fields->field[k].left_out || count <= most) continue;
        most = count;
        worst = k;
    }
    return worst;
}

static ais_status choose_rows(ais_context *context, design *this) {
    const ais_table *table = this->fields.table;
    this->row = AIS_TAKE(this->scratch, size_t, table->rows);
    if (!this->row) return ais_fail_memory(context, this->fields.path, table->rows * sizeof(size_t));
    for (size_t row = 0; row < table->rows; row++) {
        bool whole = true;
        for (int k = 0; k < table->columns && whole; k++)
            whole = this->fields.field[k].left_out || !ais_field_missing(&this->fields, row, k);
        if (whole) this->row[this->rows++] = row;
    }
    if (this->rows) return AIS_OK;
    int worst = worst_column(&this->fields);
    return ais_fail(context, AIS_BAD_FORMAT,
                    "%s: every row has a missing value; column %s has the most, leave it out with drop=%.60s",
                    this->fields.path, name_of(this, worst), name_of(this, worst));
}

static ais_status check_finite(ais_context *context, const design *this, int k) {
    for (size_t r = 0; r < this->rows; r++) {
        double value = ais_field_value(&this->fields, this->row[r], k);
        if (!isinf(value)) continue;
        return ais_fail(context, AIS_BAD_FORMAT, "%s:%ld: column %s is %g; fill in or drop rows like this one",
                        this->fields.path, this->fields.table->line[this->row[r]], name_of(this, k), value);
    }
    return AIS_OK;
}

/* ---- levels ------------------------------------------------------------------------------------------ */

typedef struct level {
    const char *text;
    double value;
} level;

/* Numbers by value, before text. */
static int compare_levels(const void *a, const void *b) {
    const level *first = a, *second = b;
    if (!isnan(first->value) && !isnan(second->value))
        return (first->value > second->value) - (first->value < second->value);
    if (isnan(first->value) != isnan(second->value)) return isnan(first->value) ? 1 : -1;
    return strcmp(first->text, second->text);
}

/* The different values of column k in the used rows, sorted; NULL when memory is out. */
static level *levels_of(const design *this, int k, int *count) {
    level *all = AIS_TAKE(this->scratch, level, this->rows);
    if (!all) return NULL;
    for (size_t r = 0; r < this->rows; r++)
        all[r] =
            (level){ais_field_text(&this->fields, this->row[r], k), ais_field_value(&this->fields, this->row[r], k)};
    qsort(all, this->rows, sizeof *all, compare_levels);
    *count = 1;
    for (size_t r = 1; r < this->rows; r++)
        if (compare_levels(&all[r], &all[*count - 1]) != 0) all[(*count)++] = all[r];
    return all;
}

/* ---- outcome ----------------------------------------------------------------------------------------- */

static ais_status set_binary(ais_context *context, const design *this, ais_regression_data *data, double *outcome) {
    int label = this->fields.label, count;
    level *two = levels_of(this, label, &count);
    if (!two) return ais_fail_memory(context, this->fields.path, this->rows * sizeof *two);
    if (count == 1)
        return ais_fail(context, AIS_BAD_FORMAT,
                        "%s: the outcome (column %s) is %.40s in every row, but must have two values",
                        this->fields.path, data->outcome_name, two[0].text);
    if (count > 2)
        return ais_fail(context, AIS_BAD_FORMAT,
                        "%s: the outcome (column %s) has %d values (%.40s, %.40s, %.40s%s), but must have two; choose "
                        "another column with label=NAME or a number",
                        this->fields.path, data->outcome_name, count, two[0].text, two[1].text, two[2].text,
                        count > 3 ? ", ..." : "");
    for (size_t r = 0; r < this->rows; r++) {
        level here = {ais_field_text(&this->fields, this->row[r], label),
                      ais_field_value(&this->fields, this->row[r], label)};
        outcome[r] = compare_levels(&here, &two[1]) == 0;
        data->ones += outcome[r] > 0;
    }
    for (int k = 0; k < 2; k++)
        if (!(data->level[k] = copy_text(this->arena, two[k].text))) return ais_fail_memory(context, "a level", 1);
    return AIS_OK;
}

static ais_status set_numbers(ais_context *context, const design *this, const ais_field_wish *wish,
                              const char *outcome_name, double *outcome) {
    int label = this->fields.label;
    const ais_field *field = &this->fields.field[label];
    bool counts = wish->outcome == AIS_OUTCOME_COUNT;
    if (field->kind != AIS_FIELD_NUMBERS || (counts && !field->counts))
        return ais_fail(context, AIS_BAD_FORMAT, "%s: the outcome (column %s) must be %s in every row; %s",
                        this->fields.path, outcome_name, counts ? "a whole number, 0 or more," : "a number",
                        "choose another column with label=NAME or a number");
    for (size_t r = 0; r < this->rows; r++) outcome[r] = ais_field_value(&this->fields, this->row[r], label);
    return check_finite(context, this, label);
}

static ais_status set_outcome(ais_context *context, const design *this, const ais_field_wish *wish,
                              ais_regression_data *data) {
    double *outcome = AIS_TAKE(this->arena, double, this->rows);
    data->outcome = outcome;
    data->outcome_name = copy_text(this->arena, name_of(this, this->fields.label));
    if (!outcome || !data->outcome_name) return ais_fail_memory(context, "an outcome", this->rows * sizeof *outcome);
    if (wish->outcome == AIS_OUTCOME_BINARY) return set_binary(context, this, data, outcome);
    return set_numbers(context, this, wish, data->outcome_name, outcome);
}

/* ---- covariates -------------------------------------------------------------------------------------- */

static ais_status constant(ais_context *context, const design *this, int k) {
    if (this->rows == 1)
        return ais_fail(context, AIS_BAD_FORMAT,
                        "%s: one row is not enough, because covariates are divided by their standard deviation over "
                        "the rows; give two rows or more",
                        this->fields.path);
    return ais_fail(
        context, AIS_BAD_FORMAT,
        "%s: column %s is %.40s in every row; remove it or add drop=%.60s: the intercept already is a constant",
        this->fields.path, name_of(this, k), ais_field_text(&this->fields, this->row[0], k), name_of(this, k));
}

/* this->column becomes the next covariate; k is the table's column that messages name. */
static ais_status standardise(ais_context *context, design *this, int k) {
    size_t rows = this->rows, dim = (size_t)this->dim;
    const double *column = this->column;
    double mean = 0, square = 0, low = column[0], high = low;
    for (size_t r = 0; r < rows; r++) {
        low = fmin(low, column[r]);
        high = fmax(high, column[r]);
    }
    /* Relative to the largest, so that neither tiny nor huge values leave the range of double. */
    double scale = low == high ? 1 : fmax(fabs(low), fabs(high));
    for (size_t r = 0; r < rows; r++) mean += column[r] / scale / (double)rows;
    for (size_t r = 0; r < rows; r++) square += pow(column[r] / scale - mean, 2);
    double sd = sqrt(square / (double)rows);
    if (low == high || !(sd > 0)) return constant(context, this, k);
    if (!this->intercept) mean = 0;
    for (size_t r = 0; r < rows; r++) this->covariate[r * dim + (size_t)this->next] = (column[r] / scale - mean) / sd;
    this->mean[this->next] = mean * scale;
    this->sd[this->next] = sd * scale;
    this->next++;
    return AIS_OK;
}

/* What the covariates of column k are called: as the header says, or x1, x2, ... */
static const char *stem(const design *this, int k, char number[24]) {
    if (this->fields.table->names) return name_of(this, k);
    snprintf(number, 24, "x%d", this->used);
    return number;
}

static ais_status add_numbers(ais_context *context, design *this, int k) {
    char number[24];
    if (!(this->names[this->next] = copy_text(this->arena, stem(this, k, number))))
        return ais_fail_memory(context, this->fields.path, sizeof number);
    ais_status status = check_finite(context, this, k);
    if (status != AIS_OK) return status;
    for (size_t r = 0; r < this->rows; r++) this->column[r] = ais_field_value(&this->fields, this->row[r], k);
    return standardise(context, this, k);
}

/* A factor's levels and how many of them have a covariate: all but the first, or all. */
typedef struct factor {
    level *level;
    int count, first;
} factor;

static ais_status add_factor(ais_context *context, design *this, int k, const factor *of) {
    if (of->count == 1) return constant(context, this, k);
    for (int l = of->first; l < of->count; l++) {
        char name[256], number[24];
        snprintf(name, sizeof name, "%.120s[%.120s]", stem(this, k, number), of->level[l].text);
        if (!(this->names[this->next] = copy_text(this->arena, name)))
            return ais_fail_memory(context, this->fields.path, strlen(name));
        for (size_t r = 0; r < this->rows; r++) {
            level here = {ais_field_text(&this->fields, this->row[r], k),
                          ais_field_value(&this->fields, this->row[r], k)};
            this->column[r] = compare_levels(&here, &of->level[l]) == 0;
        }
        ais_status status = standardise(context, this, k);
        if (status != AIS_OK) return status;
    }
    return AIS_OK;
}

static bool is_listed(const char *list, const char *name, int k) {
    char number[16];
    snprintf(number, sizeof number, "%d", k + 1);
    for (size_t length; list && *list; list += length + (list[length] == '+')) {
        length = strcspn(list, "+");
        if ((strlen(name) == length && strncmp(list, name, length) == 0) ||
            (strlen(number) == length && strncmp(list, number, length) == 0))
            return true;
    }
    return false;
}

/* Texts that differ in most rows are names or dates, not levels. */
static ais_status check_levels(ais_context *context, const design *this, const ais_field_wish *wish, int k, int count) {
    enum { MOST = 50 };
    if ((count <= MOST && 2 * (size_t)count <= this->rows) || is_listed(wish->factor, name_of(this, k), k))
        return AIS_OK;
    return ais_fail(context, AIS_BAD_FORMAT,
                    "%s: column %s is text with %d different values in %zu rows; leave it out with drop=%.60s, or add "
                    "factor=%.60s if they are levels",
                    this->fields.path, name_of(this, k), count, this->rows, name_of(this, k), name_of(this, k));
}

/* The levels of all factors, and the number of covariates. */
static ais_status count_covariates(ais_context *context, design *this, const ais_field_wish *wish, factor *factors,
                                   int *columns) {
    bool all = !this->intercept;
    this->dim = this->intercept;
    for (int k = 0; k < this->fields.table->columns; k++) {
        const ais_field *field = &this->fields.field[k];
        if (field->left_out || k == this->fields.label) continue;
        ++*columns;
        this->dim++;
        if (!field->factor) continue;
        factors[k].level = levels_of(this, k, &factors[k].count);
        if (!factors[k].level) return ais_fail_memory(context, this->fields.path, this->rows * sizeof(level));
        ais_status status = check_levels(context, this, wish, k, factors[k].count);
        if (status != AIS_OK) return status;
        factors[k].first = all ? 0 : 1;
        all = false;
        if (factors[k].count > 1) this->dim += factors[k].count - factors[k].first - 1;
    }
    if (*columns) return AIS_OK;
    return ais_fail(context, AIS_BAD_FORMAT,
                    "%s:%ld: there is one column, but a regression needs covariates and an outcome, separated by "
                    "commas, semicolons or tabs",
                    this->fields.path, this->fields.table->line[0]);
}

static ais_status set_covariates(ais_context *context, design *this, const factor *factors) {
    size_t dim = (size_t)this->dim;
    this->covariate = AIS_TAKE(this->arena, double, this->rows *dim);
    this->mean = AIS_TAKE(this->arena, double, dim);
    this->sd = AIS_TAKE(this->arena, double, dim);
    this->names = AIS_TAKE(this->arena, const char *, dim);
    this->column = AIS_TAKE(this->scratch, double, this->rows);
    if (!this->covariate || !this->mean || !this->sd || !this->names || !this->column)
        return ais_fail_memory(context, this->fields.path, this->rows * dim * sizeof(double));
    if (this->intercept) {
        this->names[0] = "bias";
        this->sd[0] = 1;
        for (size_t r = 0; r < this->rows; r++) this->covariate[r * dim] = 1;
        this->next = 1;
    }
    for (int k = 0; k < this->fields.table->columns; k++) {
        const ais_field *field = &this->fields.field[k];
        if (field->left_out || k == this->fields.label) continue;
        this->used++;
        ais_status status = field->factor ? add_factor(context, this, k, &factors[k]) : add_numbers(context, this, k);
        if (status != AIS_OK) return status;
    }
    return AIS_OK;
}

ais_status ais_regression_prepare(ais_context *context, const char *path, ais_table *table, const ais_field_wish *wish,
                                  bool intercept, ais_arena *arena, ais_regression_data *data) {
    design this = {.arena = arena, .scratch = &table->arena, .intercept = intercept};
    *data = (ais_regression_data){.intercept = intercept, .outcome_sd = 1};
    factor *factors = AIS_TAKE(&table->arena, factor, table->columns);
    if (!factors) return ais_fail_memory(context, path, (size_t)table->columns * sizeof *factors);
    ais_status status = ais_fields_read(context, path, table, &this.fields);
    if (status == AIS_OK) status = ais_fields_choose(context, wish, &this.fields);
    if (status == AIS_OK) status = choose_rows(context, &this);
    if (status == AIS_OK) status = count_covariates(context, &this, wish, factors, &data->columns);
    if (status == AIS_OK) status = set_outcome(context, &this, wish, data);
    if (status == AIS_OK) status = set_covariates(context, &this, factors);
    if (status != AIS_OK) return status;
    data->rows = this.rows;
    data->missing = table->rows - this.rows;
    data->dim = this.dim;
    data->outcome_column = this.fields.label;
    data->named = table->names != NULL;
    data->numbered_rows = this.fields.numbered_rows;
    data->covariate = this.covariate;
    data->mean = this.mean;
    data->sd = this.sd;
    data->names = this.names;
    return AIS_OK;
}
