/* A file in memory that says when memory ran out. open_memstream does not: what it has no room for is lost, while
 * ferror and fclose tell of nothing (glibc 2.36). */
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

FILE *ais_memory_open(ais_memory_file *this); /* which stays where it is until it is closed */

/* All that was written, with a 0 behind it, which the caller frees; NULL when memory ran out. Without an open file,
 * too. */
char *ais_memory_close(ais_memory_file *this, size_t *count);

#endif
