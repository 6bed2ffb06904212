/* box.h: a uniform prior on [low, high]^d, as a density: -INFINITY outside. Without a gradient, since that is what
 * these targets are for. The logarithm of Z is of the likelihood over the box, without the prior's density 1 / volume.
 */
#ifndef AIS_BENCH_BOX_H
#define AIS_BENCH_BOX_H

#include <aisampler/density.h>
#include <math.h>
#include <stdbool.h>

#include "../../metered.h"

static inline bool in_box(const double *x, int dim, double low, double high) {
    bool in = true;
    for (int i = 0; i < dim; i++) in = in && x[i] >= low && x[i] <= high;
    return in;
}

#endif
