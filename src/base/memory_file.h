/* A file in memory that reports when memory ran out. open_memstream does not: text without room is lost, and neither
 * ferror nor fclose reports it (glibc 2.36). */
#ifndef AIS_BASE_MEMORY_FILE_H
#define AIS_BASE_MEMORY_FILE_H

#include <stdbool.h>
#include <stdio.h>

typedef struct ais_memory_file {
    FILE *file; /* to write to; NULL when it could not be opened */
    char *bytes;
    size_t count, room;
    bool failed;
} ais_memory_file;

FILE *ais_memory_open(ais_memory_file *this); /* which must not move until it is closed */

/* Everything written, with a final 0, which the caller frees; NULL if memory ran out, or without an open file. */
char *ais_memory_close(ais_memory_file *this, size_t *count);

#endif
