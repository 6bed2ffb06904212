/* Priors and bounds: how strong is a source, if a detector also counts a background?
 *
 *     aisampler run examples/04_priors.c
 *
 * 24 counts in 2 hours with the source, 12 in 4 hours without it. The function is the likelihood alone: priors stand
 * in the array (parameters.h has all kinds), draws lie inside of their bounds, and no Jacobian has to be thought of.
 * With a prior for every parameter log Z is the evidence. A bound without a prior is AIS_POSITIVE or AIS_BETWEEN(a, b);
 * log Z is then the integral of what the function says. */
#include <aisampler/density.h>
#include <math.h>

static const double counts_with = 24, hours_with = 2, counts_without = 12, hours_without = 4;

static double log_poisson(double count, double mean) { return count * log(mean) - mean - lgamma(count + 1); }

static double likelihood(const double *theta, void *data) {
    (void)data;
    double source = theta[0], background = theta[1], efficiency = theta[2];
    return log_poisson(counts_with, (efficiency * source + background) * hours_with) +
           log_poisson(counts_without, background * hours_without);
}

static const ais_parameter parameters[] = {
    {"source", AIS_HALF_NORMAL(20)},
    {"background", AIS_GAMMA(2, 0.5)},
    {"efficiency", AIS_BETA(40, 10)},
};
AIS_DENSITY = {AIS_DENSITY_HEAD, .dim = 3, .logp = likelihood, .parameters = parameters, .parameter_count = 3};
