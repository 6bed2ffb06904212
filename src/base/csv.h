/* Tables of numbers in comma-separated text.
 *
 * Lines that are empty or begin with # are skipped, fields may be quoted, lines may end in CR LF.
 * The first line is a header when none of its fields is a number. inf and nan are numbers here; a
 * caller that cannot use them has the line of every row for its message. */
#ifndef AIS_BASE_CSV_H
#define AIS_BASE_CSV_H

#include "base/arena.h"
#include "base/status.h"

typedef struct ais_table {
    size_t rows;
    int columns;
    const char *const *names; /* columns of them, or NULL without a header */
    const double *value;      /* rows x columns, row-major */
    const long *line;         /* of each row in the file, from 1 */
    ais_arena arena;          /* owns all of the above */
} ais_table;

/* Errors name the file and the line. Free the table after success only. */
ais_status ais_csv_read(ais_context *context, const char *path, ais_table *table);

/* The same from memory; path is what messages call it. */
ais_status ais_csv_parse(ais_context *context, const char *path, const char *text, size_t length, ais_table *table);

void ais_table_free(ais_table *table);

/* A whole file in memory with a NUL behind it, released by free(). A device or pipe that gives a NUL is not read on far
 * beyond it: /dev/zero has no end. */
ais_status ais_file_read(ais_context *context, const char *path, char **text, size_t *length);

/* strtod in the C locale whatever the program's is; *end as there. */
double ais_number(const char *text, char **end);

#endif
