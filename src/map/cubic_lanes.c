/* Monotone cubic splines whose parameters a conditioner gives, each lane its own. Knots as the rational-quadratic ones
 * have them, from two softmaxes; the slope at an inner knot is
 *
 *     d = (least + steepest sigmoid(p)) min(s, s'),
 *
 * s and s' being the secants of the bins that it divides: then both cubics rise, whatever p is (Fritsch and Carlson
 * 1980 allow 3). At the bound the slope is 1, or as steep as the bin allows. In a bin with place t and slopes in units
 * of its secant, a at t = 0 and b at t = 1,
 *
 *     G(t) = a t + (3 - 2 a - b) t^2 + (a + b - 2) t^3.
 *
 * The inverse is Newton's, kept between two ends that close in on the root. */
#include "map/spline_bin.h"

static const double steepest = 2.9, flattest = 1e-3; /* 3 would let G' vanish within a bin */
static const double sigmoid_shift =
    -0.6433805638398755; /* p = 0 is the slope of the secants: flattest + 2.9 sigmoid = 1 */
enum { MOST_STEPS = 60 };

AIS_INLINE double sigmoid(double value) { return 1 / (1 + exp(-value)); }

/* The bin of each lane and its neighbours' secants over its own: 1 / s beyond the first and the last. */
typedef struct bin {
    double x[AIS_LANES], width[AIS_LANES], y[AIS_LANES], height[AIS_LANES];
    double ratio[2][AIS_LANES], share[2][AIS_LANES], slope[2][AIS_LANES]; /* slope = share min(ratio, 1) */
    int number[AIS_LANES];
} bin;

/* One lane: shares `wide` and `high` and numbers p are `lanes` apart. */
AIS_INLINE void find_one(const ais_element_call *call, const ais_real *wide, const ais_real *high, size_t apart,
                         const ais_real *p, bool by_height, double at, int c, bin *found) {
    int bins = call->bins, n = 0;
    double span = 2 * call->bound, least = least_width * span, rest = span - least * bins;
    double x = -call->bound, y = x;
    for (; n < bins - 1; n++) {
        double w = least + rest * (double)wide[(size_t)n * apart], h = least + rest * (double)high[(size_t)n * apart];
        if (at < (by_height ? y + h : x + w)) break;
        x += w;
        y += h;
    }
    bool last = n == bins - 1;
    double w = last ? call->bound - x : least + rest * (double)wide[(size_t)n * apart];
    double h = last ? call->bound - y : least + rest * (double)high[(size_t)n * apart];
    found->number[c] = n;
    found->x[c] = x;
    found->y[c] = y;
    found->width[c] = w;
    found->height[c] = h;
    for (int side = 0; side < 2; side++) {
        int other = side ? n + 1 : n - 1, knot = side ? n : n - 1; /* the inner knots have numbers p */
        bool end = other < 0 || other == bins;
        double secant = end ? 1
                            : (least + rest * (double)high[(size_t)other * apart]) /
                                  (least + rest * (double)wide[(size_t)other * apart]);
        found->ratio[side][c] = secant * w / h;
        found->share[side][c] =
            end ? 0 : flattest + steepest * sigmoid((double)p[(size_t)knot * call->lanes] + sigmoid_shift);
    }
}

AIS_INLINE void find(const ais_element_call *call, size_t first, const ais_real *wide, const ais_real *high,
                     bool by_height, const double *at, bin *found) {
    const ais_real *p = call->p + (size_t)(2 * call->bins) * call->lanes + first;
    for (int c = 0; c < AIS_LANES; c++)
        find_one(call, wide + c, high + c, call->lanes, p + c, by_height, at[c], c, found);
    for (int side = 0; side < 2; side++)
#pragma omp simd
        for (int c = 0; c < AIS_LANES; c++) {
            double ratio = found->ratio[side][c], share = found->share[side][c];
            double within = share * (ratio < 1 ? ratio : 1), end = ratio < steepest ? ratio : steepest;
            found->slope[side][c] = share > 0 ? within : end;
        }
}

AIS_INLINE double rise(double a, double b, double t) { return t * (a + t * (3 - 2 * a - b + t * (a + b - 2))); }
AIS_INLINE double steep(double a, double b, double t) { return a + t * (2 * (3 - 2 * a - b) + t * 3 * (a + b - 2)); }

/* Where G(t) = wanted, lane by lane: a lane that has arrived stays, whatever the others do. */
AIS_INLINE void solve(const bin *found, const double *wanted, double *place) {
    double low[AIS_LANES], high[AIS_LANES], moving[AIS_LANES];
    for (int c = 0; c < AIS_LANES; c++) {
        low[c] = 0;
        high[c] = moving[c] = 1;
        place[c] = wanted[c];
    }
    for (int step = 0; step < MOST_STEPS; step++) {
        double any = 0;
#pragma omp simd reduction(+ : any)
        for (int c = 0; c < AIS_LANES; c++) {
            double a = found->slope[0][c], b = found->slope[1][c], t = place[c], miss = rise(a, b, t) - wanted[c];
            double above = miss > 0 ? t : high[c], below = miss > 0 ? low[c] : t;
            double next = t - miss / steep(a, b, t), middle = 0.5 * (above + below);
            next = (next >= below) & (next <= above) ? next : middle;
            double far = next > t ? next - t : t - next;
            place[c] = moving[c] > 0 ? next : t;
            low[c] = below;
            high[c] = above;
            moving[c] = far > 2e-16 ? moving[c] : 0;
            any += moving[c];
        }
        if (any == 0) break;
    }
}

AIS_INLINE void map(const ais_layer_call *call, bool inverse, double *z, double *x, double *log_det) {
    bin found;
    double bound = call->bound;
    for (int m = 0; m < call->mapped; m++) {
        ais_element_call element = {.bins = call->bins, .bound = bound, .lanes = call->lanes};
        ais_real *knots = call->knots + (size_t)(m * ais_spline_params(call->bins)) * call->lanes;
        element.p = knots;
        for (size_t first = 0; first < call->lanes; first += AIS_LANES) {
            double *row = z + (size_t)call->index[m] * call->lanes + first, *det = log_det + first;
            double *kept = x + (size_t)m * call->lanes + first, place[AIS_LANES], inside[AIS_LANES];
            ais_real *wide = knots + first, *high = wide + (size_t)call->bins * call->lanes;
            softmax(call->bins, call->lanes, wide, call->lanes, wide);
            softmax(call->bins, call->lanes, high, call->lanes, high);
            find(&element, first, wide, high, inverse, row, &found);
#pragma omp simd
            for (int c = 0; c < AIS_LANES; c++) {
                double value = row[c] > -bound ? row[c] : -bound;
                inside[c] = value < bound ? value : bound;
                double t =
                    inverse ? (inside[c] - found.y[c]) / found.height[c] : (inside[c] - found.x[c]) / found.width[c];
                t = t > 0 ? t : 0;
                place[c] = t < 1 ? t : 1;
            }
            if (inverse) {
                double wanted[AIS_LANES];
                memcpy(wanted, place, sizeof wanted);
                solve(&found, wanted, place);
            }
#pragma omp simd
            for (int c = 0; c < AIS_LANES; c++) {
                double a = found.slope[0][c], b = found.slope[1][c], t = place[c], value = row[c];
                double slope = found.height[c] / found.width[c] * steep(a, b, t), beyond = value - inside[c];
                double at = inverse ? found.x[c] + found.width[c] * t : found.y[c] + found.height[c] * rise(a, b, t);
                double part = inverse ? -log(slope) : log(slope), image = at + beyond;
                row[c] = image;
                kept[c] = inverse ? image : value;
                det[c] += (value > -bound) & (value < bound) ? part : 0;
            }
        }
    }
}

void AIS_ISA(ais_cubic_map)(const ais_layer_call *call, bool inverse, double *z, double *x, double *log_det) {
    if (inverse)
        map(call, true, z, x, log_det);
    else
        map(call, false, z, x, log_det);
}

/* By the corners of all bins below, and by the sizes of this bin and its neighbours. */
typedef struct pull {
    double below, size[3];
} pull;

/* Through the softmax of one lane. */
AIS_INLINE void softmax_one(const ais_element_call *call, double scale, const ais_real *share, int number, pull by,
                            ais_real *gradient_p) {
    double mean = 0;
    for (int pass = 0; pass < 2; pass++)
        for (int k = 0; k < call->bins; k++) {
            double part = (double)share[(size_t)k * call->lanes], g = k < number ? by.below : 0;
            if (k >= number - 1 && k <= number + 1) g += by.size[k - number + 1];
            if (pass)
                gradient_p[(size_t)k * call->lanes] = (ais_real)(scale * part * (g - mean));
            else
                mean += part * g;
        }
}

/* element_lanes.h has the two directions. */
AIS_INLINE void backward(const ais_element_call *call, bool inverse, const double *x, const double *a, const double *b,
                         double *gradient, ais_real *gradient_p) {
    int bins = call->bins;
    size_t lanes = call->lanes;
    bin found;
    double bound = call->bound, span = 2 * bound, rest = span - least_width * span * bins;
    for (size_t first = 0; first < lanes; first += AIS_LANES) {
        const ais_real *wide = call->p + first, *high = wide + (size_t)bins * lanes;
        ais_real *to = gradient_p + first;
        find(call, first, wide, high, false, x + first, &found);
        for (int c = 0; c < AIS_LANES; c++) {
            double value = x[first + (size_t)c], up_a = a[first + (size_t)c], up_b = b[first + (size_t)c];
            double w = found.width[c], h = found.height[c], s = h / w, d0 = found.slope[0][c], d1 = found.slope[1][c];
            double t = (value - found.x[c]) / w;
            int n = found.number[c];
            bool inside = value > -bound && value < bound;
            t = t > 0 ? t < 1 ? t : 1 : 0;
            double g_t = steep(d0, d1, t), l_t = (2 * (3 - 2 * d0 - d1) + 6 * (d0 + d1 - 2) * t) / g_t;
            double ga = inverse ? -(up_a - up_b * l_t / w) / (s * g_t) : up_a, gb = inverse ? -up_b : up_b;
            double by_t = ga * h * g_t + gb * l_t;
            gradient[first + (size_t)c] = !inside ? up_a : inverse ? -ga : by_t / w;
            double on = inside ? 1 : 0;
            double by_slope[2] = {on * (ga * h * t * (1 - t) * (1 - t) + gb * (1 - t) * (1 - 3 * t) / g_t),
                                  on * (-ga * h * t * t * (1 - t) + gb * t * (3 * t - 2) / g_t)};
            pull by_x = {.below = -on * by_t / w, .size = {0, -on * (by_t * t + gb) / w, 0}};
            pull by_y = {.below = on * ga, .size = {0, on * (ga * rise(d0, d1, t) + gb / h), 0}};
            for (int k = 0; k < bins - 1; k++) to[(size_t)(2 * bins + k) * lanes + (size_t)c] = 0;
            for (int side = 0; side < 2; side++) {
                double ratio = found.ratio[side][c], share = found.share[side][c];
                double by_log = by_slope[side] * found.slope[side][c]; /* of the ratio */
                int other = side ? n + 1 : n - 1, knot = side ? n : n - 1;
                if (share > 0) {
                    double q = (share - flattest) / steepest;
                    to[(size_t)(2 * bins + knot) * lanes + (size_t)c] =
                        (ais_real)(by_slope[side] * (ratio < 1 ? ratio : 1) * steepest * q * (1 - q));
                }
                if (!(ratio < (share > 0 ? 1 : steepest))) continue;
                by_y.size[1] -= by_log / h;
                by_x.size[1] += by_log / w;
                if (!(share > 0)) continue;
                double least = least_width * span;
                by_y.size[2 * side] += by_log / (least + rest * (double)high[(size_t)other * lanes + (size_t)c]);
                by_x.size[2 * side] -= by_log / (least + rest * (double)wide[(size_t)other * lanes + (size_t)c]);
            }
            softmax_one(call, rest, wide + c, n, by_x, to + c);
            softmax_one(call, rest, high + c, n, by_y, to + (size_t)bins * lanes + c);
        }
    }
}

void AIS_ISA(ais_cubic_backward)(const ais_element_call *call, bool inverse, const double *x, const double *a,
                                 const double *b, double *gradient, ais_real *gradient_p) {
    if (inverse)
        backward(call, true, x, a, b, gradient, gradient_p);
    else
        backward(call, false, x, a, b, gradient, gradient_p);
}
