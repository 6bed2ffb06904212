#include "map/reference.h"

#include <math.h>
#include <string.h>

#include "map/lattice_lanes.h"

/* ---- Henon ------------------------------------------------------------------------------------- */

/* V: hidden layers act(W h + b), then W h + b. */
static void perceptron(const ais_perceptron *net, const ais_real *weights, const double *in, double *out) {
    double from[AIS_REFERENCE_MOST], to[AIS_REFERENCE_MOST] = {0};
    memcpy(from, in, (size_t)net->inputs * sizeof *from);
    for (int layer = 0, inputs = net->inputs; layer <= net->depth; layer++) {
        bool hidden = layer < net->depth;
        int outputs = hidden ? net->hidden : net->outputs;
        const ais_real *bias = weights + inputs * outputs;
        for (int o = 0; o < outputs; o++) {
            to[o] = (double)bias[o];
            for (int i = 0; i < inputs; i++) to[o] += (double)weights[o * inputs + i] * from[i];
            if (hidden) to[o] = net->tanh ? tanh(to[o]) : fmax(to[o], 0);
        }
        memcpy(from, to, sizeof from);
        weights = bias + outputs;
        inputs = outputs;
    }
    memcpy(out, from, (size_t)net->outputs * sizeof *out);
}

/* A lattice number is whole ticks, which layers change, and what is below them, which stays. */
static uint32_t ticks_of(double number) { return (uint32_t)(int32_t)floor(number / AIS_TICK); }
static double with_ticks(double number, uint32_t ticks) {
    return number + AIS_TICK * ((double)(int32_t)ticks - (double)(int32_t)ticks_of(number));
}
static uint32_t whole_ticks(double value) { return (uint32_t)(int32_t)trunc(value / AIS_TICK); }

void ais_reference_henon(const ais_henon *henon, const ais_real *weights, bool inverse, double *x, double *y) {
    uint32_t a[AIS_REFERENCE_MOST], b[AIS_REFERENCE_MOST];
    double at[AIS_REFERENCE_MOST], v[AIS_REFERENCE_MOST];
    for (int i = 0; i < henon->dim; i++) a[i] = ticks_of(x[i]), b[i] = ticks_of(y[i]);
    for (int turn = 0; turn < henon->layers; turn++) {
        int layer = inverse ? henon->layers - 1 - turn : turn;
        const ais_real *own = weights + (size_t)layer * henon->layer_weights;
        const ais_real *eta = own + henon->layer_weights - henon->dim;
        /* (a, b) -> (b + eta, V(b) - a), or back, (a, b) -> (V(a - eta) - b, a - eta) */
        for (int i = 0; inverse && i < henon->dim; i++) a[i] -= whole_ticks((double)eta[i]);
        for (int i = 0; i < henon->dim; i++) at[i] = AIS_TICK * (double)(int32_t)(inverse ? a : b)[i];
        perceptron(&henon->net, own, at, v);
        for (int i = 0; i < henon->dim; i++) {
            uint32_t first = inverse ? whole_ticks(v[i]) - b[i] : b[i] + whole_ticks((double)eta[i]);
            uint32_t second = inverse ? a[i] : whole_ticks(v[i]) - a[i];
            a[i] = first, b[i] = second;
        }
    }
    for (int i = 0; i < henon->dim; i++) x[i] = with_ticks(x[i], a[i]), y[i] = with_ticks(y[i], b[i]);
}

/* ---- splines ----------------------------------------------------------------------------------- */

static const double least = 1e-3; /* of a bin's width and height, as a share of the whole, and of slopes */

/* bins + 1 knots from -bound to bound: shares of the whole by a softmax. */
static void place_knots(int bins, double bound, const double *p, double *knot) {
    double sum = 0;
    for (int k = 0; k < bins; k++) sum += exp(p[k]);
    knot[0] = -bound;
    for (int k = 0; k < bins; k++) knot[k + 1] = knot[k] + 2 * bound * (least + (1 - least * bins) * exp(p[k]) / sum);
}

double ais_reference_spline(int bins, double bound, const double *p, bool inverse, double value, double *log_det) {
    double x[AIS_REFERENCE_MOST + 1], y[AIS_REFERENCE_MOST + 1], d[AIS_REFERENCE_MOST + 1];
    if (fabs(value) >= bound) return value;
    place_knots(bins, bound, p, x);
    place_knots(bins, bound, p + bins, y);
    const double zero = log(exp(1 - least) - 1); /* p = 0 is slope 1, as outside */
    for (int k = 0; k <= bins; k++) d[k] = k == 0 || k == bins ? 1 : least + log1p(exp(zero + p[2 * bins + k - 1]));
    int k = 0;
    while (k < bins - 1 && value >= (inverse ? y : x)[k + 1]) k++;
    double w = x[k + 1] - x[k], h = y[k + 1] - y[k], s = h / w, bend = d[k] + d[k + 1] - 2 * s, t;
    if (inverse) { /* y(t) = value is a quadratic in t */
        double rise = value - y[k], qa = h * (s - d[k]) + rise * bend, qb = h * d[k] - rise * bend, qc = -s * rise;
        t = 2 * qc / (-qb - sqrt(qb * qb - 4 * qa * qc));
    } else {
        t = (value - x[k]) / w;
    }
    double q = t * (1 - t), below = s + bend * q;
    double slope = s * s * (d[k + 1] * t * t + 2 * s * q + d[k] * (1 - t) * (1 - t)) / (below * below);
    *log_det += inverse ? -log(slope) : log(slope);
    return inverse ? x[k] + w * t : y[k] + h * (s * t * t + d[k] * q) / below;
}
