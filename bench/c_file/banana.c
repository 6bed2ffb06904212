/* The built-in banana:dim=10, as a user would write it: what bench/c_file/measure.py compares with the built-in. */
// aisampler: flags -march=native
#include <aisampler/density.h>
#include <math.h>

enum { DIM = 10 };
static const double b = 0.1;

static double constant(void) { return -0.5 * DIM * log(2 * 3.14159265358979323846) - log(10); }

static double grad(const double *x, double *gradient, void *data) {
    (void)data;
    double straight = x[1] + b * (x[0] * x[0] - 100), sum = 0.01 * x[0] * x[0] + straight * straight;
    gradient[0] = -0.01 * x[0] - 2 * b * x[0] * straight;
    gradient[1] = -straight;
    for (int i = 2; i < DIM; i++) {
        sum += x[i] * x[i];
        gradient[i] = -x[i];
    }
    return constant() - 0.5 * sum;
}

static double logp(const double *x, void *data) {
    (void)data;
    double straight = x[1] + b * (x[0] * x[0] - 100), sum = 0.01 * x[0] * x[0] + straight * straight;
    for (int i = 2; i < DIM; i++) sum += x[i] * x[i];
    return constant() - 0.5 * sum;
}

static void batch(size_t n, const double *x, double *value, void *data) {
    (void)data;
    for (size_t c = 0; c < n; c++) {
        double first = x[c], straight = x[n + c] + b * (first * first - 100);
        value[c] = 0.01 * first * first + straight * straight;
    }
    for (size_t i = 2; i < DIM; i++)
        for (size_t c = 0; c < n; c++) value[c] += x[i * n + c] * x[i * n + c];
    for (size_t c = 0; c < n; c++) value[c] = constant() - 0.5 * value[c];
}

AIS_DENSITY = {AIS_DENSITY_HEAD, .dim = DIM, .logp = logp, .batch = batch, .grad = grad};
