/* CmdStan's CSV, ours, and any CSV with one header line and numbers below. `#` lines may stand
 * anywhere; those before the header tell how many warm-up rows there are. */
#include <errno.h>
#include <limits.h>
#include <locale.h>
#include <stdlib.h>
#include <string.h>

#include "base/csv.h"
#include "draws/read.h"
#include "draws/sink.h"

enum { LONGEST_LINE = 1 << 30 };

typedef struct csv_reader {
    const char *path;
    FILE *file;
    char *line; /* without its end */
    size_t room, length;
    long number;
    size_t bytes; /* of all lines so far */
    bool stream;
    bool cut; /* the line has no newline */
    char **name;
    int columns;
    double *value; /* rows x columns */
    size_t rows, rows_room;
    long long warmup, thin;
    bool save_warmup, fixed_param;
    char method[32], sampler[32];
    int max_depth;
} csv_reader;

/* ---- lines --------------------------------------------------------------------------------------- */

static ais_status grow_line(ais_context *context, csv_reader *reader) {
    size_t room = reader->room ? 2 * reader->room : 4096;
    if (room > LONGEST_LINE)
        return ais_fail(context, AIS_BAD_FORMAT, "%s:%ld: a line of more than %d bytes: this is not a CSV file",
                        reader->path, reader->number, LONGEST_LINE / 2);
    char *line = realloc(reader->line, room);
    if (!line) return ais_fail_memory(context, "a line of a file", room);
    reader->line = line;
    reader->room = room;
    return AIS_OK;
}

/* The next line; *more is false at the end of the file. Byte by byte, since what has no lines (/dev/zero) may have no
 * end either. */
static ais_status next_line(ais_context *context, csv_reader *reader, bool *more) {
    int byte = 0;
    *more = false;
    errno = 0;
    reader->length = 0;
    reader->number++;
    while (byte != '\n' && (byte = getc_unlocked(reader->file)) != EOF) {
        if (!byte)
            return ais_fail(context, AIS_BAD_FORMAT, "%s:%ld: a zero byte: this is not a CSV file", reader->path,
                            reader->number);
        if (reader->stream && reader->length > AIS_LONGEST_STREAM) return ais_fail_endless(context, reader->path);
        ais_status status = reader->length + 1 < reader->room ? AIS_OK : grow_line(context, reader);
        if (status != AIS_OK) return status;
        reader->line[reader->length++] = (char)byte;
    }
    reader->bytes += reader->length;
    if (reader->stream && reader->bytes > AIS_LONGEST_STREAM) return ais_fail_endless(context, reader->path);
    if (byte == EOF && ferror(reader->file)) return ais_fail_file(context, "read", reader->path, errno);
    *more = reader->length > 0;
    if (!*more) return AIS_OK;
    reader->line[reader->length] = 0;
    reader->cut = byte == EOF;
    while (reader->length && strchr("\r\n", reader->line[reader->length - 1])) reader->line[--reader->length] = 0;
    if (reader->number == 1 && strncmp(reader->line, "\xef\xbb\xbf", 3) == 0) /* byte order mark */
        memmove(reader->line, reader->line + 3, (reader->length -= 3) + 1);
    return AIS_OK;
}

static bool is_blank(const char *line) { return line[strspn(line, " \t")] == 0; }

/* "#   key = value (Default)" before the header. rstan writes warmup=, iter=. */
static void read_setting(csv_reader *reader) {
    char key[32], value[32];
    if (sscanf(reader->line, "# %31[^= ] = %31s", key, value) != 2) return;
    if (strcmp(key, "num_warmup") == 0 || strcmp(key, "warmup") == 0) reader->warmup = strtoll(value, NULL, 10);
    if (strcmp(key, "thin") == 0) reader->thin = strtoll(value, NULL, 10);
    if (strcmp(key, "save_warmup") == 0) reader->save_warmup = strcmp(value, "1") == 0 || strcmp(value, "true") == 0;
    if (strcmp(key, "algorithm") == 0) {
        reader->fixed_param = strcmp(value, "fixed_param") == 0;
        memcpy(reader->sampler, value, sizeof value);
    }
    if (strcmp(key, "engine") == 0 && strcmp(reader->sampler, "hmc") == 0 && strcmp(value, "nuts") == 0)
        memcpy(reader->sampler, value, sizeof value);
    if (strcmp(key, "max_depth") == 0) reader->max_depth = (int)strtol(value, NULL, 10);
    if (strcmp(key, "method") == 0) memcpy(reader->method, value, sizeof value);
}

/* ---- the header ---------------------------------------------------------------------------------- */

/* Takes one field, quoted ("a,b", quotes doubled inside) or plain, off the line in place. */
static char *take_field(char **at, bool *more) {
    char *field = *at + strspn(*at, " \t"), *from = field, *to = field;
    bool quoted = *from == '"';
    if (quoted) from++;
    for (; *from && (quoted || *from != ','); from++) {
        if (quoted && *from == '"') {
            if (from[1] != '"') {
                quoted = false;
                continue;
            }
            from++;
        }
        *to++ = *from;
    }
    *more = *from == ',';
    *at = from + *more;
    while (to > field && strchr(" \t", to[-1])) to--;
    *to = 0;
    return field;
}

static int compare_names(const void *a, const void *b) { return strcmp(*(char *const *)a, *(char *const *)b); }

static ais_status check_names(ais_context *context, const csv_reader *reader) {
    size_t columns = (size_t)reader->columns;
    bool numbers = true;
    for (size_t i = 0; i < columns; i++) {
        char *end;
        if (!*reader->name[i])
            return ais_fail(context, AIS_BAD_FORMAT, "%s:%ld: column %zu has no name", reader->path, reader->number,
                            i + 1);
        strtod(reader->name[i], &end);
        numbers = numbers && *end == 0;
    }
    if (numbers)
        return ais_fail(context, AIS_BAD_FORMAT, "%s:%ld: numbers where the names of the columns should be",
                        reader->path, reader->number);
    char **sorted = malloc(columns * sizeof *sorted);
    if (!sorted) return ais_fail_memory(context, "the names of the columns", columns * sizeof *sorted);
    memcpy(sorted, reader->name, columns * sizeof *sorted);
    qsort(sorted, columns, sizeof *sorted, compare_names);
    const char *twice = NULL;
    for (size_t i = 1; i < columns && !twice; i++)
        if (strcmp(sorted[i - 1], sorted[i]) == 0) twice = sorted[i];
    free(sorted);
    if (twice)
        return ais_fail(context, AIS_BAD_FORMAT, "%s:%ld: column '%s' occurs twice", reader->path, reader->number,
                        twice);
    return AIS_OK;
}

static ais_status read_names(ais_context *context, csv_reader *reader) {
    size_t most = 1;
    for (const char *at = reader->line; *at; at++) most += *at == ',';
    if (most > INT_MAX / 2)
        return ais_fail(context, AIS_BAD_FORMAT, "%s: %zu columns are too many", reader->path, most);
    reader->name = calloc(most, sizeof *reader->name);
    if (!reader->name) return ais_fail_memory(context, "the names of the columns", most * sizeof *reader->name);
    bool more = true;
    for (char *at = reader->line; more; reader->columns++) {
        char *name = strdup(take_field(&at, &more));
        if (!name) return ais_fail_memory(context, "the name of a column", strlen(reader->line));
        reader->name[reader->columns] = name;
    }
    return check_names(context, reader);
}

/* ---- rows ---------------------------------------------------------------------------------------- */

static ais_status grow_rows(ais_context *context, csv_reader *reader) {
    if (reader->rows < reader->rows_room) return AIS_OK;
    size_t room = reader->rows_room ? reader->rows_room * 2 : 64, columns = (size_t)reader->columns;
    double *value =
        room <= (size_t)-1 / sizeof(double) / columns ? realloc(reader->value, room * columns * sizeof(double)) : NULL;
    if (!value) return ais_fail_memory(context, "the rows of a file", room * columns * sizeof(double));
    reader->value = value;
    reader->rows_room = room;
    return AIS_OK;
}

static ais_status fail_field(ais_context *context, const csv_reader *reader, const char *at, int column) {
    int length = (int)strcspn(at, ",");
    return ais_fail(context, AIS_BAD_FORMAT, "%s:%ld: '%.*s' in column %d (%s) is not a number", reader->path,
                    reader->number, length < 40 ? length : 40, at, column + 1, reader->name[column]);
}

static ais_status read_row(ais_context *context, csv_reader *reader) {
    ais_status status = grow_rows(context, reader);
    if (status != AIS_OK) return status;
    double *row = reader->value + reader->rows * (size_t)reader->columns;
    const char *at = reader->line;
    int column = 0;
    for (;; column++) {
        if (column < reader->columns) {
            char *end;
            row[column] = strtod(at, &end);
            const char *rest = end + strspn(end, " \t");
            if (end == at || (*rest && *rest != ',')) return fail_field(context, reader, at, column);
            at = rest;
        } else {
            at += strcspn(at, ",");
        }
        if (!*at) break;
        at++;
    }
    if (column + 1 != reader->columns)
        return ais_fail(context, AIS_BAD_FORMAT, "%s:%ld: %d values where the header has %d names", reader->path,
                        reader->number, column + 1, reader->columns);
    reader->rows++;
    return AIS_OK;
}

static ais_status read_lines(ais_context *context, csv_reader *reader) {
    for (;;) {
        bool more;
        ais_status status = next_line(context, reader, &more);
        if (status != AIS_OK || !more) return status;
        if (reader->line[0] == '#') {
            if (!reader->name) read_setting(reader);
            continue;
        }
        if (is_blank(reader->line)) continue;
        if (reader->cut)
            return ais_fail(context, AIS_BAD_FORMAT,
                            "%s:%ld: the last line does not end: the file was cut short (or add a newline)",
                            reader->path, reader->number);
        status = reader->name ? read_row(context, reader) : read_names(context, reader);
        if (status != AIS_OK) return status;
    }
}

/* ---- draws --------------------------------------------------------------------------------------- */

static bool is_stat(const char *name) {
    size_t length = strlen(name);
    return length > 2 && strcmp(name + length - 2, "__") == 0;
}

/* CmdStan saves warm-up iterations 0, thin, 2 thin, ...; its fixed_param has none. */
static size_t warmup_rows(const csv_reader *reader) {
    if (!reader->save_warmup || reader->fixed_param || reader->warmup <= 0) return 0;
    long long thin = reader->thin > 0 ? reader->thin : 1;
    return (size_t)((reader->warmup - 1) / thin + 1);
}

static ais_status check_content(ais_context *context, const csv_reader *reader) {
    static const char *const no_draws[] = {"optimize", "variational", "diagnose", "log_prob"};
    for (size_t i = 0; i < sizeof no_draws / sizeof *no_draws; i++)
        if (strcmp(reader->method, no_draws[i]) == 0)
            return ais_fail(context, AIS_BAD_FORMAT, "%s holds the result of Stan's method '%s', not draws of a chain",
                            reader->path, reader->method);
    if (!reader->name) return ais_fail(context, AIS_BAD_FORMAT, "%s is empty: no header, no draws", reader->path);
    if (!reader->rows) return ais_fail(context, AIS_BAD_FORMAT, "%s has a header, but no draws", reader->path);
    if (reader->rows <= warmup_rows(reader))
        return ais_fail(context, AIS_BAD_FORMAT, "%s has %zu rows, all of them warm-up (num_warmup = %lld)",
                        reader->path, reader->rows, reader->warmup);
    if (reader->rows > INT_MAX)
        return ais_fail(context, AIS_BAD_FORMAT, "%s has %zu rows: too many", reader->path, reader->rows);
    return AIS_OK;
}

static void copy_column(const csv_reader *reader, int column, size_t first, double *to) {
    for (size_t t = first; t < reader->rows; t++)
        to[t - first] = reader->value[t * (size_t)reader->columns + (size_t)column];
}

static void take_name(char **to, char **from) {
    free(*to);
    *to = *from;
    *from = NULL;
}

static ais_status make_draws(ais_context *context, csv_reader *reader, ais_draws **draws_out) {
    int dim = 0, stats = 0;
    bool logp = false;
    for (int i = 0; i < reader->columns; i++) {
        bool is_logp = strcmp(reader->name[i], "lp__") == 0, stat = is_stat(reader->name[i]);
        logp = logp || is_logp;
        stats += stat && !is_logp;
        dim += !stat;
    }
    if (!dim)
        return ais_fail(context, AIS_BAD_FORMAT, "%s has no parameters, only columns of the sampler (ending in __)",
                        reader->path);
    size_t first = warmup_rows(reader), length = reader->rows - first;
    ais_draws *draws;
    ais_status status = ais_draws_new(context, dim, 1, (int)length, stats, &draws);
    if (status != AIS_OK) return status;
    memcpy(draws->sampler, reader->sampler, sizeof reader->sampler);
    draws->max_depth = reader->max_depth;
    size_t parameter = 0, stat = 0;
    for (int i = 0; i < reader->columns; i++) {
        if (strcmp(reader->name[i], "lp__") == 0) {
            copy_column(reader, i, first, draws->logp);
        } else if (is_stat(reader->name[i])) {
            copy_column(reader, i, first, draws->stat + stat * length);
            take_name(&draws->stat_name[stat++], &reader->name[i]);
        } else {
            copy_column(reader, i, first, draws->value + parameter * length);
            take_name(&draws->name[parameter++], &reader->name[i]);
        }
    }
    if (!logp) {
        free(draws->logp);
        draws->logp = NULL;
    }
    *draws_out = draws;
    return AIS_OK;
}

ais_status ais_read_stan_csv(ais_context *context, const char *path, FILE *file, ais_draws **draws) {
    *draws = NULL;
    csv_reader reader = {.path = path, .file = file, .stream = ais_is_stream(file), .thin = 1};
    locale_t locale = newlocale(LC_ALL_MASK, "C", (locale_t)0); /* a decimal point everywhere */
    if (!locale) return ais_fail_memory(context, "a locale", 0);
    locale_t before = uselocale(locale);
    ais_status status = read_lines(context, &reader);
    uselocale(before);
    freelocale(locale);
    if (status == AIS_OK) status = check_content(context, &reader);
    if (status == AIS_OK) status = make_draws(context, &reader, draws);
    for (int i = 0; i < reader.columns; i++) free(reader.name[i]);
    free(reader.name);
    free(reader.value);
    free(reader.line);
    return status;
}
