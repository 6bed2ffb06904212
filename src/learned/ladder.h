/* A ladder of replicas from the density of a map to the target, as a kernel: the part of it that learning sets and
 * reads. */
#ifndef AIS_LEARNED_LADDER_H
#define AIS_LEARNED_LADDER_H

#include "learned/pullback.h"

typedef struct ais_ladder {
    ais_kernel kernel;
    ais_kernel_type type;
    ais_kernel *map;
    int rungs;
    int leapfrogs; /* of a local move; 0: a reflection */
    double beta[AIS_MOST_RUNGS], scale[AIS_MOST_RUNGS];
    /* Replaces the density's functions before replicas see it, or NULL. Tests put broken ones there. */
    void (*replace)(ais_target *latent);
} ais_ladder;

/* What a chain's ladder has done since it was last cleared. */
typedef struct ais_ladder_tally {
    double moves, swaps[2];          /* sweeps over the rungs; of swaps, of the even and of the odd pairs */
    double accepted[AIS_MOST_RUNGS]; /* local moves, mean probabilities summed */
    double rejected[AIS_MOST_RUNGS]; /* swaps of rungs k and k + 1, likewise */
    double up[AIS_MOST_RUNGS];       /* log of the sum of f((b' - b) w - c) at rung k, b' being that of rung k + 1, */
    double down[AIS_MOST_RUNGS];     /* and of f(c - (b' - b) w) at rung k + 1; over the `moves`; math.md (41) */
    double guess[AIS_MOST_RUNGS];    /* c: log of the ratio of their integrals, about; the caller's, 0 at first */
    long arrived[AIS_MOST_RUNGS]; /* replicas that reached a rung from the bottom; at the top these are round trips */
} ais_ladder_tally;

/* NULL when the kernel is another one. */
const ais_ladder *ais_as_ladder(const ais_kernel *kernel);

/* Of the only chain of a block, own being its: replica k put at x, or where the top is if the density is zero at x;
 * read back; its tally. */
ais_status ais_ladder_put(ais_context *context, void *own, int k, const double *x);
void ais_ladder_get(void *own, int k, double *x);
ais_ladder_tally *ais_ladder_tally_of(void *own);
void ais_ladder_clear(ais_ladder_tally *tally); /* but for the guesses */

/* The sums `up` and `down` of another ladder with the same guesses are added. */
void ais_ladder_add(ais_ladder_tally *sum, const ais_ladder_tally *other);

/* What the sums say of ratio k. */
double ais_ladder_ratio(const ais_ladder_tally *tally, int k);

/* log Z of the target by these ratios from the map's density on. */
double ais_ladder_log_z(const ais_ladder *ladder, const ais_ladder_tally *tally);

#endif
