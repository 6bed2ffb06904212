/* Student's t with 3 degrees of freedom, d = 10, unit scale. Normalised: log Z = 0. No map that ends in a normal
 * reaches its tails. */
#include <aisampler/density.h>
#include <math.h>

#include "../../metered.h"

enum { DIM = 10, DEGREES = 3 };

static double value(double square) {
    double constant = lgamma((DEGREES + DIM) / 2.0) - lgamma(DEGREES / 2.0) - 0.5 * DIM * log(DEGREES * M_PI);
    return constant - 0.5 * (DEGREES + DIM) * log1p(square / DEGREES);
}

static double square_of(const double *x) {
    double square = 0;
    for (int i = 0; i < DIM; i++) square += x[i] * x[i];
    return square;
}

static double logp(const double *x, void *data) {
    (void)data;
    metered_density();
    return value(square_of(x));
}

static double grad(const double *x, double *gradient, void *data) {
    (void)data;
    metered_gradient();
    double square = square_of(x);
    for (int i = 0; i < DIM; i++) gradient[i] = -(DEGREES + DIM) * x[i] / (DEGREES + square);
    return value(square);
}

AIS_DENSITY = {AIS_DENSITY_HEAD, .dim = DIM, .logp = logp, .grad = grad};
