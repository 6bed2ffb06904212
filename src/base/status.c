#include "base/status.h"

#include <stdarg.h>
#include <stdio.h>

const char *ais_version(void) { return AIS_VERSION; }

ais_status ais_fail(ais_context *context, ais_status status, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    context->status = status;
    vsnprintf(context->message, sizeof context->message, format, arguments);
    va_end(arguments);
    return status;
}

ais_status ais_fail_memory(ais_context *context, const char *what, size_t bytes) {
    return ais_fail(context, AIS_NO_MEMORY, "out of memory: %zu bytes for %s", bytes, what);
}
