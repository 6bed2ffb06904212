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

/* The share of n draws that lie where fewer than three of so many proposals are to be expected, math.md (44). Their
 * places are known from local steps alone. visits: how often chains came there, visits that hang together counted as
 * one; the share has a relative error of 1 / sqrt(visits). */
enum { AIS_FEW_PROPOSALS = 3 };
ais_status ais_unreached(ais_context *context, int chains, int draws, const double *weight, double proposals,
                         double *share, double *visits);

#endif
