/* shells.h: two Gaussian shells in SHELLS_DIM dimensions, radius 2, width .1, centres at -3.5 and 3.5 on the first
 * axis, in
 * [-6, 6]^d (Feroz, Hobson and Bridges, MNRAS 398, 2009). The mass of a shell is the surface of a unit sphere times
 * int r^(d-1) N(r; 2, .1) dr; equal shares. log Z = 3.2242 in d = 2 and
 * 10.2586 in d = 10 (with the prior counted: -1.7456, -14.5905). */
#include "box.h"

static double shell(const double *x, double centre) {
    double square = (x[0] - centre) * (x[0] - centre);
    for (int i = 1; i < SHELLS_DIM; i++) square += x[i] * x[i];
    double off = (sqrt(square) - 2) / 0.1;
    return -0.5 * off * off - log(0.1 * sqrt(2 * M_PI));
}

static double logp(const double *x, void *data) {
    (void)data;
    metered_density();
    if (!in_box(x, SHELLS_DIM, -6, 6)) return -INFINITY;
    double left = shell(x, -3.5), right = shell(x, 3.5);
    return fmax(left, right) + log1p(exp(-fabs(left - right)));
}

AIS_DENSITY = {AIS_DENSITY_HEAD, .dim = SHELLS_DIM, .logp = logp, .start_scale = 6};
