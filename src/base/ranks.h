/* One rank's share of a job. Without ranks (NULL) this process does everything, and nothing is exchanged. */
#ifndef AIS_BASE_RANKS_H
#define AIS_BASE_RANKS_H

#include <aisampler/ranks.h>

#include "base/status.h"

typedef struct ais_part {
    int first, end;
} ais_part;

/* Which of `count` blocks belong to a rank: contiguous, in the order of the ranks. */
ais_part ais_ranks_part_of(const ais_ranks *ranks, int rank, int count);
ais_part ais_ranks_part(const ais_ranks *ranks, int count);
static inline bool ais_ranks_lead(const ais_ranks *ranks) { return !ranks || ranks->rank == 0; }

/* A failure of one rank becomes one of all, with the message of the first that failed. */
ais_status ais_ranks_agree(ais_context *context, const ais_ranks *ranks, ais_status status);

/* `count` rows of `bytes` each, of which a rank has those of its own blocks: exchanged among all ranks, one row per
 * block, or sent to rank 0, per_block rows per block, fewer in the last (base: see ais_ranks.collect). */
ais_status ais_ranks_share(ais_context *context, const ais_ranks *ranks, int count, size_t bytes, void *base);
ais_status ais_ranks_collect(ais_context *context, const ais_ranks *ranks, int count, int per_block, size_t bytes,
                             void *base);

/* The largest over the ranks; a NaN counts as infinity. */
ais_status ais_ranks_largest(ais_context *context, const ais_ranks *ranks, double *value, size_t count);
ais_status ais_ranks_sum(ais_context *context, const ais_ranks *ranks, double *value, size_t count);
ais_status ais_ranks_first(ais_context *context, const ais_ranks *ranks, void *value, size_t bytes);

#endif
