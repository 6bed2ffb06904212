/* Two normals of sd .5 in four dimensions, .7 of the mass at (3, 3, 3, 3) and .3 at the opposite point, in [-10, 10]^4.
 * Normalised: log Z = 0 (with the prior's density 20^-4 counted: -11.9829); what lies outside the box is below 1e-40.
 * The slow density of the benchmark with AIS_EVALUATION_MS=5. */
#include "box.h"

static double part(const double *x, double centre) {
    double square = 0;
    for (int i = 0; i < 4; i++) square += (x[i] - centre) * (x[i] - centre);
    return -2 * square - 2 * log(M_PI / 2);
}

static double logp(const double *x, void *data) {
    (void)data;
    metered_density();
    if (!in_box(x, 4, -10, 10)) return -INFINITY;
    double large = log(0.7) + part(x, 3), small = log(0.3) + part(x, -3);
    return fmax(large, small) + log1p(exp(-fabs(large - small)));
}

AIS_DENSITY = {AIS_DENSITY_HEAD, .dim = 4, .logp = logp, .start_scale = 10};
