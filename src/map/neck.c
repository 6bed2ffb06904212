#include "map/neck.h"

#include <math.h>
#include <string.h>

static const double least = 1e-6;      /* of widths, heights and slopes of the warp, so that it rises */
static const double farthest = 300;    /* of the exponent */
static const double thinnest = 1e-100; /* precision */

/* ---- the warp ---------------------------------------------------------------------------------- */

typedef struct warp {
    int bins;
    double x, y; /* of the first knot */
    const ais_real *bin, *slope;
} warp;

/* The bin of a point: its corner, sizes and the slopes at its ends. */
typedef struct bin {
    double x, y, width, height, first, last;
    int outside; /* -1: before all of them, 1: behind */
} bin;

static double positive(ais_real value) { return fabs((double)value) + least; }

static warp warp_of(int dim, int bins, const ais_real *weights) {
    const ais_real *at = weights + ais_neck_warp_at(dim);
    return (warp){bins, (double)at[0], (double)at[1], at + 2, at + 2 + 2 * bins};
}

static bin find(const warp *of, bool inverse, double value) {
    bin b = {.x = of->x, .y = of->y, .first = positive(of->slope[0])};
    if (value < (inverse ? b.y : b.x)) {
        b.outside = -1;
        return b;
    }
    for (int k = 0; k < of->bins; k++) {
        b.width = positive(of->bin[2 * k]);
        b.height = positive(of->bin[2 * k + 1]);
        b.last = positive(of->slope[k + 1]);
        if (value < (inverse ? b.y + b.height : b.x + b.width)) return b;
        b.x += b.width;
        b.y += b.height;
        b.first = b.last;
    }
    b.outside = 1;
    return b;
}

/* Where a point is mapped to, the derivative there, and that of its logarithm. */
typedef struct landing {
    double image, slope, bend;
} landing;

static landing forward(const warp *of, double value) {
    bin b = find(of, false, value);
    if (b.outside || isnan(value)) return (landing){b.y + b.first * (value - b.x), b.first, 0};
    double t = (value - b.x) / b.width, s = b.height / b.width, bend = b.first + b.last - 2 * s, q = t * (1 - t);
    double up = b.last * t * t + 2 * s * q + b.first * (1 - t) * (1 - t), below = s + bend * q;
    double rise = (2 * b.last * t + 2 * s * (1 - 2 * t) - 2 * b.first * (1 - t)) / up - 2 * bend * (1 - 2 * t) / below;
    return (landing){b.y + b.height * (s * t * t + b.first * q) / below, s * s * up / (below * below), rise / b.width};
}

static double backward(const warp *of, double value) {
    bin b = find(of, true, value);
    if (b.outside || isnan(value)) return b.x + (value - b.y) / b.first;
    double s = b.height / b.width, bend = b.first + b.last - 2 * s, rise = value - b.y;
    double qa = b.height * (s - b.first) + rise * bend, qb = b.height * b.first - rise * bend, qc = -s * rise;
    double t = 2 * qc / (-qb - sqrt(fmax(qb * qb - 4 * qa * qc, 0)));
    return b.x + b.width * fmin(fmax(t, 0), 1);
}

/* ---- the layer --------------------------------------------------------------------------------- */

/* s and its derivative by v. */
static double strength(double rate, double v, double *slope) {
    double exponent = -2 * rate * v, s = exp(fmin(fmax(exponent, -farthest), farthest));
    *slope = fabs(exponent) < farthest ? -2 * rate * s : 0;
    return s;
}

/* A coordinate given v: precision and mean, and their derivatives by v. */
typedef struct given {
    double p, m, p_slope, m_slope;
} given;

static given coordinate(const ais_real *w, double s, double s_slope) {
    double a = fabs((double)w[0]), b = fabs((double)w[1]), c = (double)w[2], d = (double)w[3], p = a + b * s;
    given at = {.p = fmax(p, thinnest), .p_slope = p > thinnest ? b * s_slope : 0};
    at.m = (c + d * s) / at.p;
    at.m_slope = (d * s_slope - at.m * at.p_slope) / at.p;
    return at;
}

void ais_neck_clear(int dim, int bins, ais_real *weights) {
    ais_real *at = weights + ais_neck_warp_at(dim);
    memset(weights, 0, ais_neck_weights(dim, bins) * sizeof *weights);
    for (int i = 0; i < dim - 1; i++) weights[1 + AIS_NECK_NUMBERS * i] = 1;
    at[0] = at[1] = (ais_real)(-0.5 * bins);
    for (int k = 2; k < 3 + 3 * bins; k++) at[k] = 1;
}

void ais_neck_map(int dim, int bins, const ais_real *weights, size_t lanes, bool inverse, double *z, double *x,
                  double *log_det) {
    const warp of = warp_of(dim, bins, weights);
    double *last = z + (size_t)(dim - 1) * lanes, *kept = x + (size_t)(dim - 1) * lanes;
    for (size_t c = 0; c < lanes; c++) {
        double s_slope, v = inverse ? backward(&of, last[c]) : last[c], sum = 0;
        const landing at = forward(&of, v);
        const double s = strength((double)weights[0], v, &s_slope);
        for (int i = 0; i < dim - 1; i++) {
            const given g = coordinate(weights + 1 + AIS_NECK_NUMBERS * i, s, s_slope);
            double *place = z + (size_t)i * lanes + c, root = sqrt(g.p), value = *place;
            *place = inverse ? g.m + value / root : (value - g.m) * root;
            x[(size_t)i * lanes + c] = inverse ? *place : value;
            sum += log(g.p);
        }
        sum = 0.5 * sum + log(at.slope);
        log_det[c] += inverse ? -sum : sum;
        kept[c] = v;
        last[c] = inverse ? v : at.image;
    }
}

void ais_neck_backward(int dim, int bins, const ais_real *weights, size_t lanes, bool inverse, const double *x,
                       double *gradient, const double *gradient_det) {
    const warp of = warp_of(dim, bins, weights);
    for (size_t c = 0; c < lanes; c++) {
        const double v = x[(size_t)(dim - 1) * lanes + c], by_det = inverse ? -gradient_det[c] : gradient_det[c];
        double s_slope, *last = gradient + (size_t)(dim - 1) * lanes + c;
        const landing at = forward(&of, v);
        const double s = strength((double)weights[0], v, &s_slope);
        double sum = by_det * at.bend + (inverse ? *last : *last * at.slope);
        for (int i = 0; i < dim - 1; i++) {
            const given g = coordinate(weights + 1 + AIS_NECK_NUMBERS * i, s, s_slope);
            double *by = gradient + (size_t)i * lanes + c, root = sqrt(g.p), wider = 0.5 * g.p_slope / g.p;
            double moved = (x[(size_t)i * lanes + c] - g.m) * wider - g.m_slope; /* of the image, in units of root */
            sum += by_det * wider + (inverse ? -*by * moved : *by * root * moved);
            *by = inverse ? *by / root : *by * root;
        }
        *last = inverse ? sum / at.slope : sum;
    }
}
