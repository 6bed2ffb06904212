/* What the two files of rational-quadratic splines share; for *_lanes.c only. The knots come from two
 * softmaxes in network arithmetic; within its bin a point is mapped in double, so that forward and
 * inverse undo each other to double rounding. */
#ifndef AIS_MAP_SPLINE_BIN_H
#define AIS_MAP_SPLINE_BIN_H

#include "map/element_lanes.h"
#include "nn/exp.h"
#include "simd/doubles.h"
#include "simd/math.h"

static const double least_width = 1e-3, least_slope = 1e-3; /* of a bin, relative to 2 bound */
static const double slope_shift = 0.539742417236952;        /* softplus(shift) + least_slope = 1 */

/* A point finds its bin by selects, so that no lane waits for another; in vectors by hand, because the compiler would
 * make branches of them. */
typedef ais_real reals __attribute__((vector_size(AIS_WORDS * sizeof(ais_real))));

AIS_INLINE ais_doubles load_reals(const ais_real *from) {
    reals value;
    memcpy(&value, from, sizeof value);
    return __builtin_convertvector(value, ais_doubles);
}

/* Softmax of `bins` rows of AIS_LANES, `lanes` apart, into rows of share, `apart` apart; share may be p. */
AIS_INLINE void softmax(int bins, size_t lanes, const ais_real *p, size_t apart, ais_real *share) {
    for (int c = 0; c < AIS_LANES; c += AIS_REALS) {
        ais_reals top, sum = ais_spread_real(0), value;
        memcpy(&top, p + c, sizeof top);
        for (int k = 1; k < bins; k++) {
            memcpy(&value, p + (size_t)k * lanes + (size_t)c, sizeof value);
            top = ais_max_real(value, top);
        }
        for (int k = 0; k < bins; k++) {
            memcpy(&value, p + (size_t)k * lanes + (size_t)c, sizeof value);
            value = ais_exp_real(value - top);
            sum += value;
            memcpy(share + (size_t)k * apart + (size_t)c, &value, sizeof value);
        }
        sum = 1 / sum;
        for (int k = 0; k < bins; k++) {
            memcpy(&value, share + (size_t)k * apart + (size_t)c, sizeof value);
            value *= sum;
            memcpy(share + (size_t)k * apart + (size_t)c, &value, sizeof value);
        }
    }
}

AIS_INLINE double softplus(double value) {
    double magnitude = value < 0 ? value : -value;
    return (value > 0 ? value : 0) + log(1 + exp(magnitude));
}

/* Where a point lands: its image, and the derivative of F there as up / down. */
typedef struct landing {
    double image, up, down;
} landing;

/* math.md (10), or its inverse: `value` in the bin with corner (x, y), width, height, their quotient s, and slopes d0,
 * d1 at its ends. */
AIS_INLINE landing land(bool inverse, double bound, double value, double x, double width, double y, double height,
                        double s, double d0, double d1) {
    double bend = d0 + d1 - 2 * s, outside = value;
    /* Beyond the bound the map is the identity: what is beyond is added again, and the slope at the bound is 1. As a
     * choice at the end it would keep the loop from being vectorised. */
    value = value > -bound ? value : -bound;
    value = value < bound ? value : bound;
    outside -= value;
    /* The place t in the bin: directly, or the root of a quadratic in the form that cancels nothing. */
    double rise = value - y;
    double qa = height * (s - d0) + rise * bend, qb = height * d0 - rise * bend, qc = -s * rise;
    double under = qb * qb - 4 * qa * qc;
    double root = 2 * qc / (-qb - sqrt(under > 0 ? under : 0));
    double t = inverse ? root : (value - x) / width;
    t = t > 0 ? t : 0;
    t = t < 1 ? t : 1;
    double q = t * (1 - t), below = s + bend * q;
    double there = inverse ? x + width * t : y + height * (s * t * t + d0 * q) / below;
    double up = s * s * (d1 * t * t + 2 * s * q + d0 * (1 - t) * (1 - t)), down = below * below;
    return (landing){.image = there + outside, .up = up, .down = down};
}

#endif
