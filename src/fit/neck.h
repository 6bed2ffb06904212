/* The neck of a hierarchical density (map/neck.h) from gradients. Given the logarithm v of a scale, a normal density
 * of the others has the gradient -(A + B s)(u - m(v)) = -A u - B s u + c + d s with s = exp(-2 rate v): linear in the
 * matrices A and B and in c and d, so that points anywhere determine them by least squares, even those outside the
 * neck. Axes that make A and B diagonal together are those of the density at every v. The coordinate v and the rate are
 * those that leave the least. math.md (46), (47). */
#ifndef AIS_FIT_NECK_H
#define AIS_FIT_NECK_H

#include "fit/bend.h"

/* A kernel of the given shape, which has a neck: whitened, v last, the neck fitted but for its warp, which takes v to
 * mean 0 and sd 1 of the points; other layers do nothing. NULL where there is nothing to be fitted. *misfit: the mean
 * square, per coordinate, of what the latent density of the others leaves of their gradient, that of a normal density
 * being 1. points->weight is not looked at. */
ais_status ais_neck_fit(ais_context *context, const ais_shape *shape, const ais_bend_points *points,
                        ais_kernel **kernel, double *misfit);

/* The middle of the density at v, in units of the whitening: x, and what is to be added to log p(x) there for the log
 * density of v alone, up to a constant. */
double ais_neck_ridge(const ais_kernel *kernel, double v, double *x);

/* Warps v to a standard normal: n log densities of v, up to a constant, at first, first + step, ... *done is false, and
 * nothing changes, where there are fewer than four or where they do not fall off on both sides. */
ais_status ais_neck_warp(ais_context *context, ais_kernel *kernel, size_t n, double first, double step,
                         const double *logp, bool *done);

#endif
