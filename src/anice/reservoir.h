/* Draws that training takes its batches from. */
#ifndef AIS_ANICE_RESERVOIR_H
#define AIS_ANICE_RESERVOIR_H

#include "base/random.h"
#include "base/status.h"
#include "checkpoint/checkpoint.h"

typedef struct ais_reservoir {
    size_t dim, count, room;
    double *x; /* count x dim */
} ais_reservoir;

void ais_reservoir_free(ais_reservoir *reservoir);

/* Drops this share of the draws, chosen at random. */
void ais_reservoir_discard(ais_reservoir *reservoir, double share, const ais_stream *stream);

/* Takes in dim x count values, coordinate by coordinate. */
ais_status ais_reservoir_insert(ais_context *context, ais_reservoir *reservoir, size_t count, const double *x);

/* All of it, for a checkpoint. */
void ais_reservoir_exchange(ais_checkpoint *checkpoint, ais_reservoir *reservoir);

/* Some member. */
const double *ais_reservoir_pick(const ais_reservoir *reservoir, const ais_stream *stream, size_t index);

#endif
