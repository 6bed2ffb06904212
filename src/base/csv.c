#define _GNU_SOURCE /* strtod_l */
#include "base/csv.h"

#include <errno.h>
#include <locale.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

double ais_number(const char *text, char **end) {
    static _Atomic(locale_t) known; /* made once, never freed; a loser of the race frees its own */
    locale_t c = atomic_load(&known);
    if (!c) {
        locale_t none = (locale_t)0;
        c = newlocale(LC_ALL_MASK, "C", none);
        if (!c) return strtod(text, end);
        if (!atomic_compare_exchange_strong(&known, &none, c)) {
            freelocale(c);
            c = none;
        }
    }
    return strtod_l(text, end, c);
}

ais_status ais_file_read(ais_context *context, const char *path, char **text, size_t *length) {
    FILE *file = fopen(path, "rb");
    if (!file) return ais_fail(context, AIS_FILE_ERROR, "cannot open %s: %s", path, strerror(errno));
    struct stat about;
    bool endless = fstat(fileno(file), &about) == 0 && !S_ISREG(about.st_mode); /* perhaps: a device or a pipe */
    size_t used = 0, size = 1 << 16;
    char *memory = malloc(size);
    while (memory) {
        size_t got = fread(memory + used, 1, size - used - 1, file);
        bool binary = memchr(memory + used, 0, got) != NULL;
        used += got;
        if (used < size - 1 || (binary && endless)) break;
        char *larger = realloc(memory, size *= 2);
        if (!larger) free(memory);
        memory = larger;
    }
    int problem = ferror(file) ? errno : 0;
    fclose(file);
    if (!memory) return ais_fail_memory(context, path, size);
    if (problem) {
        free(memory);
        return ais_fail(context, AIS_FILE_ERROR, "cannot read %s: %s", path, strerror(problem));
    }
    memory[used] = '\0';
    *text = memory;
    *length = used;
    return AIS_OK;
}

/* One line after another of the text, taken apart into fields in place. */
typedef struct reader {
    const char *path;
    char *next, *end;
    long line;
    char **field; /* of the current line, NUL-terminated, blanks stripped */
    int fields, room;
} reader;

static char *stripped(char *from, char *to) {
    while (from < to && (*from == ' ' || *from == '\t')) from++;
    while (to > from && (to[-1] == ' ' || to[-1] == '\t')) to--;
    if (to - from >= 2 && *from == '"' && to[-1] == '"') {
        from++;
        to--;
    }
    *to = '\0';
    return from;
}

static bool add_field(reader *in, char *from, char *to) {
    if (in->fields == in->room) {
        int room = in->room ? 2 * in->room : 64;
        char **larger = realloc(in->field, (size_t)room * sizeof *larger);
        if (!larger) return false;
        in->field = larger;
        in->room = room;
    }
    in->field[in->fields++] = stripped(from, to);
    return true;
}

/* The fields of the next line that has any; fields is 0 at the end. False: out of memory. */
static bool next_line(reader *in) {
    in->fields = 0;
    while (in->next < in->end && in->fields == 0) {
        char *from = in->next, *to = memchr(from, '\n', (size_t)(in->end - from));
        in->next = to ? to + 1 : in->end;
        if (!to) to = in->end;
        in->line++;
        if (to > from && to[-1] == '\r') to--;
        while (from < to && (*from == ' ' || *from == '\t')) from++;
        if (from == to || *from == '#') continue;
        bool quoted = false;
        char *start = from;
        for (; from < to; from++) {
            if (*from == '"') quoted = !quoted;
            if (*from != ',' || quoted) continue;
            if (!add_field(in, start, from)) return false;
            start = from + 1;
        }
        if (!add_field(in, start, to)) return false;
    }
    return true;
}

static bool is_number(const char *field, double *value) {
    char *end;
    *value = ais_number(field, &end);
    return end != field && *end == '\0';
}

static bool is_header(const reader *in) {
    double value;
    for (int i = 0; i < in->fields; i++)
        if (is_number(in->field[i], &value) || in->field[i][0] == '\0') return false;
    return true;
}

static ais_status take_header(ais_context *context, const reader *in, ais_table *table) {
    const char **names = AIS_TAKE(&table->arena, const char *, in->fields);
    if (!names) return ais_fail_memory(context, in->path, (size_t)in->fields * sizeof *names);
    for (int i = 0; i < in->fields; i++) {
        size_t size = strlen(in->field[i]) + 1;
        char *name = ais_arena_take(&table->arena, size);
        if (!name) return ais_fail_memory(context, in->path, size);
        names[i] = memcpy(name, in->field[i], size);
    }
    table->names = names;
    return AIS_OK;
}

static ais_status take_row(ais_context *context, const reader *in, const ais_table *table, double *row) {
    if (in->fields != table->columns)
        return ais_fail(context, AIS_BAD_FORMAT, "%s:%ld: the row has %d fields, the first line has %d", in->path,
                        in->line, in->fields, table->columns);
    for (int i = 0; i < in->fields; i++) {
        if (is_number(in->field[i], &row[i])) continue;
        if (in->field[i][0] == '\0')
            return ais_fail(context, AIS_BAD_FORMAT, "%s:%ld: column %d is empty", in->path, in->line, i + 1);
        return ais_fail(context, AIS_BAD_FORMAT, "%s:%ld: column %d is '%.40s', not a number%s", in->path, in->line,
                        i + 1, in->field[i],
                        table->rows == 0 && !table->names ? " (in a header line no column is a number)" : "");
    }
    return AIS_OK;
}

/* An upper bound of the rows to come, so that the table is allocated once. */
static size_t count_lines(const reader *in) {
    size_t lines = 1;
    for (const char *p = in->next; p < in->end; p++) lines += *p == '\n';
    return lines;
}

static ais_status take_rows(ais_context *context, reader *in, ais_table *table) {
    size_t bound = count_lines(in) + 1, row_bytes = (size_t)in->fields * sizeof(double);
    table->columns = in->fields;
    if (is_header(in)) {
        ais_status status = take_header(context, in, table);
        if (status != AIS_OK) return status;
        if (!next_line(in)) return ais_fail_memory(context, in->path, row_bytes);
    }
    double *value = bound < (size_t)-1 / 4 / row_bytes ? ais_arena_take(&table->arena, bound * row_bytes) : NULL;
    long *line = AIS_TAKE(&table->arena, long, bound);
    if (!value || !line) return ais_fail_memory(context, in->path, bound * row_bytes);
    table->value = value;
    table->line = line;
    while (in->fields) {
        ais_status status = take_row(context, in, table, value + table->rows * (size_t)table->columns);
        if (status != AIS_OK) return status;
        line[table->rows++] = in->line;
        if (!next_line(in)) return ais_fail_memory(context, in->path, row_bytes);
    }
    if (table->rows == 0)
        return ais_fail(context, AIS_BAD_FORMAT, "%s: there is a header but no row below it", in->path);
    return AIS_OK;
}

/* Takes the text apart in place. */
static ais_status parse(ais_context *context, const char *path, char *text, size_t length, ais_table *table) {
    *table = (ais_table){0};
    reader in = {.path = path, .next = text, .end = text + length};
    if (length >= 3 && memcmp(text, "\xEF\xBB\xBF", 3) == 0) in.next += 3; /* byte order mark */
    ais_status status;
    if (memchr(text, '\0', length))
        status = ais_fail(context, AIS_BAD_FORMAT, "%s: this is a binary file, not comma-separated text", path);
    else if (!next_line(&in))
        status = ais_fail_memory(context, path, length);
    else if (in.fields == 0)
        status = ais_fail(context, AIS_BAD_FORMAT, "%s: the file is empty", path);
    else
        status = take_rows(context, &in, table);
    free(in.field);
    if (status != AIS_OK) ais_table_free(table);
    return status;
}

ais_status ais_csv_parse(ais_context *context, const char *path, const char *text, size_t length, ais_table *table) {
    char *copy = malloc(length + 1);
    if (!copy) return ais_fail_memory(context, path, length + 1);
    memcpy(copy, text, length);
    copy[length] = '\0';
    ais_status status = parse(context, path, copy, length, table);
    free(copy);
    return status;
}

ais_status ais_csv_read(ais_context *context, const char *path, ais_table *table) {
    char *text = NULL;
    size_t length = 0;
    ais_status status = ais_file_read(context, path, &text, &length);
    if (status != AIS_OK) return status;
    status = parse(context, path, text, length, table);
    free(text);
    return status;
}

void ais_table_free(ais_table *table) {
    ais_arena_free(&table->arena);
    *table = (ais_table){0};
}
