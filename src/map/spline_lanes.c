/* Splines whose parameters a conditioner gives, each lane its own: math.md (8) and (10). */
#include "map/spline_bin.h"

/* The bin of each lane: its corner, size, slopes at both ends, and its number. */
typedef struct bin {
    double x[AIS_LANES], width[AIS_LANES], y[AIS_LANES], height[AIS_LANES], slope[2][AIS_LANES];
    double raw_slope[2][AIS_LANES]; /* before softplus; the outermost slopes are fixed at 1 */
    int number[AIS_LANES];
    const ais_real *wide, *high; /* the softmaxes, bins rows of lanes, */
    size_t apart;                /* this far apart */
} bin;

/* The bins of AIS_WORDS lanes from lane c on, without the slopes' softplus. */
AIS_INLINE void find_some(const ais_element_call *call, const ais_real *slope, bool by_height, const double *at, int c,
                          bin *found) {
    int bins = call->bins;
    double span = 2 * call->bound, least = least_width * span, rest = span - least * bins;
    ais_doubles value = ais_load(at + c), x = ais_spread_double(-call->bound), y = x, at_x = x, at_y = y,
                number = ais_spread_double(0);
    ais_doubles width = least + rest * load_reals(found->wide + c), at_width = width;
    ais_doubles height = least + rest * load_reals(found->high + c), at_height = height;
    ais_doubles left = ais_spread_double(0), right = slope_shift + load_reals(slope), at_left = left, at_right = right;
    for (int k = 1; k < bins; k++) { /* the last one that begins below the value stays */
        x += width;
        y += height;
        width = least + rest * load_reals(found->wide + (size_t)k * found->apart + c);
        height = least + rest * load_reals(found->high + (size_t)k * found->apart + c);
        left = right;
        if (k < bins - 1) right = slope_shift + load_reals(slope + (size_t)k * call->lanes);
        ais_longs here = value >= (by_height ? y : x);
        at_x = ais_pick(here, x, at_x);
        at_y = ais_pick(here, y, at_y);
        at_width = ais_pick(here, width, at_width);
        at_height = ais_pick(here, height, at_height);
        at_left = ais_pick(here, left, at_left);
        at_right = ais_pick(here, right, at_right);
        number = ais_pick(here, ais_spread_double(k), number);
    }
    ais_store(found->x + c, at_x);
    ais_store(found->y + c, at_y);
    ais_store(found->width + c, at_width);
    ais_store(found->height + c, at_height);
    ais_store(found->raw_slope[0] + c, at_left);
    ais_store(found->raw_slope[1] + c, at_right);
    for (int j = 0; j < AIS_WORDS; j++) found->number[c + j] = (int)number[j];
}

/* Finds the bin in which `at` lies, by its x side or (by_height) its y side, the softmaxes being known. Points outside
 * get the first or last bin, and the caller passes them through. */
AIS_INLINE void find(const ais_element_call *call, size_t first, bool by_height, const double *at, bin *found) {
    int bins = call->bins;
    size_t lanes = call->lanes;
    const ais_real *p = call->p + first;
    for (int c = 0; c < AIS_LANES; c += AIS_WORDS)
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

/* `inverse` is a constant after inlining: a choice known only at run time would not vectorise. */
AIS_INLINE void map(const ais_layer_call *call, bool inverse, double *z, double *x, double *log_det) {
    bin found = {.apart = call->lanes};
    double bound = call->bound;
    for (int m = 0; m < call->mapped; m++) {
        ais_element_call element = {.bins = call->bins, .bound = bound, .lanes = call->lanes};
        ais_real *knots = call->knots + (size_t)(m * ais_spline_params(call->bins)) * call->lanes;
        element.p = knots;
        for (size_t first = 0; first < call->lanes; first += AIS_LANES) {
            double *row = z + (size_t)call->index[m] * call->lanes + first, *det = log_det + first;
            double *kept = x + (size_t)m * call->lanes + first;
            ais_real *wide = knots + first, *high = wide + (size_t)call->bins * call->lanes;
            softmax(call->bins, call->lanes, wide, call->lanes, wide);
            softmax(call->bins, call->lanes, high, call->lanes, high);
            found.wide = wide;
            found.high = high;
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

/* An integer as wide as network arithmetic: both then fill the same vectors. */
#ifdef AIS_REAL_IS_DOUBLE
typedef int64_t whole;
#else
typedef int32_t whole;
#endif

/* From the gradient by widths below the bin, at the bin and above it to the gradient by p, through
 * the softmax: dL/dp_k = rest share_k (g_k - sum_j share_j g_j). */
AIS_INLINE void softmax_backward(int bins, size_t lanes, double rest, const ais_real *share, size_t apart,
                                 const int *number, const double *below, const double *at, ais_real *gradient_p) {
    ais_real under[AIS_LANES], here[AIS_LANES], mean[AIS_LANES] = {0};
    whole place[AIS_LANES];
    for (int c = 0; c < AIS_LANES; c++) {
        under[c] = (ais_real)(rest * below[c]);
        here[c] = (ais_real)(rest * at[c]);
        place[c] = number[c];
    }
    for (whole k = 0; k < bins; k++)
#pragma omp simd
        for (int c = 0; c < AIS_LANES; c++) {
            ais_real g = k < place[c] ? under[c] : k == place[c] ? here[c] : 0;
            mean[c] += share[(size_t)k * apart + (size_t)c] * g;
        }
    for (whole k = 0; k < bins; k++)
#pragma omp simd
        for (int c = 0; c < AIS_LANES; c++) {
            ais_real g = k < place[c] ? under[c] : k == place[c] ? here[c] : 0;
            gradient_p[(size_t)k * lanes + (size_t)c] = share[(size_t)k * apart + (size_t)c] * (g - mean[c]);
        }
}

/* The slopes at both ends of the bin are the only ones that matter. */
AIS_INLINE void slope_backward(int bins, size_t lanes, const int *number, const double *left, const double *right,
                               ais_real *gradient_p) {
    ais_real first[AIS_LANES], second[AIS_LANES];
    whole place[AIS_LANES];
    for (int c = 0; c < AIS_LANES; c++) {
        first[c] = (ais_real)left[c];
        second[c] = (ais_real)right[c];
        place[c] = number[c];
    }
    for (whole k = 0; k < bins - 1; k++)
#pragma omp simd
        for (int c = 0; c < AIS_LANES; c++)
            gradient_p[(size_t)k * lanes + (size_t)c] = k + 1 == place[c] ? first[c] : k == place[c] ? second[c] : 0;
}

AIS_INLINE void backward(const ais_element_call *call, bool inverse, const double *x, const double *a, const double *b,
                         double *gradient, ais_real *gradient_p) {
    int bins = call->bins;
    size_t lanes = call->lanes;
    ais_real wide[AIS_MAX_BINS * AIS_LANES], high[AIS_MAX_BINS * AIS_LANES]; /* if shared */
    bin found = {.wide = wide, .high = high, .apart = AIS_LANES};
    if (call->shared) {
        softmax(bins, lanes, call->p, AIS_LANES, wide);
        softmax(bins, lanes, call->p + (size_t)bins * lanes, AIS_LANES, high);
    }
    double bound = call->bound, span = 2 * bound, rest = span - least_width * span * bins;
    for (size_t first = 0; first < lanes; first += AIS_LANES) {
        double g_x[AIS_LANES], g_width[AIS_LANES], g_y[AIS_LANES], g_height[AIS_LANES], g_slope[2][AIS_LANES];
        const double *at = x + first, *a_block = a + first, *b_block = b + first;
        double *gradient_block = gradient + first;
        if (!call->shared) {
            found.wide = call->p + first;
            found.high = found.wide + (size_t)bins * lanes;
            found.apart = lanes;
        }
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
        if (!gradient_p) continue;
        ais_real *to = gradient_p + first;
        softmax_backward(bins, lanes, rest, found.wide, found.apart, found.number, g_x, g_width, to);
        softmax_backward(bins, lanes, rest, found.high, found.apart, found.number, g_y, g_height,
                         to + (size_t)bins * lanes);
        slope_backward(bins, lanes, found.number, g_slope[0], g_slope[1], to + (size_t)(2 * bins) * lanes);
    }
}

void AIS_ISA(ais_spline_backward)(const ais_element_call *call, bool inverse, const double *x, const double *a,
                                  const double *b, double *gradient, ais_real *gradient_p) {
    if (inverse)
        backward(call, true, x, a, b, gradient, gradient_p);
    else
        backward(call, false, x, a, b, gradient, gradient_p);
}
