/* Draws that are kept in memory for as long as somebody has to judge them. */
#ifndef AIS_SAMPLER_KEPT_H
#define AIS_SAMPLER_KEPT_H

#include <aisampler/draws.h>

#include "base/pool.h"
#include "diagnostics/worst.h"

/* Numbers that are kept at most: 0.8 GB. */
#define AIS_MOST_KEPT 1e8

typedef struct ais_kept {
    int dim, chains;
    int draws, room; /* per chain */
    double *x;       /* dim x chains x room */
} ais_kept;

/* Appends a chunk of draws; grows by doubling. */
ais_status ais_kept_add(ais_context *context, ais_kept *kept, const ais_chunk *chunk);

/* The smallest of a measure (diagnostics/worst.h) over the coordinates of all draws kept, shared out over the pool. NAN
 * below 4 draws. */
ais_status ais_kept_least(ais_context *context, const ais_kept *kept, ais_pool *pool,
                          double (*measure)(ais_column *column, const double *x), double *least);

void ais_kept_free(ais_kept *kept);

#endif
