/* Monotone maps of one coordinate, y = F(x; p), the elements of coupling layers. The parameters p
 * (params x lanes) come from a conditioner. log_det receives log dF/dx (forward) or its negative
 * (inverse), added to what is there.
 *
 * Backward, forward direction: a = dL/dy and b = dL/dlog_det give dL/dx and dL/dp.
 * Backward, inverse direction: x = F^-1(y; p) was computed; a = dL/dx and b = dL/dlog_det give
 * dL/dy and dL/dp, by implicit differentiation: with l the forward log derivative,
 *     a' = -(a - b l_x) / F_x,   dL/dy = -a',   dL/dp = a' F_p - b l_p.
 * Both directions are given x, the unmapped side. */
#ifndef AIS_KERNEL_ELEMENT_LANES_H
#define AIS_KERNEL_ELEMENT_LANES_H

#include <stdbool.h>

#include "nn/real.h"
#include "simd/isa.h"

enum { AIS_MAX_BINS = 64, AIS_AFFINE_PARAMS = 2 };

/* What every element takes. bins and bound are the spline's. */
typedef struct ais_element_call {
    int bins;
    double bound;
    size_t lanes;
    const ais_real *p;
    bool shared; /* p is the same in all lanes */
} ais_element_call;

/* Rational-quadratic spline (Durkan et al. 2019) on [-bound, bound], identity outside; params are
 * bins widths, bins heights, bins - 1 inner slopes, all free numbers; p = 0 is the identity. */
static inline int ais_spline_params(int bins) { return 3 * bins - 1; }

AIS_DECLARE_LANES(void, ais_spline_map, const ais_element_call *call, bool inverse, const double *from, double *to,
                  double *log_det);
AIS_DECLARE_LANES(void, ais_spline_backward, const ais_element_call *call, bool inverse, const double *x,
                  const double *a, const double *b, double *gradient, ais_real *gradient_p);

/* y = (x + t) exp(s) with s = p0 / sqrt(1 + (p0 / 64)^2), t = p1. */
AIS_DECLARE_LANES(void, ais_affine_map, const ais_element_call *call, bool inverse, const double *from, double *to,
                  double *log_det);
AIS_DECLARE_LANES(void, ais_affine_backward, const ais_element_call *call, bool inverse, const double *x,
                  const double *a, const double *b, double *gradient, ais_real *gradient_p);

#endif
