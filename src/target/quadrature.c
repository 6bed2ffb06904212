#include "target/quadrature.h"

#include <math.h>

#include "base/constants.h"

enum { NODES = 16 };

/* Node k and its weight on [-1, 1]: a root of the Legendre polynomial by Newton's method from
 * Tricomi's approximation. */
static void node(int k, double *x, double *weight) {
    double slope = 1;
    *x = cos(AIS_PI * (k + 0.75) / (NODES + 0.5));
    for (int iteration = 0; iteration < 8; iteration++) {
        double before = 1, now = *x;
        for (int n = 2; n <= NODES; n++) {
            double next = ((2 * n - 1) * *x * now - (n - 1) * before) / n;
            before = now;
            now = next;
        }
        slope = NODES * (*x * now - before) / (*x * *x - 1);
        *x -= now / slope;
    }
    *weight = 2 / ((1 - *x * *x) * slope * slope);
}

double ais_integrate(double (*f)(double, const void *), const void *data, double a, double b, int panels) {
    double sum = 0, half = 0.5 * (b - a) / panels;
    for (int k = 0; k < NODES; k++) {
        double x, weight, part = 0;
        node(k, &x, &weight);
        for (int p = 0; p < panels; p++) part += f(a + half * (2 * p + 1 + x), data);
        sum += weight * part;
    }
    return sum * half;
}
