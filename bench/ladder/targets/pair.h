/* Two normal modes of sd .5 at -1.5 and +1.5 on every axis, weights .7 and .3, normalised: log Z = 0. */
#include <math.h>

#include <aisampler/density.h>

#include "../../metered.h"

static double both(const double *x, double *right) {
    double low = 0, high = 0;
    for (int i = 0; i < DIM; i++) {
        low += (x[i] + 1.5) * (x[i] + 1.5);
        high += (x[i] - 1.5) * (x[i] - 1.5);
    }
    double a = log(0.7) - 2 * low, b = log(0.3) - 2 * high, top = a > b ? a : b;
    double sum = top + log(exp(a - top) + exp(b - top));
    *right = exp(b - sum);
    return sum - DIM * (log(0.5) + 0.91893853320467274178);
}

static double grad(const double *x, double *gradient, void *data) {
    (void)data;
    double right, value = both(x, &right);
    metered_gradient();
    for (int i = 0; i < DIM; i++) gradient[i] = -4 * (x[i] - 1.5 * (2 * right - 1));
    return value;
}

static double logp(const double *x, void *data) {
    (void)data;
    double right;
    metered_density();
    return both(x, &right);
}

AIS_DENSITY = {AIS_DENSITY_HEAD, .dim = DIM, .logp = logp, .grad = grad, .start_scale = 3};
