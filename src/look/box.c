#include "look/box.h"

#include <math.h>

#include "base/random.h"

/* The root above 1 of g^(dim + 1) = g + 1: multiples of its inverse powers, modulo 1, are as even a sequence in the
 * cube as is known (the golden ratio in one dimension). */
static double root_of(int dim) {
    double g = 2;
    for (int k = 0; k < 60; k++) g = pow(1 + g, 1.0 / (dim + 1));
    return g;
}

void ais_box_points(const ais_box *box, uint64_t seed, uint64_t step, size_t n, int dim, double *x) {
    ais_stream stream = {seed, step, 0, AIS_FOR_SEARCH};
    double g = root_of(dim), pace = 1;
    for (int i = 0; i < dim; i++) {
        double shift = ais_random_uniform(&stream, (uint32_t)i), whole;
        pace /= g;
        for (size_t c = 0; c < n; c++)
            x[c * (size_t)dim + (size_t)i] =
                box->low[i] + (box->high[i] - box->low[i]) * modf(shift + (double)(c + 1) * pace, &whole);
    }
}

double ais_box_logq(const ais_box *box, int dim, const double *x) {
    double sum = 0;
    for (int i = 0; i < dim; i++) {
        if (!(x[i] >= box->low[i] && x[i] <= box->high[i])) return -INFINITY;
        sum -= log(box->high[i] - box->low[i]);
    }
    return sum;
}
