/* A density of your own in one file: a straight line through seven measurements, with unknown noise.
 *
 *     aisampler run examples/03_own_density.c
 *
 * y = a + b t + noise, noise ~ N(0, s^2); priors a, b ~ N(0, 10^2), s ~ half-normal(0, 5^2). The
 * sampler wants the whole of R^3, so the third parameter is log s, and log p gets log |ds / d log s|
 * = log s. The gradient is optional; it is checked against finite differences at the start. */
#include <aisampler/density.h>
#include <math.h>

static const double t[] = {0, 1, 2, 3, 4, 5, 6};
static const double y[] = {1.1, 2.9, 5.2, 6.8, 9.3, 10.7, 13.2};
enum { COUNT = sizeof t / sizeof *t };

static double gradient_and_logp(const double *x, double *gradient, void *data) {
    (void)data;
    double a = x[0], b = x[1], log_s = x[2], s2 = exp(2 * log_s);
    double residual = 0, moment = 0, square = 0;
    for (int i = 0; i < COUNT; i++) {
        double r = y[i] - a - b * t[i];
        residual += r;
        moment += r * t[i];
        square += r * r;
    }
    gradient[0] = residual / s2 - a / 100;
    gradient[1] = moment / s2 - b / 100;
    gradient[2] = square / s2 - COUNT + 1 - s2 / 25;
    return -0.5 * square / s2 - COUNT * log_s - (a * a + b * b) / 200 - s2 / 50 + log_s;
}

static double logp(const double *x, void *data) {
    double unused[3];
    return gradient_and_logp(x, unused, data);
}

static const char *const names[] = {"a", "b", "log_s"};
AIS_DENSITY = {AIS_DENSITY_HEAD, .dim = 3, .logp = logp, .grad = gradient_and_logp, .names = names};
