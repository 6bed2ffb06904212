/* The spline's knots come from two softmaxes in network arithmetic; within its bin a point is mapped
 * in double, so that forward and inverse undo each other to double rounding. */
#include <stdint.h>
#include <string.h>
#if defined(__x86_64__)
#include <immintrin.h>
#endif

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

/* A point finds its bin by selects, so that no lane waits for another; in vectors by hand, because the compiler would
 * make branches of them. */
#if defined(__AVX512F__)
enum { WIDTH = 8 };
#elif defined(__AVX__)
enum { WIDTH = 4 };
#else
enum { WIDTH = 2 };
#endif
typedef double vector __attribute__((vector_size(WIDTH * sizeof(double))));
typedef int64_t mask __attribute__((vector_size(WIDTH * sizeof(int64_t))));
typedef ais_real reals __attribute__((vector_size(WIDTH * sizeof(ais_real))));

INLINE vector all(double value) { return value - (vector){0}; }
INLINE vector load(const double *from) {
    vector value;
    memcpy(&value, from, sizeof value);
    return value;
}
INLINE void store(double *to, vector value) { memcpy(to, &value, sizeof value); }
INLINE vector load_reals(const ais_real *from) {
    reals value;
    memcpy(&value, from, sizeof value);
    return __builtin_convertvector(value, vector);
}
INLINE vector pick(mask which, vector yes, vector no) {
#if defined(__AVX__) && !defined(__AVX512F__)
    return (vector)_mm256_blendv_pd((__m256d)no, (__m256d)yes, (__m256d)which);
#else
    return (vector)(((mask)yes & which) | ((mask)no & ~which));
#endif
}

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

/* The bins of WIDTH lanes from lane c on, without the slopes' softplus. */
INLINE void find_some(const ais_element_call *call, const ais_real *slope, bool by_height, const double *at, int c,
                      bin *found) {
    int bins = call->bins;
    double span = 2 * call->bound, least = least_width * span, rest = span - least * bins;
    vector value = load(at + c), x = all(-call->bound), y = x, at_x = x, at_y = y, number = all(0);
    vector width = least + rest * load_reals(found->wide[0] + c), at_width = width;
    vector height = least + rest * load_reals(found->high[0] + c), at_height = height;
    vector left = all(0), right = slope_shift + load_reals(slope), at_left = left, at_right = right;
    for (int k = 1; k < bins; k++) { /* the last one that begins below the value stays */
        x += width;
        y += height;
        width = least + rest * load_reals(found->wide[k] + c);
        height = least + rest * load_reals(found->high[k] + c);
        left = right;
        if (k < bins - 1) right = slope_shift + load_reals(slope + (size_t)k * call->lanes);
        mask here = value >= (by_height ? y : x);
        at_x = pick(here, x, at_x);
        at_y = pick(here, y, at_y);
        at_width = pick(here, width, at_width);
        at_height = pick(here, height, at_height);
        at_left = pick(here, left, at_left);
        at_right = pick(here, right, at_right);
        number = pick(here, all(k), number);
    }
    store(found->x + c, at_x);
    store(found->y + c, at_y);
    store(found->width + c, at_width);
    store(found->height + c, at_height);
    store(found->raw_slope[0] + c, at_left);
    store(found->raw_slope[1] + c, at_right);
    for (int j = 0; j < WIDTH; j++) found->number[c + j] = (int)number[j];
}

/* Finds the bin in which `at` lies, by its x side or (by_height) its y side. Points outside get the
 * first or last bin, and the caller passes them through. */
INLINE void find(const ais_element_call *call, size_t first, bool by_height, const double *at, bin *found) {
    int bins = call->bins;
    size_t lanes = call->lanes;
    const ais_real *p = call->p + first;
    if (first == 0 || !call->shared) {
        softmax(bins, lanes, p, found->wide);
        softmax(bins, lanes, p + (size_t)bins * lanes, found->high);
    }
    for (int c = 0; c < AIS_LANES; c += WIDTH)
        find_some(call, p + (size_t)(2 * bins) * lanes + (size_t)c, by_height, at, c, found);
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

/* Where a point lands: its image, and the derivative of F there as up / down. */
typedef struct landing {
    double image, up, down;
} landing;

/* `value` in the bin with corner (x, y), width, height, their quotient s, and slopes d0, d1 at its ends. */
INLINE landing land(bool inverse, double bound, double value, double x, double width, double y, double height, double s,
                    double d0, double d1) {
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

/* `inverse` is a constant after inlining: a choice known only at run time would not vectorise. */
INLINE void map(const ais_layer_call *call, bool inverse, double *z, double *x, double *log_det) {
    bin found;
    double bound = call->bound;
    for (int m = 0; m < call->mapped; m++) {
        ais_element_call element = {.bins = call->bins, .bound = bound, .lanes = call->lanes};
        element.p = call->p + (size_t)(m * ais_spline_params(call->bins)) * call->lanes;
        for (size_t first = 0; first < call->lanes; first += AIS_LANES) {
            double *row = z + (size_t)call->index[m] * call->lanes + first, *det = log_det + first;
            double *kept = x + (size_t)m * call->lanes + first;
            find(&element, first, inverse, row, &found);
#pragma omp simd
            for (int c = 0; c < AIS_LANES; c++) {
                double value = row[c], s = found.height[c] / found.width[c];
                landing at = land(inverse, bound, value, found.x[c], found.width[c], found.y[c], found.height[c], s,
                                  found.slope[0][c], found.slope[1][c]);
                row[c] = at.image;
                kept[c] = inverse ? at.image : value;
                det[c] += inverse ? log(at.down / at.up) : log(at.up / at.down);
            }
        }
    }
}

void AIS_ISA(ais_spline_map)(const ais_layer_call *call, bool inverse, double *z, double *x, double *log_det) {
    if (inverse)
        map(call, true, z, x, log_det);
    else
        map(call, false, z, x, log_det);
}

/* ---- parameters that all lanes share ------------------------------------------------------------ */

enum {
    AT_ONCE = AIS_LANES,
    FACTORS = 8
}; /* coordinates; derivatives in one product, each between 1e-9 and 1e9 or so */

/* The knots of AT_ONCE coordinates, which are the lanes here: bins + 1 of them. */
typedef struct knots {
    double x[AIS_MAX_BINS + 1][AT_ONCE], y[AIS_MAX_BINS + 1][AT_ONCE], slope[AIS_MAX_BINS + 1][AT_ONCE];
} knots;

static void set_knots(const ais_layer_call *call, int first, knots *set) {
    int bins = call->bins, params = ais_spline_params(bins), left = call->mapped - first;
    int count = left < AT_ONCE ? left : AT_ONCE;
    ais_real p[3 * AIS_MAX_BINS][AT_ONCE], wide[AIS_MAX_BINS][AIS_LANES], high[AIS_MAX_BINS][AIS_LANES];
    double span = 2 * call->bound, least = least_width * span, rest = span - least * bins;
    for (int k = 0; k < params; k++)
        for (int j = 0; j < AT_ONCE; j++) p[k][j] = j < count ? call->p[(first + j) * params + k] : 0;
    softmax(bins, AT_ONCE, p[0], wide);
    softmax(bins, AT_ONCE, p[bins], high);
    for (int j = 0; j < AT_ONCE; j++) {
        set->x[0][j] = set->y[0][j] = -call->bound;
        set->slope[0][j] = set->slope[bins][j] = 1;
    }
    for (int k = 1; k < bins; k++)
#pragma omp simd
        for (int j = 0; j < AT_ONCE; j++) {
            set->x[k][j] = set->x[k - 1][j] + (least + rest * (double)wide[k - 1][j]);
            set->y[k][j] = set->y[k - 1][j] + (least + rest * (double)high[k - 1][j]);
            set->slope[k][j] = softplus((double)p[2 * bins + k - 1][j] + slope_shift) + least_slope;
        }
    for (int j = 0; j < AT_ONCE; j++) set->x[bins][j] = set->y[bins][j] = call->bound;
}

/* The bins of one coordinate, column by column. */
typedef struct table {
    double knot[AIS_MAX_BINS]; /* where a bin begins, on the side that is searched */
    double x[AIS_MAX_BINS], width[AIS_MAX_BINS], y[AIS_MAX_BINS], height[AIS_MAX_BINS], s[AIS_MAX_BINS];
    double slope[2][AIS_MAX_BINS];
} table;

static void set_table(const knots *set, int bins, int j, bool inverse, table *to) {
    for (int k = 0; k < bins; k++) {
        to->x[k] = set->x[k][j];
        to->y[k] = set->y[k][j];
        to->width[k] = set->x[k + 1][j] - set->x[k][j];
        to->height[k] = set->y[k + 1][j] - set->y[k][j];
        to->s[k] = to->height[k] / to->width[k];
        to->slope[0][k] = set->slope[k][j];
        to->slope[1][k] = set->slope[k + 1][j];
        to->knot[k] = inverse ? to->y[k] : to->x[k];
    }
}

enum { COLUMNS = sizeof(table) / sizeof(double[AIS_MAX_BINS]) };

/* chosen[q][c] = column q of the bin in which at[c] lies, c < AIS_LANES. */
INLINE void choose_bins(const table *bins_of, int bins, const double *at, double (*chosen)[AIS_LANES]) {
    const double(*column)[AIS_MAX_BINS] = (const double(*)[AIS_MAX_BINS])bins_of;
    for (int c = 0; c < AIS_LANES; c += WIDTH) {
        vector value = load(at + c), found[COLUMNS];
#pragma GCC unroll 8
        for (int q = 1; q < COLUMNS; q++) found[q] = all(column[q][0]);
        for (int k = 1; k < bins; k++) {
            mask here = value >= column[0][k];
#pragma GCC unroll 8
            for (int q = 1; q < COLUMNS; q++) found[q] = pick(here, all(column[q][k]), found[q]);
        }
#pragma GCC unroll 8
        for (int q = 1; q < COLUMNS; q++) store(chosen[q] + c, found[q]);
    }
}

/* One coordinate in AIS_LANES lanes. */
INLINE void map_shared(const table *bins_of, int bins, bool inverse, double bound, double *row, double *kept,
                       double *up, double *down) {
    double chosen[COLUMNS][AIS_LANES];
    choose_bins(bins_of, bins, row, chosen);
#pragma omp simd
    for (int c = 0; c < AIS_LANES; c++) {
        double value = row[c];
        landing at = land(inverse, bound, value, chosen[1][c], chosen[2][c], chosen[3][c], chosen[4][c], chosen[5][c],
                          chosen[6][c], chosen[7][c]);
        row[c] = at.image;
        kept[c] = inverse ? at.image : value;
        up[c] *= at.up;
        down[c] *= at.down;
    }
}

INLINE void add_log(bool inverse, double *up, double *down, double *det) {
#pragma omp simd
    for (int c = 0; c < AIS_LANES; c++) {
        det[c] += inverse ? log(down[c] / up[c]) : log(up[c] / down[c]);
        up[c] = down[c] = 1;
    }
}

INLINE void marginal(const ais_layer_call *call, bool inverse, double *z, double *x, double *log_det) {
    knots set;
    table tables[FACTORS];
    size_t lanes = call->lanes;
    for (int m = 0; m < call->mapped; m += FACTORS) {
        int left = call->mapped - m, count = left < FACTORS ? left : FACTORS;
        if (m % AT_ONCE == 0) set_knots(call, m, &set);
        for (int j = 0; j < count; j++) set_table(&set, call->bins, m % AT_ONCE + j, inverse, &tables[j]);
        for (size_t first = 0; first < lanes; first += AIS_LANES) {
            double up[AIS_LANES], down[AIS_LANES];
            for (int c = 0; c < AIS_LANES; c++) up[c] = down[c] = 1;
            for (int j = 0; j < count; j++)
                map_shared(&tables[j], call->bins, inverse, call->bound, z + (size_t)call->index[m + j] * lanes + first,
                           x + (size_t)(m + j) * lanes + first, up, down);
            add_log(inverse, up, down, log_det + first);
        }
    }
}

void AIS_ISA(ais_marginal_map)(const ais_layer_call *call, bool inverse, double *z, double *x, double *log_det) {
    if (inverse)
        marginal(call, true, z, x, log_det);
    else
        marginal(call, false, z, x, log_det);
}

/* ---- backward ------------------------------------------------------------------------------------ */

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
