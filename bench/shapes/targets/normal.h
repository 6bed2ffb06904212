/* A normal density of mean 0: independent with sd 1 (or, with CONDITION, variances log-spaced from 1 to CONDITION along
 * axes turned by reflections), or AR(1) with correlation CORRELATION and marginal sd 1. No gradient unless GRADIENT.
 * Normalised: log Z = 0. */
#include <math.h>

#include <aisampler/density.h>

#include "../../metered.h"

static const double half_log_two_pi = 0.91893853320467274178;

#if defined CORRELATION

static double value_of(const double *x, double *gradient) {
    const double r = CORRELATION, precision = 1 / (1 - r * r);
    double sum = -x[0] * x[0] / 2 - DIM * half_log_two_pi + (DIM - 1) * 0.5 * log(precision);
    if (gradient) gradient[0] = -x[0];
    for (int i = 1; i < DIM; i++) {
        double off = x[i] - r * x[i - 1];
        sum -= precision * off * off / 2;
        if (!gradient) continue;
        gradient[i - 1] += precision * r * off;
        gradient[i] = -precision * off;
    }
    return sum;
}

#elif defined CONDITION

/* Three reflections I - 2 u u', u = (1, 1, ..), (1, -1, ..) and (1, 2, .., DIM), mix all axes. */
static void turn(double *x) {
    for (int k = 0; k < 3; k++) {
        double dot = 0, square = 0;
        for (int i = 0; i < DIM; i++) {
            double u = k == 0 ? 1 : k == 1 ? 1 - 2 * (i % 2) : i + 1;
            dot += u * x[i];
            square += u * u;
        }
        for (int i = 0; i < DIM; i++) x[i] -= 2 * dot / square * (k == 0 ? 1 : k == 1 ? 1 - 2 * (i % 2) : i + 1);
    }
}

static double value_of(const double *x, double *gradient) {
    double y[DIM], sum = -DIM * half_log_two_pi;
    (void)gradient;
    for (int i = 0; i < DIM; i++) y[i] = x[i];
    turn(y);
    for (int i = 0; i < DIM; i++) {
        double log_variance = log(CONDITION) * i / (DIM - 1);
        sum -= 0.5 * (y[i] * y[i] * exp(-log_variance) + log_variance);
    }
    return sum;
}

#else

static double value_of(const double *x, double *gradient) {
    double sum = -DIM * half_log_two_pi;
    for (int i = 0; i < DIM; i++) {
        sum -= x[i] * x[i] / 2;
        if (gradient) gradient[i] = -x[i];
    }
    return sum;
}

#endif

static double logp(const double *x, void *data) {
    (void)data;
    metered_density();
    return value_of(x, NULL);
}

#ifdef GRADIENT
static double grad(const double *x, double *gradient, void *data) {
    (void)data;
    metered_gradient();
    return value_of(x, gradient);
}
AIS_DENSITY = {AIS_DENSITY_HEAD, .dim = DIM, .logp = logp, .grad = grad};
#else
AIS_DENSITY = {AIS_DENSITY_HEAD, .dim = DIM, .logp = logp};
#endif
