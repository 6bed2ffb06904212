/* Rosenbrock's density in pairs (a, b): a ~ N(1, 10), b ~ N(a^2, 1/10). Mean and sd of a: 1, 10^(1/2); of b: 11,
 * (240.1)^(1/2). Normalised: log Z = 0. */
#include <math.h>

#include <aisampler/density.h>

static double value_of(const double *x, double *gradient) {
    double sum = -DIM * 0.91893853320467274178; /* the two widths' product is 1 */
    for (int i = 0; i < DIM; i += 2) {
        double away = x[i] - 1, off = x[i + 1] - x[i] * x[i];
        sum -= away * away / 20 + 5 * off * off;
        if (!gradient) continue;
        gradient[i] = -away / 10 + 20 * off * x[i];
        gradient[i + 1] = -10 * off;
    }
    return sum;
}

#include "both.h"

AIS_DENSITY = {AIS_DENSITY_HEAD, .dim = DIM, .logp = logp, .grad = GRADIENT, .start_scale = 3};
