/* Draws that are kept in memory as long as they have to be judged. */
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
    double *x;       /* (dim + 1) x chains x room: the coordinates, and log p */
} ais_kept;

/* The draws of chain c: of coordinate i, or their log p where i is dim. */
static inline double *ais_kept_row(const ais_kept *kept, int i, int c) {
    return kept->x + ((size_t)i * (size_t)kept->chains + (size_t)c) * (size_t)kept->room;
}

/* Whether draws that suffice by their ESS leave a doubt that more draws would remove: how many times as many are
 * needed, 1 if there is no doubt. */
typedef struct ais_doubt {
    ais_status (*times)(ais_context *context, void *data, const ais_kept *kept, double *times);
    void *data;
} ais_doubt;

/* Appends a chunk of draws; grows by doubling. */
ais_status ais_kept_add(ais_context *context, ais_kept *kept, const ais_chunk *chunk);

/* Of one coordinate, as in diagnostics/worst.h. */
typedef double ais_measure(ais_column *column, const double *x);

/* The smallest of a measure over the coordinates of all draws kept, shared out over the pool; NAN below 4 draws.
 * *where: the coordinate that had it the last time (-1: none), and then has it. It is measured first, and where even
 * that is less than `enough` the others are left alone: then *least is its value, and not enough in any case. */
ais_status ais_kept_least(ais_context *context, const ais_kept *kept, ais_pool *pool, ais_measure *measure,
                          double enough, int *where, double *least);

void ais_kept_free(ais_kept *kept);

#endif
