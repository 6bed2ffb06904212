/* Sums of 64 bits: against damage, not against forgery. */
#ifndef AIS_BASE_CHECKSUM_H
#define AIS_BASE_CHECKSUM_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* FNV-1a. */
static inline uint64_t ais_checksum(const void *data, size_t count) {
    const unsigned char *bytes = data;
    uint64_t hash = 0xcbf29ce484222325;
    for (size_t i = 0; i < count; i++) hash = (hash ^ bytes[i]) * 0x100000001b3;
    return hash;
}

/* Eight bytes at a time, for what comes by the gigabyte. `sum` is 0, or that of what stands before. */
static inline uint64_t ais_checksum_long(uint64_t sum, const void *data, size_t count) {
    const unsigned char *bytes = data;
    for (size_t i = 0; i < count; i += sizeof sum) {
        uint64_t word = 0;
        memcpy(&word, bytes + i, count - i < sizeof word ? count - i : sizeof word);
        sum = (sum ^ word) * 0x9e3779b97f4a7c15;
        sum ^= sum >> 32;
    }
    return sum ^ count;
}

#endif
