/* The eggbox, log L = (2 + cos(x/2) cos(y/2))^5 in [0, 10 pi]^2: 18 peaks, of which the edges leave 8 whole, 8 halves
 * and 2 quarters. log Z = 242.7506 by quadrature (with the prior counted: 235.8559). Shares: 1 : 1/2 : 1/4. */
#include "box.h"

static double logp(const double *x, void *data) {
    (void)data;
    metered_density();
    if (!in_box(x, 2, 0, 10 * M_PI)) return -INFINITY;
    double base = 2 + cos(x[0] / 2) * cos(x[1] / 2);
    return base * base * base * base * base;
}

AIS_DENSITY = {AIS_DENSITY_HEAD, .dim = 2, .logp = logp, .start_scale = 20};
