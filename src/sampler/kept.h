/* Draws that are kept in memory for as long as somebody has to judge them. */
#ifndef AIS_SAMPLER_KEPT_H
#define AIS_SAMPLER_KEPT_H

#include <aisampler/draws.h>

#include "base/pool.h"

/* Numbers that are kept at most: 0.8 GB. */
#define AIS_MOST_KEPT 1e8

typedef struct ais_kept {
    int dim, chains;
    int draws, room; /* per chain */
    double *x;       /* dim x chains x room */
} ais_kept;

/* Appends a chunk of draws; grows by doubling. */
ais_status ais_kept_add(ais_context *context, ais_kept *kept, const ais_chunk *chunk);

/* ais_worst_ess of all draws kept, coordinates shared out over the pool. NAN below 4 draws. */
ais_status ais_kept_worst(ais_context *context, const ais_kept *kept, ais_pool *pool, double *worst);

void ais_kept_free(ais_kept *kept);

#endif
