/* A neck: a layer that undoes one scale of a hierarchical density in closed form. The last coordinate, v, is the
 * logarithm of a scale (or of a precision); given it the others are normal along fixed axes, which the whitening has
 * made the coordinates, with precision and mean
 *
 *     p(v) = a + b s,   m(v) = (c + d s) / p(v),   s = exp(-2 rate v),
 *
 * a being what data and other priors say and b s what the prior of that scale does. It maps x to (x - m) sqrt(p), and v
 * by an increasing warp: a rational-quadratic spline, linear beyond its ends. math.md (47).
 *
 * Everything is computed in double; whatever the weights are, the layer can be inverted. */
#ifndef AIS_MAP_NECK_H
#define AIS_MAP_NECK_H

#include <stdbool.h>
#include <stddef.h>

#include "nn/real.h"

enum { AIS_NECK_NUMBERS = 4 }; /* a, b, c, d of a coordinate */

/* The weights: the rate; a, b, c, d of every coordinate but the last; of the warp where its first knot is and what it
 * becomes, width and height of every bin, and the slopes at all knots. */
static inline size_t ais_neck_warp_at(int dim) { return 1 + AIS_NECK_NUMBERS * (size_t)(dim - 1); }
static inline size_t ais_neck_weights(int dim, int bins) { return ais_neck_warp_at(dim) + 3 + 3 * (size_t)bins; }

/* The identity. */
void ais_neck_clear(int dim, int bins, ais_real *weights);

/* In place, as flow.h has it; x (dim x lanes) receives the unmapped side. */
void ais_neck_map(int dim, int bins, const ais_real *weights, size_t lanes, bool inverse, double *z, double *x,
                  double *log_det);

/* gradient: dL/d result, becomes dL/d argument; x as the map left it; gradient_det: dL/d log_det. */
void ais_neck_backward(int dim, int bins, const ais_real *weights, size_t lanes, bool inverse, const double *x,
                       double *gradient, const double *gradient_det);

#endif
