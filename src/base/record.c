#include "base/record.h"

#include <string.h>

void ais_record_bytes(ais_record *record, void *data, size_t bytes) {
    size_t at = record->used;
    record->used += bytes;
    if (record->use == AIS_RECORD_COUNT || record->used > record->room || bytes == 0) return;
    if (record->use == AIS_RECORD_WRITE)
        memcpy(record->bytes + at, data, bytes);
    else
        memcpy(data, record->bytes + at, bytes);
}

void ais_record_lane(ais_record *record, double *data, size_t rows, size_t lanes, size_t lane) {
    for (size_t i = 0; i < rows; i++) ais_record_bytes(record, data + i * lanes + lane, sizeof *data);
}

void ais_record_fresh(ais_record *record, uint32_t *seen, uint32_t now) {
    uint32_t fresh = *seen == now;
    ais_record_bytes(record, &fresh, sizeof fresh);
    if (ais_record_reads(record)) *seen = fresh ? now : now - 1;
}
