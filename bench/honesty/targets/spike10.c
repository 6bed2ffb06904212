/* Spike and slab, d = 10: normals of variance .08 about (6, 6, 0, ...) and of variance .8 about (2.5, 2.5, 0, ...),
 * equal masses. Normalised: log Z = 0. The spike has 10^-5 of the slab's volume. */
#include <aisampler/density.h>
#include <math.h>

#include "../../metered.h"

enum { DIM = 10 };
static const double place[2] = {6, 2.5}, variance[2] = {0.08, 0.8};

static double value(const double *x, double *gradient) {
    double part[2], top, share[2];
    for (int k = 0; k < 2; k++) {
        part[k] = log(0.5) - 0.5 * DIM * log(2 * M_PI * variance[k]);
        for (int i = 0; i < DIM; i++) {
            double away = x[i] - (i < 2 ? place[k] : 0);
            part[k] -= 0.5 * away * away / variance[k];
        }
    }
    top = fmax(part[0], part[1]);
    double sum = exp(part[0] - top) + exp(part[1] - top);
    for (int k = 0; k < 2; k++) share[k] = exp(part[k] - top) / sum;
    for (int i = 0; gradient && i < DIM; i++) {
        gradient[i] = 0;
        for (int k = 0; k < 2; k++) gradient[i] -= share[k] * (x[i] - (i < 2 ? place[k] : 0)) / variance[k];
    }
    return top + log(sum);
}

static double logp(const double *x, void *data) {
    (void)data;
    metered_density();
    return value(x, NULL);
}

static double grad(const double *x, double *gradient, void *data) {
    (void)data;
    metered_gradient();
    return value(x, gradient);
}

AIS_DENSITY = {AIS_DENSITY_HEAD, .dim = DIM, .logp = logp, .grad = grad, .start_scale = 5};
