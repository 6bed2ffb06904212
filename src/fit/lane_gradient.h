/* The gradient of a target's log density over lanes. */
#ifndef AIS_FIT_LANE_GRADIENT_H
#define AIS_FIT_LANE_GRADIENT_H

#include <stdbool.h>
#include <stddef.h>

#include <aisampler/target.h>

/* Log densities (lanes) and their gradients (dim x lanes) at x. With `differences`, or where the target has
 * no gradient, central differences of the density with step h: 2 dim densities per point. work:
 * dim x lanes + 2 lanes + 2 dim doubles. A value that cannot be had is not finite. */
void ais_lane_gradient(const ais_target *target, bool differences, double h, size_t lanes, const double *x,
                       double *work, double *logp, double *slope);

/* Log densities alone. */
void ais_density_lanes(const ais_target *target, size_t lanes, const double *x, double *point, double *logp);

static inline size_t ais_lane_gradient_work(int dim, size_t lanes) {
    return (size_t)(dim + 2) * lanes + 2 * (size_t)dim;
}

#endif
