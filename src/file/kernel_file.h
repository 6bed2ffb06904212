/* The kernel file in memory. */
#ifndef AIS_FILE_KERNEL_FILE_H
#define AIS_FILE_KERNEL_FILE_H

#include "kernel/kernel.h"

/* The bytes of a learned kernel's file, released by free(); NULL when memory is out. */
unsigned char *ais_kernel_encode(const ais_kernel *kernel, const ais_target *target, size_t *count);

/* The kernel of such bytes; path is what messages call them. */
ais_status ais_kernel_decode(ais_context *context, const char *path, const unsigned char *bytes, size_t count,
                             const ais_target *target, ais_kernel **kernel);

#endif
