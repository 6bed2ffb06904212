/* Quantiles of distributions at Phi(x), precise in both tails: of x = -30 as of x = 30. */
#ifndef AIS_TARGET_QUANTILES_H
#define AIS_TARGET_QUANTILES_H

/* Scores beyond this have no mass that a double could tell. */
#define AIS_MOST_SCORE 37.0

/* log Phi(x). */
double ais_log_normal_cdf(double x);

/* The value, and *log_density there. */
double ais_gamma_at(double x, double shape, double *log_density);
double ais_beta_at(double x, double a, double b, double *log_density);
double ais_student_at(double x, double df, double *log_density);

#endif
