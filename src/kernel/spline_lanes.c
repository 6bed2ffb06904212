/* The spline's knots come from two softmaxes in network arithmetic; within its bin a point is mapped
 * in double, so that forward and inverse undo each other to double rounding. */
#include "kernel/element_lanes.h"

#include "simd/math.h"

static const double least_width = 1e-3, least_slope = 1e-3; /* of a bin, relative to 2 bound */
static const double slope_shift = 0.539742417236952;        /* softplus(shift) + least_slope = 1 */

#ifdef AIS_REAL_IS_DOUBLE
#define EXP exp
#else
#define EXP expf
#endif

#define INLINE static inline __attribute__((always_inline))

/* Softmax of `bins` rows into share (bins x AIS_LANES). */
INLINE void softmax(int bins, size_t lanes, const ais_real *p, ais_real (*share)[AIS_LANES]) {
    ais_real top[AIS_LANES], sum[AIS_LANES] = {0};
    for (int c = 0; c < AIS_LANES; c++) top[c] = p[c];
    for (int k = 1; k < bins; k++)
#pragma omp simd
        for (int c = 0; c < AIS_LANES; c++) {
            ais_real value = p[(size_t)k * lanes + (size_t)c];
            top[c] = value > top[c] ? value : top[c];
        }
    for (int k = 0; k < bins; k++)
#pragma omp simd
        for (int c = 0; c < AIS_LANES; c++) {
            share[k][c] = EXP(p[(size_t)k * lanes + (size_t)c] - top[c]);
            sum[c] += share[k][c];
        }
#pragma omp simd
    for (int c = 0; c < AIS_LANES; c++) sum[c] = 1 / sum[c];
    for (int k = 0; k < bins; k++)
#pragma omp simd
        for (int c = 0; c < AIS_LANES; c++) share[k][c] *= sum[c];
}

/* The bin of each lane: its corner, size, slopes at both ends, and its number. */
typedef struct bin {
    double x[AIS_LANES], width[AIS_LANES], y[AIS_LANES], height[AIS_LANES], slope[2][AIS_LANES];
    double raw_slope[2][AIS_LANES]; /* before softplus; the outermost slopes are fixed at 1 */
    int number[AIS_LANES];
    ais_real wide[AIS_MAX_BINS][AIS_LANES], high[AIS_MAX_BINS][AIS_LANES]; /* the softmaxes */
} bin;

INLINE double softplus(double value) {
    double magnitude = value < 0 ? value : -value;
    return (value > 0 ? value : 0) + log(1 + exp(magnitude));
}

/* Finds the bin in which `at` lies, by its x side or (by_height) its y side. Points outside get the
 * first or last bin, and the caller passes them through. */
INLINE void find(const ais_element_call *call, size_t first, bool by_height, const double *at, bin *found) {
    int bins = call->bins;
    size_t lanes = call->lanes;
    const ais_real *p = call->p + first;
    double span = 2 * call->bound, least = least_width * span, rest = span - least * bins;
    if (first == 0 || !call->shared) {
        softmax(bins, lanes, p, found->wide);
        softmax(bins, lanes, p + (size_t)bins * lanes, found->high);
    }
    const ais_real *slope = p + (size_t)(2 * bins) * lanes;
    double x[AIS_LANES], y[AIS_LANES];
    for (int c = 0; c < AIS_LANES; c++) {
        x[c] = y[c] = -call->bound;
        found->number[c] = -1;
    }
    for (int k = 0; k < bins; k++) {
#pragma omp simd
        for (int c = 0; c < AIS_LANES; c++) {
            double width = least + rest * (double)found->wide[k][c], height = least + rest * (double)found->high[k][c];
            double corner = by_height ? y[c] : x[c];
            bool here = at[c] >= corner || k == 0; /* the last one that is true stays */
            found->x[c] = here ? x[c] : found->x[c];
            found->y[c] = here ? y[c] : found->y[c];
            found->width[c] = here ? width : found->width[c];
            found->height[c] = here ? height : found->height[c];
            found->number[c] = here ? k : found->number[c];
            x[c] += width;
            y[c] += height;
        }
    }
    for (int c = 0; c < AIS_LANES; c++) {
        int k = found->number[c];
        found->raw_slope[0][c] = k > 0 ? (double)slope[(size_t)(k - 1) * lanes + (size_t)c] + slope_shift : 0;
        found->raw_slope[1][c] = k < bins - 1 ? (double)slope[(size_t)k * lanes + (size_t)c] + slope_shift : 0;
    }
#pragma omp simd
    for (int c = 0; c < AIS_LANES; c++) {
        /* The last bin ends at the bound exactly, whatever the sums rounded to. */
        bool last = found->number[c] == bins - 1;
        found->width[c] = last ? call->bound - found->x[c] : found->width[c];
        found->height[c] = last ? call->bound - found->y[c] : found->height[c];
        double left = softplus(found->raw_slope[0][c]) + least_slope;
        double right = softplus(found->raw_slope[1][c]) + least_slope;
        found->slope[0][c] = found->number[c] > 0 ? left : 1;
        found->slope[1][c] = last ? 1 : right;
    }
}

/* `inverse` is a constant after inlining: a choice known only at run time would not vectorise. */
INLINE void map(const ais_element_call *call, bool inverse, const double *from, double *to, double *log_det) {
    bin found;
    double bound = call->bound;
    for (size_t first = 0; first < call->lanes; first += AIS_LANES) {
        const double *in = from + first;
        double *out = to + first, *det = log_det + first;
        find(call, first, inverse, in, &found);
#pragma omp simd
        for (int c = 0; c < AIS_LANES; c++) {
            double value = in[c], d0 = found.slope[0][c], d1 = found.slope[1][c];
            double width = found.width[c], height = found.height[c], s = height / width, bend = d0 + d1 - 2 * s;
            bool inside = (value > -bound) & (value < bound);
            /* The place t in the bin: directly, or the root of a quadratic in the form that cancels nothing. */
            double rise = value - found.y[c];
            double qa = height * (s - d0) + rise * bend, qb = height * d0 - rise * bend, qc = -s * rise;
            double under = qb * qb - 4 * qa * qc;
            double root = 2 * qc / (-qb - sqrt(under > 0 ? under : 0));
            double t = inverse ? root : (value - found.x[c]) / width;
            t = t > 0 ? t : 0;
            t = t < 1 ? t : 1;
            double q = t * (1 - t), below = s + bend * q;
            double y = found.y[c] + height * (s * t * t + d0 * q) / below, x = found.x[c] + width * t;
            double up = d1 * t * t + 2 * s * q + d0 * (1 - t) * (1 - t);
            double slope = log(s * s * up / (below * below));
            out[c] = inside ? (inverse ? x : y) : value;
            det[c] += inside ? (inverse ? -slope : slope) : 0;
        }
    }
}

void AIS_ISA(ais_spline_map)(const ais_element_call *call, bool inverse, const double *from, double *to,
                             double *log_det) {
    if (inverse)
        map(call, true, from, to, log_det);
    else
        map(call, false, from, to, log_det);
}

/* From the gradient by widths below the bin, at the bin and above it to the gradient by p, through
 * the softmax: dL/dp_k = rest share_k (g_k - sum_j share_j g_j). */
INLINE void softmax_backward(int bins, size_t lanes, double rest, const ais_real (*share)[AIS_LANES], const int *number,
                             const double *below, const double *at, ais_real *gradient_p) {
    double mean[AIS_LANES] = {0};
    for (int k = 0; k < bins; k++)
#pragma omp simd
        for (int c = 0; c < AIS_LANES; c++) {
            double g = k < number[c] ? below[c] : k == number[c] ? at[c] : 0;
            mean[c] += (double)share[k][c] * g;
        }
    for (int k = 0; k < bins; k++)
#pragma omp simd
        for (int c = 0; c < AIS_LANES; c++) {
            double g = k < number[c] ? below[c] : k == number[c] ? at[c] : 0;
            gradient_p[(size_t)k * lanes + (size_t)c] = (ais_real)(rest * (double)share[k][c] * (g - mean[c]));
        }
}

INLINE void backward(const ais_element_call *call, bool inverse, const double *x, const double *a, const double *b,
                     double *gradient, ais_real *gradient_p) {
    bin found;
    int bins = call->bins;
    size_t lanes = call->lanes;
    double bound = call->bound, span = 2 * bound, rest = span - least_width * span * bins;
    for (size_t first = 0; first < lanes; first += AIS_LANES) {
        double g_x[AIS_LANES], g_width[AIS_LANES], g_y[AIS_LANES], g_height[AIS_LANES], g_slope[2][AIS_LANES];
        const double *at = x + first, *a_block = a + first, *b_block = b + first;
        double *gradient_block = gradient + first;
        find(call, first, false, at, &found);
#pragma omp simd
        for (int c = 0; c < AIS_LANES; c++) {
            double value = at[c], d0 = found.slope[0][c], d1 = found.slope[1][c];
            double width = found.width[c], height = found.height[c], s = height / width, bend = d0 + d1 - 2 * s;
            bool inside = (value > -bound) & (value < bound);
            double t = (value - found.x[c]) / width;
            t = t > 0 ? t : 0;
            t = t < 1 ? t : 1;
            double q = t * (1 - t), up = s * t * t + d0 * q, below = s + bend * q; /* F = y + height up / below */
            double steep = d1 * t * t + 2 * s * q + d0 * (1 - t) * (1 - t);        /* F_x = s^2 steep / below^2 */
            double f_x = s * s * steep / (below * below), below_t = bend * (1 - 2 * t);
            double l_t = 2 * (d1 * t + s * (1 - 2 * t) - d0 * (1 - t)) / steep - 2 * below_t / below;
            double up_a = a_block[c], up_b = b_block[c];
            double ga = inverse ? -(up_a - up_b * l_t / width) / f_x : up_a, gb = inverse ? -up_b : up_b;
            double unit = height / (below * below);
            double g_t = ga * f_x * width + gb * l_t;
            double g_s =
                ga * unit * (t * t * below - up * (1 - 2 * q)) + gb * (2 / s + 2 * q / steep - 2 * (1 - 2 * q) / below);
            double g_0 = ga * unit * q * (below - up) + gb * ((1 - t) * (1 - t) / steep - 2 * q / below);
            double g_1 = -ga * unit * q * up + gb * (t * t / steep - 2 * q / below);
            double through = inverse ? -ga : g_t / width, outside = up_a;
            gradient_block[c] = inside ? through : outside;
            double on = inside ? 1 : 0;
            g_x[c] = -on * g_t / width;
            g_width[c] = -on * (g_s * s + g_t * t) / width;
            g_y[c] = on * ga;
            g_height[c] = on * (ga * up / below + g_s / width);
            double slow0 = 1 / (1 + exp(-found.raw_slope[0][c])), slow1 = 1 / (1 + exp(-found.raw_slope[1][c]));
            g_slope[0][c] = on * g_0 * slow0;
            g_slope[1][c] = on * g_1 * slow1;
        }
        ais_real *to = gradient_p + first;
        softmax_backward(bins, lanes, rest, (const ais_real(*)[AIS_LANES])found.wide, found.number, g_x, g_width, to);
        softmax_backward(bins, lanes, rest, (const ais_real(*)[AIS_LANES])found.high, found.number, g_y, g_height,
                         to + (size_t)bins * lanes);
        for (int k = 0; k < bins - 1; k++)
#pragma omp simd
            for (int c = 0; c < AIS_LANES; c++) {
                double g = (k == found.number[c] - 1 ? g_slope[0][c] : 0) + (k == found.number[c] ? g_slope[1][c] : 0);
                to[(size_t)(2 * bins + k) * lanes + (size_t)c] = (ais_real)g;
            }
    }
}

void AIS_ISA(ais_spline_backward)(const ais_element_call *call, bool inverse, const double *x, const double *a,
                                  const double *b, double *gradient, ais_real *gradient_p) {
    if (inverse)
        backward(call, true, x, a, b, gradient, gradient_p);
    else
        backward(call, false, x, a, b, gradient, gradient_p);
}
