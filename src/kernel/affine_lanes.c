#include "kernel/element_lanes.h"

#include "simd/math.h"

void AIS_ISA(ais_affine_map)(const ais_element_call *call, bool inverse, const double *from, double *to,
                             double *log_det) {
    const ais_real *scale = call->p, *shift = call->p + call->lanes;
    double sign = inverse ? -1 : 1;
#pragma omp simd
    for (size_t c = 0; c < call->lanes; c++) {
        double s = 2 * tanh(0.5 * (double)scale[c]), t = (double)shift[c];
        double before = inverse ? from[c] - t : from[c], after = inverse ? 0 : t;
        to[c] = before * exp(sign * s) + after;
        log_det[c] += sign * s;
    }
}

void AIS_ISA(ais_affine_backward)(const ais_element_call *call, bool inverse, const double *x, const double *a,
                                  const double *b, double *gradient, ais_real *gradient_p) {
    size_t lanes = call->lanes;
#pragma omp simd
    for (size_t c = 0; c < lanes; c++) {
        double half = tanh(0.5 * (double)call->p[c]), slope = exp(2 * half), ds = 1 - half * half;
        double a_forward = inverse ? -a[c] / slope : a[c], b_forward = inverse ? -b[c] : b[c];
        gradient[c] = inverse ? -a_forward : a_forward * slope;
        gradient_p[c] = (ais_real)((a_forward * x[c] * slope + b_forward) * ds);
        gradient_p[lanes + c] = (ais_real)a_forward;
    }
}
