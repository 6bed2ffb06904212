/* The journal of a run: every draw that was handed to the sinks, in a plain file that only grows.
 *
 * What a process that is killed was just writing to a netCDF file cannot be trusted, and a CSV file has not all of a
 * draw. So a run that continues writes its files again, from the journal; docs/formats.md has the format. Rank 0 alone
 * keeps one. */
#ifndef AIS_DRAWS_JOURNAL_H
#define AIS_DRAWS_JOURNAL_H

#include <aisampler/draws.h>

#include "base/status.h"

typedef struct ais_journal ais_journal;

/* What the records are made of. */
typedef struct ais_journal_shape {
    int dim, chains;
    unsigned info; /* fields of ais_info */
} ais_journal_shape;

/* Begins a journal; one that is there is emptied. A journal that another process writes is refused. */
ais_status ais_journal_begin(ais_context *context, const char *path, const ais_journal_shape *shape,
                             ais_journal **journal);

/* Opens that of an earlier process, of which the first `bytes` belong to a checkpoint with this token: they are handed
 * to `visit`, one chunk after the other (without value and value_logp), and what follows them is cut off. */
typedef ais_status ais_journal_visit(ais_context *context, void *data, const ais_chunk *chunk);
ais_status ais_journal_resume(ais_context *context, const char *path, const ais_journal_shape *shape, uint64_t token,
                              uint64_t bytes, ais_journal_visit *visit, void *data, ais_journal **journal);

ais_status ais_journal_add(ais_context *context, ais_journal *journal, const ais_chunk *chunk);

/* What was added is on the disk, not only in the system's memory. */
ais_status ais_journal_sync(ais_context *context, ais_journal *journal);

uint64_t ais_journal_bytes(const ais_journal *journal);
uint64_t ais_journal_token(const ais_journal *journal); /* tells it from every other one */
void ais_journal_close(ais_journal *journal);           /* NULL is allowed */

#endif
