/* Where the training of a flow begins: whitening and initial weights. */
#ifndef AIS_FIT_FLOW_START_H
#define AIS_FIT_FLOW_START_H

#include "explore/population.h"
#include "learned/learned.h"

/* Last layers small, so that T is about the identity (with quadratic conditioners: exactly). And, unless bump_slope is
 * 0, bumps all over the whitened space: first layers W = bump_slope N(0, 1) / sqrt(inputs) centred at U(-2.5, 2.5). */
void ais_flow_spread(ais_kernel *kernel, uint64_t seed, double bump_slope);

typedef enum ais_whitening_kind { AIS_WHITEN_SD, AIS_WHITEN_FULL } ais_whitening_kind;

/* By the population's mean and its standard deviations, or the root of its covariance (principal axes). */
ais_status ais_flow_whiten(ais_context *context, ais_kernel *kernel, const ais_population *population,
                           ais_whitening_kind kind);

/* Where splines must reach: the largest whitened coordinate of the population, with room to spare; 4 at least. */
double ais_flow_bound(const ais_population *population);

#endif
