/* FNV-1a, 64 bits: against damage, not against forgery. */
#ifndef AIS_BASE_CHECKSUM_H
#define AIS_BASE_CHECKSUM_H

#include <stddef.h>
#include <stdint.h>

static inline uint64_t ais_checksum(const void *data, size_t count) {
    const unsigned char *bytes = data;
    uint64_t hash = 0xcbf29ce484222325;
    for (size_t i = 0; i < count; i++) hash = (hash ^ bytes[i]) * 0x100000001b3;
    return hash;
}

#endif
