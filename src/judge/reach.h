/* Draws under the map that proposed them: a part of p that the map does not reach shows there. */
#ifndef AIS_JUDGE_REACH_H
#define AIS_JUDGE_REACH_H

#include <aisampler/kernel.h>

#include "base/pool.h"

/* log p - log q of every draw, q being the density that the kernel proposes from: a map on x alone, by itself or
 * between the steps of a latent kernel, or a mixture. *weight is chains x draws, the caller's to free, and NULL for
 * other kernels and for draws without a log density. */
ais_status ais_weigh_draws(ais_context *context, ais_pool *pool, const ais_kernel *kernel, const ais_draws *draws,
                           double **weight);

/* The same of n points, as rows. Whether the kernel proposes from such a density is for ais_proposes_from to say. */
bool ais_proposes_from(const ais_kernel *kernel);
ais_status ais_weigh_points(ais_context *context, ais_pool *pool, const ais_kernel *kernel, size_t n, int dim,
                            const double *x, const double *logp, double *weight);

enum { AIS_FEW_PROPOSALS = 3 };

/* What of p the kernel's proposals reach badly, or not at all. */
typedef struct ais_reach {
    double share;  /* of the draws */
    double visits; /* how often chains came there, correlated visits counted as one */
    double error;  /* of the share: share / sqrt(visits) */
    double needed; /* visits with which the verdict is content */
} ais_reach;

/* The error at which the places that proposals do not reach are known well enough: half of the smallest tail that is
 * usually of interest. */
#define AIS_REACH_ERROR 0.005

/* The share of the draws that are the edge of what a kernel without other steps proposes. */
#define AIS_EDGE 0.02

/* Of a kernel that also makes other steps, `proposals` of its steps being proposals: where fewer than three of them are
 * to be expected, math.md (44). These places are known from local steps alone, and are content with an error of
 * AIS_REACH_ERROR. */
ais_status ais_unreached(ais_context *context, int chains, int draws, const double *weight, double proposals,
                         ais_reach *reach);

/* Of a kernel whose steps are all proposals: the edge, where weights are largest. Chains stay there for long, and an
 * ESS of coordinates, over which such places are spread, shows little of it. The verdict asks for half as many
 * effective draws of its indicator as of tails. */
ais_status ais_hardly_reached(ais_context *context, int chains, int draws, const double *weight, ais_reach *reach);

/* The one that applies to the kernel, of whose steps every thin-th was kept (0 and 1: all). */
ais_status ais_judge_reach(ais_context *context, const ais_kernel *kernel, int thin, int chains, int draws,
                           const double *weight, ais_reach *reach);

/* Whether the kernel also makes steps that are no proposals. */
bool ais_is_relieved(const ais_kernel *kernel);

#endif
