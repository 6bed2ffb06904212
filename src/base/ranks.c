#include "base/ranks.h"

#include <math.h>
#include <stdlib.h>

ais_part ais_ranks_part_of(const ais_ranks *ranks, int rank, int count) {
    long size = ranks ? ranks->size : 1;
    return (ais_part){.first = (int)((long)rank * count / size), .end = (int)((rank + 1L) * count / size)};
}

ais_part ais_ranks_part(const ais_ranks *ranks, int count) {
    return ais_ranks_part_of(ranks, ranks ? ranks->rank : 0, count);
}

static ais_status answer(ais_context *context, bool whole) {
    return whole ? AIS_OK : ais_fail(context, AIS_STOPPED, "another rank was lost");
}

ais_status ais_ranks_agree(ais_context *context, const ais_ranks *ranks, ais_status status) {
    if (!ranks) return status;
    double failed = status != AIS_OK;
    ais_status known = ais_ranks_largest(context, ranks, &failed, 1);
    if (known != AIS_OK || failed == 0) return known;
    ais_context *all = calloc((size_t)ranks->size, sizeof *all);
    if (!all) return ais_fail_memory(context, "messages of the ranks", (size_t)ranks->size * sizeof *all);
    if (status != AIS_OK) {
        all[ranks->rank] = *context;
        all[ranks->rank].status = status;
    }
    known = ais_ranks_share(context, ranks, ranks->size, sizeof *all, all);
    for (int r = 0; r < ranks->size && known == AIS_OK; r++)
        if (all[r].status != AIS_OK) {
            *context = all[r];
            known = all[r].status;
        }
    free(all);
    return known;
}

static ais_status move(ais_context *context, const ais_ranks *ranks, int count, int per_block, size_t bytes, void *base,
                       bool (*how)(void *, void *, const size_t *)) {
    size_t *part = malloc((size_t)ranks->size * sizeof *part);
    if (!part) return ais_fail_memory(context, "the ranks' parts", (size_t)ranks->size * sizeof *part);
    int blocks = (count - 1) / per_block + 1;
    for (int r = 0; r < ranks->size; r++) {
        ais_part of = ais_ranks_part_of(ranks, r, blocks);
        long first = (long)of.first * per_block, end = (long)of.end * per_block;
        part[r] = (size_t)((end < count ? end : count) - first) * bytes;
    }
    bool whole = how(ranks->data, base, part);
    free(part);
    return answer(context, whole);
}

ais_status ais_ranks_share(ais_context *context, const ais_ranks *ranks, int count, size_t bytes, void *base) {
    return ranks ? move(context, ranks, count, 1, bytes, base, ranks->share) : AIS_OK;
}

ais_status ais_ranks_collect(ais_context *context, const ais_ranks *ranks, int count, int per_block, size_t bytes,
                             void *base) {
    return ranks ? move(context, ranks, count, per_block, bytes, base, ranks->collect) : AIS_OK;
}

ais_status ais_ranks_largest(ais_context *context, const ais_ranks *ranks, double *value, size_t count) {
    for (size_t i = 0; i < count; i++)
        if (isnan(value[i])) value[i] = INFINITY;
    return ranks ? answer(context, ranks->largest(ranks->data, value, count)) : AIS_OK;
}

ais_status ais_ranks_sum(ais_context *context, const ais_ranks *ranks, double *value, size_t count) {
    return ranks ? answer(context, ranks->sum(ranks->data, value, count)) : AIS_OK;
}

ais_status ais_ranks_first(ais_context *context, const ais_ranks *ranks, void *value, size_t bytes) {
    return ranks ? answer(context, ranks->first(ranks->data, value, bytes)) : AIS_OK;
}
