/* Monotone maps of one coordinate, y = F(x; p), the elements of coupling layers. The parameters p
 * (params x lanes) come from a conditioner. log_det receives log dF/dx (forward) or its negative
 * (inverse), added to what is there.
 *
 * Backward, forward direction: a = dL/dy and b = dL/dlog_det give dL/dx and dL/dp.
 * Backward, inverse direction: x = F^-1(y; p) was computed; a = dL/dx and b = dL/dlog_det give
 * dL/dy and dL/dp, by implicit differentiation: with l the forward log derivative,
 *     a' = -(a - b l_x) / F_x,   dL/dy = -a',   dL/dp = a' F_p - b l_p.
 * Both directions are given x, the unmapped side. */
#ifndef AIS_MAP_ELEMENT_LANES_H
#define AIS_MAP_ELEMENT_LANES_H

#include <stdbool.h>

#include "map/families.h"
#include "nn/real.h"
#include "simd/isa.h"

enum { AIS_MAX_BINS = 64, AIS_MARGINAL_COLUMNS = 8 };

/* Arguments of the backward pass of an element. bins belongs to splines; bound is the spline's, or that of an affine
 * element's log scale. */
typedef struct ais_element_call {
    int bins;
    double bound;
    size_t lanes;
    const ais_real *p; /* of splines: with widths and heights as shares, as the map has left them, unless */
    bool shared;       /* all lanes have the same p, which is then that of free numbers */
} ais_element_call;

/* Arguments of the map of all elements of a layer: rows index[m] of z, m < mapped, are mapped in place; x (mapped x
 * lanes) receives the unmapped side; p is mapped params x lanes, for marginal splines mapped params alone. */
typedef struct ais_layer_call {
    int mapped, bins;
    const int *index;
    double bound;
    size_t lanes;
    const ais_real *p;
    ais_real *knots;     /* coupling splines, in place of p: widths and heights become shares of the whole */
    const double *table; /* marginal splines: what was prepared from p */
} ais_layer_call;

/* Every element has these two. gradient_p may be NULL: then only dL/dx is computed. */
#define AIS_ELEMENT_LANES(name, count, scales)                                                                         \
    AIS_DECLARE_LANES(void, ais_##name##_map, const ais_layer_call *call, bool inverse, double *z, double *x,          \
                      double *log_det);                                                                                \
    AIS_DECLARE_LANES(void, ais_##name##_backward, const ais_element_call *call, bool inverse, const double *x,        \
                      const double *a, const double *b, double *gradient, ais_real *gradient_p);
AIS_ELEMENTS(AIS_ELEMENT_LANES)
#undef AIS_ELEMENT_LANES

/* spline: rational-quadratic (Durkan et al. 2019) on [-bound, bound], identity outside; params are
 * bins widths, bins heights, bins - 1 inner slopes, all free numbers; p = 0 is the identity. */
static inline int ais_spline_params(int bins) { return 3 * bins - 1; }

/* The same with parameters that all lanes share: first the tables of the `mapped` coordinates, ais_marginal_size
 * doubles, then any number of maps. */
static inline size_t ais_marginal_size(int mapped, int bins) {
    return (size_t)mapped * 2 * (1 + AIS_MARGINAL_COLUMNS) * (size_t)bins;
}
AIS_DECLARE_LANES(void, ais_marginal_prepare, const ais_layer_call *call, double *table);
AIS_DECLARE_LANES(void, ais_marginal_map, const ais_layer_call *call, bool inverse, double *z, double *x,
                  double *log_det);

/* affine: y = (x + t) exp(s) with s = p0 / sqrt(1 + (p0 / bound)^2), t = p1. Its map has a product in place of log_det,
 * which is multiplied by exp(-s) of every element; closing adds its logarithm to log_det and resets it to 1. It must
 * not become larger than a double: between two closings bound times elements may be 512. One logarithm for several
 * layers. */
AIS_DECLARE_LANES(void, ais_affine_close, size_t lanes, bool inverse, double *product, double *log_det);

#endif
