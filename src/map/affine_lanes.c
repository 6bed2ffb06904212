#include <stdint.h>
#include <string.h>

#include "map/element_lanes.h"
#include "simd/math.h"

/* log scale = p shrink(p), of bound 1 / unit */
static inline ais_real shrink(ais_real p, ais_real unit) {
    ais_real part = p * unit;
#ifdef AIS_REAL_IS_DOUBLE
    return 1 / sqrt(1 + part * part);
#else
    return 1 / sqrtf(1 + part * part);
#endif
}

/* exp(-s), s the log scale of bound 1 / unit, in network arithmetic. Its last digits do not matter: this very number
 * divides forward and multiplies back, and the log determinant is its logarithm. */
#ifdef AIS_REAL_IS_DOUBLE
static inline double inverse_scale(double p, double unit) { return exp(-p * shrink(p, unit)); }
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

/* math.md (8), the affine one, in blocks of `width` lanes: AIS_LANES, or 1 of a point alone. */
INLINE void map(const ais_layer_call *call, int width, bool inverse, double *z, double *x, double *product) {
    const ais_real unit = (ais_real)(1 / call->bound);
    size_t lanes = call->lanes;
    for (size_t first = 0; first < lanes; first += (size_t)width) {
        for (int m = 0; m < call->mapped; m++) {
            const ais_real *scale = call->p + (size_t)(2 * m) * lanes + first, *shift = scale + lanes;
            double *row = z + (size_t)call->index[m] * lanes + first, *kept = x + (size_t)m * lanes + first;
            ais_real factor[AIS_LANES];
#pragma omp simd
            for (int c = 0; c < width; c++) factor[c] = inverse_scale(scale[c], unit);
#pragma omp simd
            for (int c = 0; c < width; c++) {
                double e = (double)factor[c], t = (double)shift[c], value = row[c];
                double image = inverse ? value * e - t : (value + t) / e;
                row[c] = image;
                kept[c] = inverse ? image : value;
                product[first + (size_t)c] *= e;
            }
        }
    }
}

void AIS_ISA(ais_affine_map)(const ais_layer_call *call, bool inverse, double *z, double *x, double *product) {
    if (call->lanes == 1)
        map(call, 1, inverse, z, x, product);
    else if (inverse)
        map(call, AIS_LANES, true, z, x, product);
    else
        map(call, AIS_LANES, false, z, x, product);
}

void AIS_ISA(ais_affine_close)(size_t lanes, bool inverse, double *product, double *log_det) {
#pragma omp simd
    for (size_t c = 0; c < lanes; c++) {
        log_det[c] += inverse ? log(product[c]) : -log(product[c]);
        product[c] = 1;
    }
}

/* `width` and `inverse` are constants after inlining, without which the loop would not vectorise. */
INLINE void backward(const ais_element_call *call, int width, bool inverse, const double *x, const double *a,
                     const double *b, double *gradient, ais_real *gradient_p) {
    const ais_real unit = (ais_real)(1 / call->bound);
    size_t lanes = call->lanes;
    for (size_t first = 0; first < lanes; first += (size_t)width) {
        const ais_real *scale = call->p + first, *shift = scale + lanes;
        const double *at = x + first, *a_block = a + first, *b_block = b + first;
        double *gradient_block = gradient + first;
        ais_real *to = gradient_p + first, *to_shift = to + lanes, factor[AIS_LANES], less[AIS_LANES];
#pragma omp simd
        for (int c = 0; c < width; c++) {
            factor[c] = inverse_scale(scale[c], unit);
            ais_real slope = shrink(scale[c], unit);
            less[c] = slope * slope * slope;
        }
#pragma omp simd
        for (int c = 0; c < width; c++) {
            double e = (double)factor[c];
            double a_shift = inverse ? -a_block[c] : a_block[c] / e; /* dL/dt */
            double b_forward = inverse ? -b_block[c] : b_block[c];
            gradient_block[c] = inverse ? a_block[c] * e : a_shift;
            to[c] = (ais_real)((a_shift * (at[c] + (double)shift[c]) + b_forward) * (double)less[c]);
            to_shift[c] = (ais_real)a_shift;
        }
    }
}

void AIS_ISA(ais_affine_backward)(const ais_element_call *call, bool inverse, const double *x, const double *a,
                                  const double *b, double *gradient, ais_real *gradient_p) {
    if (call->lanes == 1)
        backward(call, 1, inverse, x, a, b, gradient, gradient_p);
    else if (inverse)
        backward(call, AIS_LANES, true, x, a, b, gradient, gradient_p);
    else
        backward(call, AIS_LANES, false, x, a, b, gradient, gradient_p);
}
