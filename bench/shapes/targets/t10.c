/* Student's t with 3 degrees of freedom in ten dimensions, scale 1. Mean 0, sd 3^(1/2) of every coordinate, whose own
 * density is Student's too. Normalised: log Z = 0. */
#include <math.h>

#include <aisampler/density.h>

#include "../../metered.h"

enum { DIM = 10, FREEDOM = 3 };

static double logp(const double *x, void *data) {
    (void)data;
    double square = 0;
    metered_density();
    for (int i = 0; i < DIM; i++) square += x[i] * x[i];
    double whole = lgamma((FREEDOM + DIM) / 2.0) - lgamma(FREEDOM / 2.0) - DIM / 2.0 * log(FREEDOM * M_PI);
    return whole - (FREEDOM + DIM) / 2.0 * log1p(square / FREEDOM);
}

AIS_DENSITY = {AIS_DENSITY_HEAD, .dim = DIM, .logp = logp};
