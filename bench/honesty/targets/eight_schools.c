/* Eight schools, centred (Rubin 1981): x = (mu, log tau, theta_1 .. theta_8), y_j ~ N(theta_j, sigma_j^2),
 * theta_j ~ N(mu, tau^2), mu ~ N(0, 5^2), tau ~ half-Cauchy(5). Normalised parts, so that Z is the evidence p(y). At
 * small tau the effects lie in a neck that chains come to rarely. */
#include <aisampler/density.h>
#include <math.h>

#include "../../metered.h"

enum { SCHOOLS = 8 };
static const double effect[SCHOOLS] = {28, 8, -3, 7, -1, 1, 18, 12};
static const double error[SCHOOLS] = {15, 10, 16, 11, 9, 11, 10, 18};

static double log_normal(double x, double sd) { return -0.5 * x * x / (sd * sd) - log(sd) - 0.5 * log(2 * M_PI); }

static double value(const double *x) {
    double tau = exp(x[1]), sum = log_normal(x[0], 5) + log(10 / M_PI) - log(25 + tau * tau) + x[1];
    for (int j = 0; j < SCHOOLS; j++)
        sum += log_normal(x[2 + j] - x[0], tau) + log_normal(effect[j] - x[2 + j], error[j]);
    return isnan(sum) ? -INFINITY : sum; /* far out tau is 0 or infinite */
}

static double logp(const double *x, void *data) {
    (void)data;
    metered_density();
    return value(x);
}

static double grad(const double *x, double *gradient, void *data) {
    (void)data;
    metered_gradient();
    double square = exp(2 * x[1]);
    gradient[0] = -x[0] / 25;
    gradient[1] = 1 - 2 * square / (25 + square) - SCHOOLS;
    for (int j = 0; j < SCHOOLS; j++) {
        double away = x[2 + j] - x[0], pull = away / square;
        gradient[0] += pull;
        gradient[1] += away * pull;
        gradient[2 + j] = -pull + (effect[j] - x[2 + j]) / (error[j] * error[j]);
    }
    return value(x);
}

static const char *const names[] = {"mu",      "log_tau", "theta.1", "theta.2", "theta.3",
                                    "theta.4", "theta.5", "theta.6", "theta.7", "theta.8"};

AIS_DENSITY = {AIS_DENSITY_HEAD, .dim = 2 + SCHOOLS, .logp = logp, .grad = grad, .names = names};
