/* Distribution functions and their inverses. */
#ifndef AIS_BASE_SPECIAL_H
#define AIS_BASE_SPECIAL_H

/* z with P(N(0, 1) <= z) = p, to a few units in the last place. -+INFINITY at 0 and 1, NAN outside. */
double ais_normal_quantile(double p);

/* P(Beta(a, b) <= x) for a, b > 0, and its inverse in x. NAN for a, b or p that make no sense. */
double ais_beta_cdf(double x, double a, double b);
double ais_beta_quantile(double p, double a, double b);

/* log Gamma(z), z > 0, from any thread. */
double ais_log_gamma(double z);

/* log P(Gamma(shape, 1) <= x) and log P(... > x), x > 0. */
void ais_gamma_tails(double x, double shape, double *log_below, double *log_above);

#endif
