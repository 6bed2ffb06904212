/* A classical kernel in the head of a kernel file (docs/formats.md, `inner`). */
#ifndef AIS_FILE_CLASSICAL_JSON_H
#define AIS_FILE_CLASSICAL_JSON_H

#include <jansson.h>

#include "kernel/kernel.h"

/* Whether it is one. */
bool ais_is_classical(const ais_kernel *kernel);

/* NULL when memory is out, or the kernel is none. */
json_t *ais_classical_to_json(const ais_kernel *kernel);

/* AIS_BAD_ARGUMENT for what describes none. */
ais_status ais_classical_from_json(ais_context *context, const json_t *json, ais_kernel **kernel);

#endif
