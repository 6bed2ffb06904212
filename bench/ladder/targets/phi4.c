/* The phi^4 theory on a periodic lattice of 8 x 8 in its broken phase: hopping parameter .3, coupling .022. Two phases,
 * of equal mass by symmetry. */
#include <aisampler/density.h>

#include "../../metered.h"

enum { SIDE = 8, DIM = SIDE * SIDE };
static const double hopping = 0.3, coupling = 0.022;

static double action(const double *x, double *slope) {
    double sum = 0;
    for (int r = 0; r < SIDE; r++)
        for (int c = 0; c < SIDE; c++) {
            double p = x[r * SIDE + c], square = p * p;
            double ahead = x[(r + 1) % SIDE * SIDE + c] + x[r * SIDE + (c + 1) % SIDE];
            double behind = x[(r + SIDE - 1) % SIDE * SIDE + c] + x[r * SIDE + (c + SIDE - 1) % SIDE];
            sum += -2 * hopping * p * ahead + (1 - 2 * coupling) * square + coupling * square * square;
            if (slope)
                slope[r * SIDE + c] =
                    2 * hopping * (ahead + behind) - 2 * (1 - 2 * coupling) * p - 4 * coupling * square * p;
        }
    return sum;
}

static double grad(const double *x, double *gradient, void *data) {
    (void)data;
    metered_gradient();
    return -action(x, gradient);
}

static double logp(const double *x, void *data) {
    (void)data;
    metered_density();
    return -action(x, NULL);
}

AIS_DENSITY = {AIS_DENSITY_HEAD, .dim = DIM, .logp = logp, .grad = grad, .start_scale = 3};
