/* The incomplete beta function by its continued fraction, with a prefactor that stays accurate for
 * parameters in the millions (an ESS of that size), where differences of log-gammas do not. */
#include <float.h>
#include <math.h>

#include "base/constants.h"
#include "base/special.h"

/* log Gamma(z) - ((z - 1/2) log z - z + log(2 pi) / 2). */
static double stirling_rest(double z) {
    double shift = 0;
    /* delta(z) = delta(z + 1) + (z + 1/2) log(1 + 1/z) - 1 */
    while (z < 16) {
        shift += (z + 0.5) * log1p(1 / z) - 1;
        z += 1;
    }
    double w = 1 / (z * z);
    return shift +
           (1.0 / 12 - w * (1.0 / 360 - w * (1.0 / 1260 - w * (1.0 / 1680 - w * (1.0 / 1188 - w * 691.0 / 360360))))) /
               z;
}

/* x^a (1 - x)^b / B(a, b). */
static double prefactor(double x, double a, double b) {
    /* a / (n x) and b / (n (1 - x)) are close to 1 where it matters: by their distance from it */
    double n = a + b, off = fma(-n, x, a);
    double distance = a * log1p(off / (n * x)) + b * log1p(-off / (n * (1 - x)));
    double rest = stirling_rest(n) - stirling_rest(a) - stirling_rest(b);
    return sqrt(a * b / (2 * AIS_PI * n)) * exp(rest - distance);
}

/* The continued fraction of I_x(a, b) a / prefactor by the modified Lentz method; it converges fast
 * for x < (a + 1) / (a + b + 2). */
static double fraction(double x, double a, double b) {
    const double tiny = 1e-300;
    double c = 1, d = 1 - (a + b) * x / (a + 1);
    d = 1 / (fabs(d) < tiny ? tiny : d);
    double value = d;
    for (int m = 1; m < 100000; m++) {
        double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
        double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
        double term[2] = {even, odd}, factor = 1;
        for (int i = 0; i < 2; i++) {
            d = 1 + term[i] * d;
            c = 1 + term[i] / c;
            d = 1 / (fabs(d) < tiny ? tiny : d);
            c = fabs(c) < tiny ? tiny : c;
            factor = c * d;
            value *= factor;
        }
        if (fabs(factor - 1) < DBL_EPSILON) break;
    }
    return value;
}

double ais_beta_cdf(double x, double a, double b) {
    if (!(a > 0 && b > 0) || isnan(x) || isinf(a) || isinf(b)) return NAN;
    if (x <= 0) return 0;
    if (x >= 1) return 1;
    if (x < (a + 1) / (a + b + 2)) return prefactor(x, a, b) * fraction(x, a, b) / a;
    return 1 - prefactor(x, a, b) * fraction(1 - x, b, a) / b;
}

double ais_beta_quantile(double p, double a, double b) {
    if (!(a > 0 && b > 0 && p >= 0 && p <= 1) || isinf(a) || isinf(b)) return NAN;
    if (p == 0 || p == 1) return p;
    double low = 0, high = 1, x = a / (a + b);
    for (int i = 0; i < 100; i++) { /* Newton, kept inside a bracket that shrinks */
        double error = ais_beta_cdf(x, a, b) - p;
        if (error > 0)
            high = x;
        else
            low = x;
        double density = prefactor(x, a, b) / (x * (1 - x));
        double next = x - error / density;
        if (!(next > low && next < high)) next = 0.5 * (low + high);
        if (fabs(next - x) <= 4 * DBL_EPSILON * x) return next;
        x = next;
    }
    return x;
}
