/* Six normals of sd .5 on a circle of radius 5, equal shares; the built-in mog6 without its gradient, in [-10, 10]^2.
 * log Z = log(2 pi / 4) = 0.4515827; what lies outside the box is below 1e-22. Shares: 1/6 for each sixth of the
 * circle. */
#include "box.h"

static double logp(const double *x, void *data) {
    (void)data;
    metered_density();
    if (!in_box(x, 2, -10, 10)) return -INFINITY;
    double least = INFINITY, square[6], sum = 0;
    for (int k = 0; k < 6; k++) {
        double a = x[0] - 5 * cos(k * M_PI / 3), b = x[1] - 5 * sin(k * M_PI / 3);
        square[k] = a * a + b * b;
        least = fmin(least, square[k]);
    }
    for (int k = 0; k < 6; k++) sum += exp(-2 * (square[k] - least));
    return -2 * least + log(sum / 6);
}

AIS_DENSITY = {AIS_DENSITY_HEAD, .dim = 2, .logp = logp, .start_scale = 10};
