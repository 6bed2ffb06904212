/* The checkpoint of a job, a training or the drawing of a run (docs/formats.md): a file from which a killed one
 * continues as if nothing had happened. Each owner of state provides a section: a name and one function that lists its
 * fields, for writing and reading alike. Sections are entered and left like the calls that own them, so at any moment
 * the open ones are the whole state, the outermost first:
 *
 *     static void exchange(ais_checkpoint *checkpoint, void *data) {
 *         work *this = data;
 *         AIS_FIELD(checkpoint, this, step);
 *         ais_checkpoint_bytes(checkpoint, "weights", this->weights, this->count * sizeof *this->weights);
 *     }
 *     status = ais_checkpoint_enter(context, checkpoint, "flow", exchange, this, &resumed);
 *     for (...) {
 *         status = ais_checkpoint_offer(context, checkpoint);      writes all open sections, if it is time
 *         ...
 *     }
 *     ais_checkpoint_leave(checkpoint);
 *
 * In a resumed job the sections of the file are read as their owners enter them again, in the same order, and
 * `resumed` says so. When a file is written depends on the clock; what a job computes must not: an owner offers only
 * where everything that later steps depend on is in some section.
 *
 * A checkpoint of NULL does nothing anywhere. */
#ifndef AIS_CHECKPOINT_CHECKPOINT_H
#define AIS_CHECKPOINT_CHECKPOINT_H

#include <stdbool.h>
#include <stddef.h>

#include <aisampler/kernel.h>

#include "base/status.h"

typedef struct ais_checkpoint ais_checkpoint;
typedef void ais_exchange(ais_checkpoint *checkpoint, void *data);

/* job: what messages call it, "training" or "run"; it is not copied. identity: lines "key value" that tell this job
 * from others; a file with another one is refused with the first line that differs; NULL: any will
 * do. resume: reads the file at path, if there is one. Files are written at least `seconds` apart
 * (infinity: never; 0: chosen, so that writing takes a small part of the time); path and identity are copied. path
 * NULL: *checkpoint is NULL. */
ais_status ais_checkpoint_open(ais_context *context, const char *job, const char *path, const char *identity,
                               bool resume, double seconds, ais_checkpoint **checkpoint);
bool ais_checkpoint_found(const ais_checkpoint *checkpoint); /* there is a file, and not all of it was read yet */
void ais_checkpoint_close(ais_checkpoint *checkpoint);       /* the file stays */

ais_status ais_checkpoint_enter(ais_context *context, ais_checkpoint *checkpoint, const char *section,
                                ais_exchange *exchange, void *data, bool *resumed);
void ais_checkpoint_leave(ais_checkpoint *checkpoint);
ais_status ais_checkpoint_offer(ais_context *context, ais_checkpoint *checkpoint);

/* Offering in two steps, where it takes work to have the state at hand: whether it is time; and writing in any case,
 * after `spent` seconds of such work. */
bool ais_checkpoint_due(const ais_checkpoint *checkpoint);
ais_status ais_checkpoint_write(ais_context *context, ais_checkpoint *checkpoint, double spent);

/* ---- for exchange functions; a field that does not fit makes entering fail ------------------------- */

bool ais_checkpoint_reads(const ais_checkpoint *checkpoint);
/* False when the field did not fit: data are as they were. */
bool ais_checkpoint_bytes(ais_checkpoint *checkpoint, const char *field, void *data, size_t bytes);
#define AIS_FIELD(checkpoint, owner, field)                                                                            \
    ais_checkpoint_bytes((checkpoint), #field, &(owner)->field, sizeof((owner)->field))

/* The same, reading only what is sound: finite numbers, an integer in a range, true or false. */
bool ais_checkpoint_numbers(ais_checkpoint *checkpoint, const char *field, double *data, size_t count);
bool ais_checkpoint_integer(ais_checkpoint *checkpoint, const char *field, int *value, int least, int most);
bool ais_checkpoint_flag(ais_checkpoint *checkpoint, const char *field, bool *value);

/* A number of evaluations, steps or the like, of 64 bits; most_count: no sum of a few of them overflows. */
static const int64_t ais_most_count = INT64_MAX >> 4;
void ais_checkpoint_count(ais_checkpoint *checkpoint, const char *field, long *value, int64_t most);

/* *data is allocated on reading (release it by free) and may be NULL with 0 bytes. */
void ais_checkpoint_memory(ais_checkpoint *checkpoint, const char *field, void **data, size_t *bytes);

/* The kernel as in its file, or NULL; on reading *kernel is made. */
void ais_checkpoint_kernel(ais_checkpoint *checkpoint, const char *field, ais_kernel **kernel);

/* Reading: what was read makes no sense. */
void ais_checkpoint_refuse(ais_checkpoint *checkpoint, const char *field);

/* There was none for a field: nothing is written, or what was read is not used. */
void ais_checkpoint_no_memory(ais_checkpoint *checkpoint);

#endif
