/* What the sinks share: the order in which chunks come, and the files of an output directory. */
#ifndef AIS_DRAWS_SINK_H
#define AIS_DRAWS_SINK_H

#include <aisampler/draws.h>

#include "base/status.h"

/* Rows of each phase so far. Chunks of warm-up come first; each begins where the last one ended. */
typedef struct ais_rows {
    int warmup, draws;
} ais_rows;

/* Refuses a run without chains or dimensions. */
ais_status ais_header_check(ais_context *context, const ais_run_header *header);

/* What draws in files are called. */
const ais_names *ais_header_shown(const ais_run_header *header);

/* Refuses a chunk that is out of order or goes past what the header planned, and counts it. */
ais_status ais_rows_add(ais_context *context, ais_rows *rows, const ais_run_header *header, const ais_chunk *chunk);

/* DIRECTORY/NAME in memory of its own, or NULL. */
char *ais_path_join(const char *directory, const char *name);

/* Calls visit(data, n) for every draws-N.csv in the directory; stops at the first that fails. */
ais_status ais_directory_each(ais_context *context, const char *directory,
                              ais_status (*visit)(ais_context *, void *data, int number), void *data);

/* "cannot DO path: reason", from errno; tells a full disk in plain words. */
ais_status ais_fail_file(ais_context *context, const char *doing, const char *path, int error);

#endif
