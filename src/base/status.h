/* Filling in an ais_context. */
#ifndef AIS_BASE_STATUS_H
#define AIS_BASE_STATUS_H

#include <stddef.h>

#include <aisampler/status.h>

/* Writes the message and returns status, so that callers can `return ais_fail(...)`. */
ais_status ais_fail(ais_context *context, ais_status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* "out of memory (N bytes for WHAT)" */
ais_status ais_fail_memory(ais_context *context, const char *what, size_t bytes);

#endif
