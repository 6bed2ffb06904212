/* The affine map x = mean + factor z that takes N(0, I) nearest to the density that points and their gradients show. */
#ifndef AIS_EXPLORE_AFFINE_H
#define AIS_EXPLORE_AFFINE_H

#include <stddef.h>

#include "base/status.h"

enum { AIS_MOST_DENSE = 200 }; /* dimensions; beyond, the factor is diagonal */

/* n rows of x, gradients of log p beside them, or NULL. With gradients the covariance is the geometric mean of the
 * points' covariance and the inverse of the gradients', and the mean where a normal density with it has the gradients'
 * mean: together the least Fisher divergence, exact for a normal density from dim + 1 points on. Both covariances are
 * drawn towards their diagonals where points are few. factor: dim x dim. */
ais_status ais_affine_fit(ais_context *context, int dim, size_t n, const double *x, const double *gradient,
                          double *mean, double *factor);

/* The root of a covariance, as the factor of an affine map: symmetric in units of the coordinates' standard deviations,
 * diagonal beyond AIS_MOST_DENSE. `covariance` is overwritten. */
ais_status ais_affine_root(ais_context *context, int dim, double *covariance, double *factor);

#endif
