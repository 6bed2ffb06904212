/* The incomplete gamma function on the log scale: by its series below the mean, by a continued fraction above. */
#include <float.h>
#include <math.h>

#include "base/special.h"

double ais_log_gamma(double z) {
    int sign;
    return lgamma_r(z, &sign); /* lgamma writes to a global */
}

/* log of sum over k of x^k / ((a + 1) ... (a + k)). */
static double series(double a, double x) {
    double term = 1, sum = 1;
    for (int k = 1; k < 100000 && term > sum * DBL_EPSILON; k++) {
        term *= x / (a + k);
        sum += term;
    }
    return log(sum);
}

/* log of Q(a, x) Gamma(a) / (x^a exp(-x)), by the modified Lentz method. */
static double fraction(double a, double x) {
    const double tiny = 1e-300;
    double b = x + 1 - a, c = 1 / tiny, d = 1 / b, value = d;
    for (int k = 1; k < 100000; k++) {
        double an = -k * (k - a);
        b += 2;
        d = an * d + b;
        c = b + an / c;
        d = 1 / (fabs(d) < tiny ? tiny : d);
        c = fabs(c) < tiny ? tiny : c;
        value *= c * d;
        if (fabs(c * d - 1) < DBL_EPSILON) break;
    }
    return log(value);
}

void ais_gamma_tails(double x, double shape, double *log_below, double *log_above) {
    double scale = shape * log(x) - x - ais_log_gamma(shape);
    if (x < shape + 1) {
        *log_below = fmin(scale - log(shape) + series(shape, x), 0);
        *log_above = log1p(-exp(*log_below));
    } else {
        *log_above = fmin(scale + fraction(shape, x), 0);
        *log_below = log1p(-exp(*log_above));
    }
}
