/* The two functions of a density whose file defines value_of(x, gradient), gradient being NULL where none is wanted. */
#include <stddef.h>

#include "../../metered.h"

static double grad(const double *x, double *gradient, void *data) {
    (void)data;
    metered_gradient();
    return value_of(x, gradient);
}

static double logp(const double *x, void *data) {
    (void)data;
    metered_density();
    return value_of(x, NULL);
}
