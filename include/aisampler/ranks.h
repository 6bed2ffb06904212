/* ranks.h: several processes that do one job.
 *
 * Chains and training batches are divided into blocks; a rank computes its share of the blocks, and the five calls
 * below exchange what all ranks need. The draws are the same bytes for any number of ranks: no random number depends on
 * the rank, and sums over blocks are exact, so that their order does not matter.
 *
 * The library has no message passing of its own: the host provides the calls. The command does so with MPI
 * (cli/ranks.c) if it was built with Open MPI and is started by mpirun.
 */
#ifndef AISAMPLER_RANKS_H
#define AISAMPLER_RANKS_H

#include <stdbool.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* All ranks make every call, in the same order. A call returns false if another rank was lost: the job then ends with
 * AIS_STOPPED and complete files up to there. */
typedef struct ais_ranks {
    int rank, size;
    bool (*sum)(void *data, double *value, size_t count);     /* value becomes the sum over the ranks */
    bool (*largest)(void *data, double *value, size_t count); /* value becomes the largest over the ranks */
    bool (*first)(void *data, void *value, size_t bytes);     /* value becomes that of rank 0 */
    /* Parts of all ranks, in their order, side by side: bytes[r] of rank r. `share` gives them to everyone: base has
     * room for all, this rank's part already in its place. `collect` gives them to rank 0: there base is as in share,
     * elsewhere it is this rank's part alone. */
    bool (*share)(void *data, void *base, const size_t *bytes);
    bool (*collect)(void *data, void *base, const size_t *bytes);
    void *data;
} ais_ranks;

#ifdef __cplusplus
}
#endif
#endif
