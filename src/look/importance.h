/* Importance weights: how good they are, and resampling by them. */
#ifndef AIS_LOOK_IMPORTANCE_H
#define AIS_LOOK_IMPORTANCE_H

#include <stddef.h>

typedef struct ais_weighing {
    double ess;       /* (sum w)^2 / sum w^2 */
    double log_mean;  /* of w: log Z when w = p / q */
    double log_error; /* standard error of log_mean */
    double pareto_k;  /* of the largest weights (Vehtari et al. 2024): below 0.5 the variance is finite */
} ais_weighing;

/* log_weight may hold -infinity. All of them: ess 0, log_mean -infinity, pareto_k +infinity. room: n
 * doubles. */
ais_weighing ais_weigh(size_t n, const double *log_weight, double *room);

/* How many of n weights, the largest ones, count as their tail: min(n/5, 3 sqrt n); 0 where they are too few. */
size_t ais_tail_count(size_t n);

/* The shape k of a generalised Pareto distribution fitted to m excesses, sorted and not negative
 * (Zhang and Stephens 2009, with the weakly informative prior of Vehtari et al.). */
double ais_pareto_shape(size_t m, const double *excess);

/* index[j], j < count, rising: member i of n comes count * w_i / sum w times, rounded up or down;
 * shift in (0, 1) is the only random number of it. */
void ais_systematic(size_t n, const double *log_weight, double shift, size_t count, size_t *index);

#endif
