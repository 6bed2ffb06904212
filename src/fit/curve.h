/* Place and width of one coordinate as curves of another: x is mapped to z = (x + b.f) exp(a.f), f being a constant, a
 * line and a parabola of the one kept. The fit is to slopes of log p (math.md (34)), or without them to the likelihood
 * of points that follow p: least squares in b, convex in a; in turn. */
#ifndef AIS_FIT_CURVE_H
#define AIS_FIT_CURVE_H

#include <stdbool.h>
#include <stddef.h>

enum { AIS_CURVE_FEATURES = 3 };

/* n points of one coordinate, the kept one's features beside. */
typedef struct ais_curve_sample {
    size_t n;
    const double *f;     /* n x FEATURES */
    const double *x;     /* n */
    const double *slope; /* n: of log p by it; or NULL */
    const double *given; /* n: weights */
    double *weight;      /* n: the same, less where much is left (with slopes) */
} ais_curve_sample;

typedef struct ais_curve {
    double a[AIS_CURVE_FEATURES], b[AIS_CURVE_FEATURES]; /* of log scale and shift */
} ais_curve;

/* A point in latent units: z, and the slope of log p by it, without that of the volume. */
typedef struct ais_latent {
    double z, slope, scale;
} ais_latent;

ais_latent ais_curve_at(const ais_curve_sample *of, const ais_curve *c, size_t point);

/* a.f or b.f. */
double ais_curve_dot(const double *w, const double *f);

/* f of n values of the kept coordinate, as quadratic conditioners have it. */
void ais_curve_features(size_t n, const double *kept, double *f);

/* Fits with the given numbers of features for scale and shift; the mean of (z + slope)^2, tamed, or of -log q. */
double ais_curve_fit(const ais_curve_sample *of, int scale_terms, int place_terms, ais_curve *c);

/* As many features as Schwarz's criterion prefers. */
double ais_curve_choose(const ais_curve_sample *of, ais_curve *best);

/* r^2 for small r, linear in r beyond. */
double ais_curve_tame(double square);

/* Twice the negative log likelihood of n points that leave such a mean, or what stands for it. */
double ais_curve_cost(bool slopes, double n, double value);

#endif
