#include "kernel/element_lanes.h"

#include "simd/math.h"

/* Of a log scale: wide enough that one layer can undo a funnel, and far from overflow in a product of many. */
static const double limit = 64;

static inline double shrink(double p) { return 1 / sqrt(1 + p * p / (limit * limit)); } /* log scale = p shrink(p) */

void AIS_ISA(ais_affine_map)(const ais_element_call *call, bool inverse, const double *from, double *to,
                             double *log_det) {
    const ais_real *scale = call->p, *shift = call->p + call->lanes;
    double sign = inverse ? -1 : 1;
#pragma omp simd
    for (size_t c = 0; c < call->lanes; c++) {
        double p = (double)scale[c], s = p * shrink(p), t = (double)shift[c];
        double before = inverse ? from[c] : from[c] + t, after = inverse ? t : 0;
        to[c] = before * exp(sign * s) - after;
        log_det[c] += sign * s;
    }
}

void AIS_ISA(ais_affine_backward)(const ais_element_call *call, bool inverse, const double *x, const double *a,
                                  const double *b, double *gradient, ais_real *gradient_p) {
    size_t lanes = call->lanes;
#pragma omp simd
    for (size_t c = 0; c < lanes; c++) {
        double p = (double)call->p[c], less = shrink(p), slope = exp(p * less), ds = less * less * less;
        double a_forward = inverse ? -a[c] / slope : a[c], b_forward = inverse ? -b[c] : b[c];
        gradient[c] = inverse ? -a_forward : a_forward * slope;
        double moved = x[c] + (double)call->p[lanes + c];
        gradient_p[c] = (ais_real)((a_forward * moved * slope + b_forward) * ds);
        gradient_p[lanes + c] = (ais_real)(a_forward * slope);
    }
}
