/* Neal's funnel: v ~ N(0, 9), then DIM - 1 coordinates ~ N(0, exp(v)). Normalised: log Z = 0. */
#include <math.h>

#include <aisampler/density.h>

static double value_of(const double *x, double *gradient) {
    double v = x[0], scale = exp(-v), square = 0;
    for (int i = 1; i < DIM; i++) square += x[i] * x[i];
    if (gradient) {
        gradient[0] = -v / 9 + (square * scale - (DIM - 1)) / 2;
        for (int i = 1; i < DIM; i++) gradient[i] = -x[i] * scale;
    }
    return -v * v / 18 - log(3) - (square * scale + (DIM - 1) * v) / 2 - DIM * 0.91893853320467274178;
}

#include "both.h"

AIS_DENSITY = {AIS_DENSITY_HEAD, .dim = DIM, .logp = logp, .grad = GRADIENT};
