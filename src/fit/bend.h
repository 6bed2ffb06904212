/* Bends: a density in which one coordinate governs places and widths of the others, as a banana's and a funnel's does,
 * undone in closed form. A flow with a pivot layer on quadratic features keeps the governing coordinate and maps every
 * other one, x, to (x + b.f) exp(a.f), f being a constant, a line and a parabola of the one kept: places and log widths
 * are parabolas of it.
 *
 * With gradients the fit is to the Fisher divergence, one coordinate after the other, in units of the map's own widths
 * (src/fit/curve.h, math.md (34)). It asks nothing of where the points lie: a few hundred points of trajectories that
 * went anywhere determine a funnel to the end of its neck. Without gradients points must follow p, and the fit is the
 * likelihood's. Both are least squares in b and convex in a; in turn. */
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

/* Whitens the kernel, the governing coordinate last, and fits its pivot layer; other layers stay as they are. *misfit:
 * the mean square, per coordinate, of what the map's latent density leaves of the gradient, that of a normal density
 * being 1; NAN without gradients. Refuses flows that have no affine pivot layer on quadratic features. */
ais_status ais_bend_fit(ais_context *context, ais_kernel *kernel, const ais_bend_points *points, double *misfit);

/* Gives `to` the whitening and the pivot layer of `from`, a flow of the same dimension; other layers stay as they are.
 */
ais_status ais_bend_copy(ais_context *context, const ais_kernel *from, ais_kernel *to);

#endif
