/* A mixture fitted to weighted points, without new evaluations. */
#ifndef AIS_EXPLORE_MIXTURE_FIT_H
#define AIS_EXPLORE_MIXTURE_FIT_H

#include "map/components.h"

/* A few rounds of expectation and maximisation, from the mixture as it is: weights and sizes of the components become
 * those of their shares of the n rows of x, as far as a share is large enough to say; places and shapes stay, which
 * Laplace fits know better than a few points. The degrees of freedom become those that make draws worth most. logp:
 * log p of the rows; log_weight: -infinity for points that do not count. */
ais_status ais_mixture_fit(ais_context *context, ais_components *mixture, ais_pool *pool, size_t n, const double *x,
                           const double *logp, const double *log_weight);

#endif
