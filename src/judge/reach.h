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

/* What of p the kernel's proposals do not reach. */
typedef struct ais_reach {
    double share; /* of the draws, where fewer than three of the run's proposals are to be expected, math.md (44). Their
                   * places are known from local steps alone. */
    double visits; /* how often chains came there, correlated visits counted as one */
    double error;  /* of the share: share / sqrt(visits) */
} ais_reach;

/* The error at which the places that proposals do not reach are known well enough: half of the smallest tail that is
 * usually of interest. */
#define AIS_REACH_ERROR 0.005

ais_status ais_unreached(ais_context *context, int chains, int draws, const double *weight, double proposals,
                         ais_reach *reach);

/* How many of `steps` steps of a kernel are proposals, for a kernel that also makes other steps; 0 if all or none of
 * its steps are proposals, since then there can be no draw that no proposal reached. */
double ais_relieved_proposals(const ais_kernel *kernel, double steps);

#endif
