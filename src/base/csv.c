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

/* Whether to continue reading: text has no NUL, other files begin like `begin`. */
static bool promising(const char *memory, size_t used, size_t got, const void *begin, size_t begin_bytes) {
    if (!begin) return memchr(memory + used - got, 0, got) == NULL;
    return used < begin_bytes || memcmp(memory, begin, begin_bytes) == 0;
}

ais_status ais_file_read_like(ais_context *context, const char *path, const void *begin, size_t begin_bytes,
                              char **bytes, size_t *length) {
    FILE *file = fopen(path, "rb");
    if (!file) return ais_fail(context, AIS_FILE_ERROR, "cannot open %s: %s", path, strerror(errno));
    bool stream = ais_is_stream(file), endless = false;
    size_t used = 0, size = 1 << 16;
    char *memory = malloc(size);
    while (memory) {
        size_t got = fread(memory + used, 1, size - used - 1, file);
        used += got;
        if (used < size - 1 || (stream && !promising(memory, used, got, begin, begin_bytes))) break;
        if ((endless = stream && used >= AIS_LONGEST_STREAM)) break;
        char *larger = realloc(memory, size *= 2);
        if (!larger) free(memory);
        memory = larger;
    }
    int problem = ferror(file) ? errno : 0;
    fclose(file);
    if (!memory) return ais_fail_memory(context, path, size);
    if (problem || endless) {
        free(memory);
        if (problem) return ais_fail(context, AIS_FILE_ERROR, "cannot read %s: %s", path, strerror(problem));
        return ais_fail_endless(context, path);
    }
    memory[used] = '\0';
    *bytes = memory;
    *length = used;
    return AIS_OK;
}

ais_status ais_file_read(ais_context *context, const char *path, char **text, size_t *length) {
    return ais_file_read_like(context, path, NULL, 0, text, length);
}

bool ais_is_stream(FILE *file) {
    struct stat about;
    return fstat(fileno(file), &about) == 0 && !S_ISREG(about.st_mode);
}

ais_status ais_fail_endless(ais_context *context, const char *path) {
    return ais_fail(
        context, AIS_BAD_FORMAT,
        "%s gives more than %d MB and is not a regular file, so it may have no end: save it to a file first", path,
        AIS_LONGEST_STREAM >> 20);
}

/* One record after another of the text, taken apart into fields in place. */
typedef struct reader {
    const char *path;
    char *next, *end;
    long line;  /* of the record's beginning */
    long lines; /* read so far */
    char separator;
    char *closing; /* behind the last character of the field just taken */
    char **field;  /* of the current record, NUL-terminated, blanks stripped */
    int fields, room;
} reader;

static bool is_blank(const reader *in, char c) { return c == ' ' || (c == '\t' && in->separator != '\t'); }

static bool add_field(reader *in, char *field) {
    if (in->fields == in->room) {
        int room = in->room ? 2 * in->room : 64;
        char **larger = realloc(in->field, (size_t)room * sizeof *larger);
        if (!larger) return false;
        in->field = larger;
        in->room = room;
    }
    in->field[in->fields++] = field;
    return true;
}

/* One field from `at` on, which is moved to the separator or line end behind it. A field in quotes may hold separators,
 * line ends, and quotes that are doubled; a quote elsewhere is a character like others. NULL: its quote is never
 * closed. */
static char *take_field(reader *in, char **at) {
    char *from = *at, *to;
    while (from < in->end && is_blank(in, *from)) from++;
    if (from < in->end && *from == '"') {
        char *field = to = from;
        for (from++; from < in->end && (*from != '"' || (from + 1 < in->end && from[1] == '"')); from++) {
            if (*from == '"') from++;
            if (*from == '\n') in->lines++;
            *to++ = *from;
        }
        if (from == in->end) return NULL;
        /* What follows the closing quote up to the separator, as in "a"b, belongs to the field. */
        for (from++; from < in->end && *from != in->separator && *from != '\n'; from++)
            if (!is_blank(in, *from) && *from != '\r') *to++ = *from;
        *at = from;
        in->closing = to;
        return field;
    }
    for (to = from; to < in->end && *to != in->separator && *to != '\n';) to++;
    *at = to;
    while (to > from && (is_blank(in, to[-1]) || (to[-1] == '\r' && (to == in->end || *to != in->separator)))) to--;
    in->closing = to;
    return from;
}

/* Skips lines that are empty or a comment. */
static void skip_lines(reader *in) {
    while (in->next < in->end) {
        char *at = in->next;
        while (at < in->end && (*at == ' ' || *at == '\t' || *at == '\r')) at++;
        if (at < in->end && *at != '\n' && *at != '#') return;
        while (at < in->end && *at != '\n') at++;
        in->lines++;
        in->next = at < in->end ? at + 1 : at;
    }
}

/* The fields of the next record; fields is 0 at the end. */
static ais_status next_record(ais_context *context, reader *in) {
    in->fields = 0;
    skip_lines(in);
    in->line = in->lines + 1;
    while (in->next < in->end) {
        char *field = take_field(in, &in->next);
        if (!field)
            return ais_fail(context, AIS_BAD_FORMAT, "%s:%ld: a quote is opened in this row and never closed", in->path,
                            in->line);
        bool last = in->next == in->end || *in->next == '\n', end = in->next == in->end;
        *in->closing = '\0'; /* perhaps the separator itself, which has been looked at */
        if (!add_field(in, field)) return ais_fail_memory(context, in->path, (size_t)in->room * sizeof field);
        if (!end) in->next++;
        if (last) break;
        if (in->next == in->end) { /* the text ends with a separator: an empty field follows it */
            if (!add_field(in, in->end)) return ais_fail_memory(context, in->path, 1);
        }
    }
    if (in->fields) in->lines++;
    return AIS_OK;
}

/* The one of ; tab and , that the first line has most of outside of quotes. */
static char find_separator(reader *in) {
    static const char candidate[] = ";\t,";
    int count[3] = {0};
    bool quoted = false;
    skip_lines(in);
    for (const char *at = in->next; at < in->end && (*at != '\n' || quoted); at++) {
        if (*at == '"') quoted = !quoted;
        for (int k = 0; k < 3 && !quoted; k++) count[k] += *at == candidate[k];
    }
    int most = 2;
    for (int k = 1; k >= 0; k--)
        if (count[k] >= count[most] && count[k] > 0) most = k;
    return candidate[most];
}

bool ais_cell_number(const char *cell, char separator, double *value) {
    char *end, copy[64];
    *value = ais_number(cell, &end);
    if (end != cell && *end == '\0') return true;
    const char *comma = separator == ',' || *end != ',' ? NULL : end;
    if (!comma || strlen(cell) >= sizeof copy || strchr(cell, '.')) return false;
    snprintf(copy, sizeof copy, "%s", cell);
    copy[comma - cell] = '.';
    *value = ais_number(copy, &end);
    return end != copy && *end == '\0';
}

static bool is_header(const reader *in) {
    double value;
    bool any = false;
    for (int i = 0; i < in->fields; i++) {
        if (ais_cell_number(in->field[i], in->separator, &value)) return false;
        any |= in->field[i][0] != '\0';
    }
    return any;
}

/* An upper bound of the rows to come, so that the table is allocated once. */
static size_t count_lines(const reader *in) {
    size_t lines = 1;
    for (const char *p = in->next; p < in->end; p++) lines += *p == '\n';
    return lines;
}

static ais_status take_names(ais_context *context, reader *in, ais_table *table) {
    const char **names = AIS_TAKE(&table->arena, const char *, in->fields);
    if (!names) return ais_fail_memory(context, in->path, (size_t)in->fields * sizeof *names);
    memcpy(names, in->field, (size_t)in->fields * sizeof *names);
    table->names = names;
    return next_record(context, in);
}

static ais_status take_rows(ais_context *context, reader *in, ais_table *table) {
    size_t bound = count_lines(in) + 1, row_bytes = (size_t)in->fields * sizeof(char *);
    table->columns = in->fields;
    table->separator = in->separator;
    if (is_header(in)) {
        ais_status status = take_names(context, in, table);
        if (status != AIS_OK) return status;
    }
    const char **cell = bound < (size_t)-1 / 4 / row_bytes ? ais_arena_take(&table->arena, bound * row_bytes) : NULL;
    long *line = AIS_TAKE(&table->arena, long, bound);
    if (!cell || !line) return ais_fail_memory(context, in->path, bound * row_bytes);
    table->cell = cell;
    table->line = line;
    while (in->fields) {
        if (in->fields != table->columns)
            return ais_fail(context, AIS_BAD_FORMAT, "%s:%ld: the row has %d fields, the first line has %d", in->path,
                            in->line, in->fields, table->columns);
        memcpy(cell + table->rows * (size_t)table->columns, in->field, row_bytes);
        line[table->rows++] = in->line;
        ais_status status = next_record(context, in);
        if (status != AIS_OK) return status;
    }
    if (table->rows == 0)
        return ais_fail(context, AIS_BAD_FORMAT, "%s: there is a header but no row below it", in->path);
    return AIS_OK;
}

/* The table takes the text over. */
static ais_status parse(ais_context *context, const char *path, char *text, size_t length, ais_table *table) {
    *table = (ais_table){.text = text};
    reader in = {.path = path, .next = text, .end = text + length};
    if (length >= 3 && memcmp(text, "\xEF\xBB\xBF", 3) == 0) in.next += 3; /* byte order mark */
    ais_status status = AIS_OK;
    if (memchr(text, '\0', length))
        status = ais_fail(context, AIS_BAD_FORMAT, "%s: this is a binary file, not a table of text", path);
    if (status == AIS_OK) {
        in.separator = find_separator(&in);
        status = next_record(context, &in);
    }
    if (status == AIS_OK && in.fields == 0) status = ais_fail(context, AIS_BAD_FORMAT, "%s: the file is empty", path);
    if (status == AIS_OK) status = take_rows(context, &in, table);
    free(in.field);
    if (status != AIS_OK) ais_table_free(table);
    return status;
}

ais_status ais_csv_parse(ais_context *context, const char *path, const char *text, size_t length, ais_table *table) {
    char *copy = malloc(length + 1);
    if (!copy) return ais_fail_memory(context, path, length + 1);
    memcpy(copy, text, length);
    copy[length] = '\0';
    return parse(context, path, copy, length, table);
}

ais_status ais_csv_read(ais_context *context, const char *path, ais_table *table) {
    char *text = NULL;
    size_t length = 0;
    ais_status status = ais_file_read(context, path, &text, &length);
    return status == AIS_OK ? parse(context, path, text, length, table) : status;
}

void ais_table_free(ais_table *table) {
    ais_arena_free(&table->arena);
    free(table->text);
    *table = (ais_table){0};
}
