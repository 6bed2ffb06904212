/* The two functions of a density whose file defines value_of(x, gradient), gradient being NULL where none is wanted;
 * the first alone where WITHOUT_GRADIENT is defined. */
#include <stddef.h>

#include "../../metered.h"

#ifdef WITHOUT_GRADIENT
#define GRADIENT NULL
#else
#define GRADIENT grad
static double grad(const double *x, double *gradient, void *data) {
    (void)data;
    metered_gradient();
    return value_of(x, gradient);
}
#endif

static double logp(const double *x, void *data) {
    (void)data;
    metered_density();
    return value_of(x, NULL);
}
