#include <stdint.h>
#include <string.h>

#include "kernel/element_lanes.h"
#include "simd/math.h"

/* log scale = p shrink(p), within the call's bound */
static inline double shrink(double p, double bound) { return 1 / sqrt(1 + p * p / (bound * bound)); }

/* exp(-s), s the log scale of bound 1 / unit, in network arithmetic. Its last digits do not matter: this very number
 * divides forward and multiplies back, and the log determinant is its logarithm. */
#ifdef AIS_REAL_IS_DOUBLE
static inline double inverse_scale(double p, double unit) { return exp(-p * shrink(p, 1 / unit)); }
#else
static inline float inverse_scale(float p, float unit) {
    const float magic = 0x1.8p23F;
    float part = p * unit, s = -p / sqrtf(1 + part * part);
    float shifted = s * 1.44269504F + magic, k = shifted - magic; /* k also in the low bits */
    float r = s - k * 0.693359375F - k * -2.12194440e-4F, r2 = r * r;
    float low = 1 + r, middle = 0.5F + r * 0.166666666F, high = 4.16666666e-2F + r * 8.3333333e-3F;
    float value = low + r2 * (middle + r2 * (high + r2 * 1.3888889e-3F));
    int32_t bits, exponent;
    memcpy(&bits, &value, sizeof bits);
    memcpy(&exponent, &shifted, sizeof exponent);
    bits = (int32_t)((uint32_t)bits + ((uint32_t)exponent << 23));
    memcpy(&value, &bits, sizeof bits);
    return value + (s - s); /* NaN stays NaN */
}
#endif

#define INLINE static inline __attribute__((always_inline))

/* math.md (8), the affine one. */
INLINE void map(const ais_layer_call *call, bool inverse, double *z, double *x, double *log_det) {
    const int factors = call->bound < 256 ? (int)(512 / call->bound) : 1; /* whose product cannot overflow */
    const ais_real unit = (ais_real)(1 / call->bound);
    size_t lanes = call->lanes;
    for (size_t first = 0; first < lanes; first += AIS_LANES) {
        double product[AIS_LANES], *det = log_det + first;
        for (int c = 0; c < AIS_LANES; c++) product[c] = 1;
        for (int m = 0; m < call->mapped; m++) {
            const ais_real *scale = call->p + (size_t)(2 * m) * lanes + first, *shift = scale + lanes;
            double *row = z + (size_t)call->index[m] * lanes + first, *kept = x + (size_t)m * lanes + first;
            ais_real factor[AIS_LANES];
#pragma omp simd
            for (int c = 0; c < AIS_LANES; c++) factor[c] = inverse_scale(scale[c], unit);
#pragma omp simd
            for (int c = 0; c < AIS_LANES; c++) {
                double e = (double)factor[c], t = (double)shift[c], value = row[c];
                double image = inverse ? value * e - t : (value + t) / e;
                row[c] = image;
                kept[c] = inverse ? image : value;
                product[c] *= e;
            }
            if (m % factors != factors - 1 && m != call->mapped - 1) continue;
#pragma omp simd
            for (int c = 0; c < AIS_LANES; c++) {
                det[c] += inverse ? log(product[c]) : -log(product[c]);
                product[c] = 1;
            }
        }
    }
}

void AIS_ISA(ais_affine_map)(const ais_layer_call *call, bool inverse, double *z, double *x, double *log_det) {
    if (inverse)
        map(call, true, z, x, log_det);
    else
        map(call, false, z, x, log_det);
}

void AIS_ISA(ais_affine_backward)(const ais_element_call *call, bool inverse, const double *x, const double *a,
                                  const double *b, double *gradient, ais_real *gradient_p) {
    size_t lanes = call->lanes;
#pragma omp simd
    for (size_t c = 0; c < lanes; c++) {
        double p = (double)call->p[c], less = shrink(p, call->bound), slope = exp(p * less), ds = less * less * less;
        double a_forward = inverse ? -a[c] / slope : a[c], b_forward = inverse ? -b[c] : b[c];
        gradient[c] = inverse ? -a_forward : a_forward * slope;
        double moved = x[c] + (double)call->p[lanes + c];
        gradient_p[c] = (ais_real)((a_forward * moved * slope + b_forward) * ds);
        gradient_p[lanes + c] = (ais_real)(a_forward * slope);
    }
}
