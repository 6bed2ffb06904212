/* Many wells: pairs (a, b) of density exp(-a^4 + 6 a^2 + a / 2 - b^2 / 2), DIM / 2 of them: 2^(DIM / 2) modes. log Z is
 * DIM / 2 times that of a pair, 10.2935 (quadrature); P(a > 0) = .8440. */
#include <aisampler/density.h>

#include "../../metered.h"

static double grad(const double *x, double *gradient, void *data) {
    (void)data;
    double sum = 0;
    metered_gradient();
    for (int i = 0; i < DIM; i += 2) {
        double a = x[i], b = x[i + 1], square = a * a;
        sum += (6 - square) * square + 0.5 * a - 0.5 * b * b;
        gradient[i] = (12 - 4 * square) * a + 0.5;
        gradient[i + 1] = -b;
    }
    return sum;
}

static double logp(const double *x, void *data) {
    (void)data;
    double sum = 0;
    metered_density();
    for (int i = 0; i < DIM; i += 2) {
        double square = x[i] * x[i];
        sum += (6 - square) * square + 0.5 * x[i] - 0.5 * x[i + 1] * x[i + 1];
    }
    return sum;
}

AIS_DENSITY = {AIS_DENSITY_HEAD, .dim = DIM, .logp = logp, .grad = grad, .start_scale = 3};
