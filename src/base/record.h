/* The state of one chain as bytes: each owner of a part lists its fields once, and the list serves to count, to write
 * and to read them.
 *
 *     ais_record_bytes(record, &mine->left, sizeof mine->left);
 *     ais_record_lane(record, mine->u, dim, lanes, lane);
 *
 * The number of bytes depends on kernel and target alone, never on what is in them: records of all chains are of one
 * size. */
#ifndef AIS_BASE_RECORD_H
#define AIS_BASE_RECORD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum ais_record_use { AIS_RECORD_COUNT, AIS_RECORD_WRITE, AIS_RECORD_READ } ais_record_use;

typedef struct ais_record {
    ais_record_use use;
    unsigned char *bytes; /* NULL to count */
    size_t room, used;    /* a record that is too long is neither written nor read beyond its room */
} ais_record;

static inline bool ais_record_reads(const ais_record *record) { return record->use == AIS_RECORD_READ; }

void ais_record_bytes(ais_record *record, void *data, size_t bytes);

/* Column `lane` of rows x lanes. */
void ais_record_lane(ais_record *record, double *data, size_t rows, size_t lanes, size_t lane);

/* Whether what was computed from a chain's point, at version *seen, is up to date with version `now`. Versions
 * themselves are not kept: reading makes *seen equal to `now`, or unequal. */
void ais_record_fresh(ais_record *record, uint32_t *seen, uint32_t now);

#endif
