#include "fit/curve.h"

#include <math.h>
#include <string.h>

#include "map/feature_lanes.h"

enum { TURNS = 8, NEWTONS = 6, GUESSES = 8 };
static const double farthest = 3; /* of residuals that count by their squares; a normal density's are of size 1 */

/* Solves the symmetric A w = r of the first k features in place (w in r), A lightly weighted on its diagonal. */
static void solve(int k, double a[AIS_CURVE_FEATURES][AIS_CURVE_FEATURES], double r[AIS_CURVE_FEATURES]) {
    for (int i = 0; i < k; i++) a[i][i] += 1e-12 + 1e-9 * a[i][i];
    for (int i = 0; i < k; i++)
        for (int l = i + 1; l < k; l++) {
            double share = a[l][i] / a[i][i];
            for (int j = i; j < k; j++) a[l][j] -= share * a[i][j];
            r[l] -= share * r[i];
        }
    for (int i = k - 1; i >= 0; i--) {
        for (int j = i + 1; j < k; j++) r[i] -= a[i][j] * r[j];
        r[i] /= a[i][i];
    }
}

double ais_curve_dot(const double *w, const double *f) { return w[0] * f[0] + w[1] * f[1] + w[2] * f[2]; }

ais_latent ais_curve_at(const ais_curve_sample *of, const ais_curve *c, size_t i) {
    const double *f = of->f + i * AIS_CURVE_FEATURES;
    double scale = exp(fmax(fmin(ais_curve_dot(c->a, f), 300), -300));
    return (ais_latent){(of->x[i] + ais_curve_dot(c->b, f)) * scale, of->slope ? of->slope[i] / scale : 0, scale};
}

/* The shift with the least sum of (z + slope)^2. */
static void place(const ais_curve_sample *of, int k, ais_curve *c) {
    double matrix[AIS_CURVE_FEATURES][AIS_CURVE_FEATURES] = {{0}}, right[AIS_CURVE_FEATURES] = {0};
    for (size_t p = 0; p < of->n; p++) {
        ais_latent l = ais_curve_at(of, c, p);
        const double *f = of->f + p * AIS_CURVE_FEATURES;
        double weight = of->weight[p] * l.scale * l.scale;
        double x = of->x[p] + l.slope / l.scale;
        for (int i = 0; i < k; i++) {
            right[i] -= weight * x * f[i];
            for (int j = 0; j < k; j++) matrix[i][j] += weight * f[i] * f[j];
        }
    }
    solve(k, matrix, right);
    memcpy(c->b, right, sizeof right);
}

/* One step of Newton's method for the log scale; how far it went. The sums of slope^2 + z^2 (fisher; 2 slope z does not
 * depend on the scale) and of z^2 / 2 - a.f (likelihood) are convex in it. */
static double widen(const ais_curve_sample *of, int k, ais_curve *c) {
    double matrix[AIS_CURVE_FEATURES][AIS_CURVE_FEATURES] = {{0}}, right[AIS_CURVE_FEATURES] = {0}, far = 0;
    for (size_t p = 0; p < of->n; p++) {
        ais_latent l = ais_curve_at(of, c, p);
        const double *f = of->f + p * AIS_CURVE_FEATURES;
        double square = l.z * l.z, other = of->slope ? l.slope * l.slope : 1;
        double pull = of->weight[p] * (other - square);
        double bend = 2 * of->weight[p] * (of->slope ? square + other : square);
        for (int i = 0; i < k; i++) {
            right[i] += pull * f[i];
            for (int j = 0; j < k; j++) matrix[i][j] += bend * f[i] * f[j];
        }
    }
    solve(k, matrix, right);
    for (int i = 0; i < k; i++) {
        c->a[i] += fmax(-1, fmin(1, right[i]));
        far = fmax(far, fabs(right[i]));
    }
    return far;
}

/* Of r^2: r^2 for small r, linear in r beyond: points of tails that no parabola follows. */
double ais_curve_tame(double square) {
    return 2 * farthest * farthest * (sqrt(1 + square / (farthest * farthest)) - 1);
}

/* The mean of (z + slope)^2, tamed, or of -log q. Points get the weights that make least squares of it. */
static double value_of(const ais_curve_sample *of, const ais_curve *c) {
    double sum = 0, total = 0;
    for (size_t p = 0; p < of->n; p++) {
        ais_latent l = ais_curve_at(of, c, p);
        double square = (l.z + l.slope) * (l.z + l.slope);
        sum += of->given[p] * (of->slope ? ais_curve_tame(square)
                                         : 0.5 * l.z * l.z - ais_curve_dot(c->a, of->f + p * AIS_CURVE_FEATURES));
        total += of->given[p];
        of->weight[p] = of->slope ? of->given[p] / sqrt(1 + square / (farthest * farthest)) : of->given[p];
    }
    return sum / total;
}

/* What features leave of values, least squares. */
static void explain(const ais_curve_sample *of, int k, const double *value, double w[AIS_CURVE_FEATURES]) {
    double matrix[AIS_CURVE_FEATURES][AIS_CURVE_FEATURES] = {{0}}, right[AIS_CURVE_FEATURES] = {0};
    for (size_t p = 0; p < of->n; p++) {
        const double *f = of->f + p * AIS_CURVE_FEATURES;
        for (int i = 0; i < k; i++) {
            right[i] += of->given[p] * value[p] * f[i];
            for (int j = 0; j < k; j++) matrix[i][j] += of->given[p] * f[i] * f[j];
        }
    }
    solve(k, matrix, right);
    memcpy(w, right, sizeof right);
}

/* Where the fit begins with slopes. Of a normal density slope = -(x - place) / width^2: first one width for all, by
 * least squares of x on features and slope together; then log|slope / (x - place)| = -2 log width, a line through all
 * magnitudes, in turn with places. */
static void guess(const ais_curve_sample *of, int scale_terms, int place_terms, ais_curve *c) {
    double of_x[AIS_CURVE_FEATURES], of_slope[AIS_CURVE_FEATURES], covariance = 0, square = 0;
    explain(of, place_terms, of->x, of_x);
    explain(of, place_terms, of->slope, of_slope);
    for (size_t p = 0; p < of->n; p++) {
        const double *f = of->f + p * AIS_CURVE_FEATURES;
        double slope = of->slope[p] - ais_curve_dot(of_slope, f);
        covariance += of->given[p] * slope * (of->x[p] - ais_curve_dot(of_x, f));
        square += of->given[p] * slope * slope;
    }
    double variance = square > 0 && covariance < 0 ? -covariance / square : 1;
    c->a[0] = -0.5 * log(variance);
    value_of(of, c);
    place(of, place_terms, c);
    for (int k = 0; k < GUESSES; k++) {
        double matrix[AIS_CURVE_FEATURES][AIS_CURVE_FEATURES] = {{0}}, right[AIS_CURVE_FEATURES] = {0};
        for (size_t p = 0; p < of->n; p++) {
            const double *f = of->f + p * AIS_CURVE_FEATURES;
            double away = of->x[p] + ais_curve_dot(c->b, f), log_scale = 0.5 * log(fabs(of->slope[p] / away));
            if (!isfinite(log_scale)) continue;
            double weight =
                of->given[p] / (1 + fabs(log_scale - ais_curve_dot(c->a, f))); /* in the end about absolute values */
            for (int i = 0; i < scale_terms; i++) {
                right[i] += weight * log_scale * f[i];
                for (int j = 0; j < scale_terms; j++) matrix[i][j] += weight * f[i] * f[j];
            }
        }
        solve(scale_terms, matrix, right);
        memcpy(c->a, right, sizeof right);
        value_of(of, c);
        place(of, place_terms, c);
    }
}

/* From where c is. */
static double descend(const ais_curve_sample *of, int scale_terms, int place_terms, ais_curve *c) {
    double value = value_of(of, c), before;
    ais_curve last;
    int turn = 0;
    do {
        before = value;
        last = *c;
        for (int k = 0; k < NEWTONS && widen(of, scale_terms, c) > 1e-6; k++) {
        }
        place(of, place_terms, c);
        value = value_of(of, c);
    } while (value < before - 1e-4 * fabs(before) && ++turn < TURNS);
    if (!(value <= before)) {
        *c = last;
        value = value_of(of, c);
    }
    return value;
}

/* Fits with the given numbers of features for scale and shift; what is left. */
double ais_curve_fit(const ais_curve_sample *of, int scale_terms, int place_terms, ais_curve *c) {
    *c = (ais_curve){0};
    value_of(of, c);
    place(of, place_terms, c);
    double value = descend(of, scale_terms, place_terms, c);
    if (!of->slope) return value;
    ais_curve other = {0};
    guess(of, scale_terms, place_terms, &other);
    double second = descend(of, scale_terms, place_terms, &other);
    if (second < value) *c = other;
    return fmin(value, second);
}

/* Twice the negative log likelihood of the points, or what stands for it: residuals of unknown variance, of which less
 * than a thousandth is nothing. */
double ais_curve_cost(bool slopes, double n, double value) { return slopes ? n * log(value + 1e-6) : 2 * n * value; }

/* Constant, line or parabola, for scale and place: what Schwarz's criterion prefers. A term without need would do harm
 * where the points do not reach. */
double ais_curve_choose(const ais_curve_sample *of, ais_curve *best) {
    ais_curve whole;
    double kept = ais_curve_fit(of, AIS_CURVE_FEATURES, AIS_CURVE_FEATURES, &whole), penalty = log((double)of->n);
    double least = ais_curve_cost(of->slope, (double)of->n, kept) + 2 * AIS_CURVE_FEATURES * penalty;
    *best = whole;
    for (int i = 1; i <= AIS_CURVE_FEATURES; i++)
        for (int j = 1; j <= AIS_CURVE_FEATURES; j++) {
            ais_curve c = whole;
            for (int k = 0; k < AIS_CURVE_FEATURES; k++) {
                if (k >= i) c.a[k] = 0;
                if (k >= j) c.b[k] = 0;
            }
            double value = i + j < 2 * AIS_CURVE_FEATURES ? descend(of, i, j, &c) : INFINITY;
            double cost = ais_curve_cost(of->slope, (double)of->n, value) + (i + j) * penalty;
            if (!(cost < least)) continue;
            least = cost;
            kept = value;
            *best = c;
        }
    return kept;
}

void ais_curve_features(size_t n, const double *kept, double *f) {
    for (size_t c = 0; c < n; c++, f += AIS_CURVE_FEATURES) {
        f[0] = 1;
        f[1] = ais_linear_feature * kept[c];
        f[2] = ais_quadratic_feature * (kept[c] * kept[c] - 1);
    }
}
