/* Bends: a density in which some coordinates govern places and widths of others, as one of a banana's and of a funnel's
 * does, undone in closed form. A flow with a pivot layer on quadratic features keeps the governing coordinates and maps
 * every other one, x, to (x + b.f) exp(a.f), f being a constant, a line and a parabola of the one that governs it:
 * places and log widths are parabolas of it.
 *
 * With gradients the fit is to the Fisher divergence, one coordinate after the other, in units of the map's own widths
 * (src/fit/curve.h, math.md (34)). It does not matter where the points lie: a few hundred points of trajectories that
 * went anywhere determine a funnel to the end of its neck. Without gradients points must follow p, one coordinate
 * governs all others, and the fit is the likelihood's. Both are least squares in b and convex in a; in turn. */
#ifndef AIS_FIT_BEND_H
#define AIS_FIT_BEND_H

#include <aisampler/kernel.h>

#include "base/status.h"

typedef struct ais_bend_points {
    size_t n;
    const double *x;        /* n x dim */
    const double *gradient; /* of log p, n x dim; or NULL: the points follow p */
    const double *weight;   /* n, of any scale; NULL: all alike */
} ais_bend_points;

/* A kernel of the given shape, with as many pivots as coordinates govern others: whitened, the governing ones last, its
 * pivot layer fitted; other layers do nothing. *misfit: the mean square, per coordinate, of what the map's latent
 * density leaves of the gradient, that of a normal density being 1; NAN without gradients. Refuses shapes without an
 * affine pivot layer on quadratic features. */
ais_status ais_bend_fit(ais_context *context, const ais_shape *shape, const ais_bend_points *points,
                        ais_kernel **kernel, double *misfit);

/* Gives `to` the whitening and the pivot layer (or the neck) of `from`, a flow of the same dimension; other layers stay
 * as they are.
 */
ais_status ais_bend_copy(ais_context *context, const ais_kernel *from, ais_kernel *to);

#endif
