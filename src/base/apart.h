/* Calls of libraries that do not survive errors. HDF5 and netCDF crash when memory runs out, when a write
 * fails while a file is closed, and on damaged files; cairo and fontconfig when memory runs out. They are only called
 * in a forked process, which shares no memory, prints nothing, and ends without running exit handlers: whatever happens
 * there, this process gets a status and a sentence. */
#ifndef AIS_BASE_APART_H
#define AIS_BASE_APART_H

#include <stdbool.h>
#include <stddef.h>

#include "base/status.h"

typedef struct ais_apart_job {
    const char *doing; /* "cannot ...: " begins a failure's sentence, such as "read FILE" */
    const char *death; /* the rest of it when the process dies or takes too long, with this status */
    ais_status blame;
    double seconds; /* of processor time that it may take */
    double bytes;   /* of memory that it may take beyond what is in use now; 0: no limit */
    ais_status (*work)(ais_context *context, void *data); /* there */
    bool (*give)(void *data, int descriptor);             /* called there, after work succeeded; or NULL */
    ais_status (*take)(ais_context *context, void *data, int descriptor); /* here; or NULL */
    void *data;
} ais_apart_job;

/* Does the job. Messages of `work` are passed on; its changes in memory are lost, except what `give` passes to `take`.
 */
ais_status ais_apart(ais_context *context, const ais_apart_job *job);

/* The same for a process that lives on: serve answers on its end of a socket and returns when the other end is closed.
 * The descriptor of this end, or -1 with errno; ais_apart_end closes it and waits. */
typedef struct ais_servant {
    int descriptor;
    long process;
} ais_servant;
bool ais_apart_begin(ais_servant *servant, void (*serve)(void *data, int descriptor), void *data);
void ais_apart_end(ais_servant *servant);

/* All the bytes; false at an end or an error. A servant that died does not raise SIGPIPE. */
bool ais_apart_read(int descriptor, void *data, size_t bytes);
bool ais_apart_write(int descriptor, const void *data, size_t bytes);

#endif
