/* Tables in text: comma-separated, or separated by ; or tabs.
 *
 * The separator is the one of the three that the first line has most of. Lines that are empty or begin with # are
 * skipped, fields may be quoted, lines may end in CR LF. The first line is a header when none of its fields is a
 * number. Cells are text; the caller interprets the columns, and has the line of every row for messages. */
#ifndef AIS_BASE_CSV_H
#define AIS_BASE_CSV_H

#include <stdbool.h>
#include <stdio.h>

#include "base/arena.h"
#include "base/status.h"

typedef struct ais_table {
    size_t rows;
    int columns;
    char separator;
    const char *const *names; /* columns of them, some perhaps empty; or NULL without a header */
    const char *const *cell;  /* rows x columns, row-major */
    const long *line;         /* of each row in the file, from 1 */
    ais_arena arena;          /* owns names, cell and line, */
    char *text;               /* and this the characters */
} ais_table;

/* Errors name the file and the line. Free the table after success only. */
ais_status ais_csv_read(ais_context *context, const char *path, ais_table *table);

/* The same from memory; `path` is its name in messages. */
ais_status ais_csv_parse(ais_context *context, const char *path, const char *text, size_t length, ais_table *table);

void ais_table_free(ais_table *table);

/* Whether all of the cell is a number; inf and nan are. Where no comma separates, it may stand for the decimal point.
 */
bool ais_cell_number(const char *cell, char separator, double *value);

/* A whole file in memory with a final NUL, released by free(). Devices and pipes may have no end: one that gives a NUL
 * is not read far beyond it, and one that gives more than AIS_LONGEST_STREAM bytes is refused. */
enum { AIS_LONGEST_STREAM = 1 << 28 };
ais_status ais_file_read(ais_context *context, const char *path, char **text, size_t *length);

/* The same for binary files: a device or pipe that does not begin like `begin` is not read further. */
ais_status ais_file_read_like(ais_context *context, const char *path, const void *begin, size_t begin_bytes,
                              char **bytes, size_t *length);

bool ais_is_stream(FILE *file); /* a device or a pipe */
ais_status ais_fail_endless(ais_context *context, const char *path);

/* strtod in the C locale whatever the program's is; *end as there. */
double ais_number(const char *text, char **end);

#endif
