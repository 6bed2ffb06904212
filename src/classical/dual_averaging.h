/* Nesterov's dual averaging of the logarithm of a step size (Hoffman and Gelman 2014, section 3.2),
 * with Stan's constants t0 10 and kappa 0.75. It is the iterates whose mean acceptance meets the
 * target. They scatter, the more the smaller gamma is, and what is kept in the end is the mean of
 * their logarithms, whose own acceptance is another: with Stan's gamma, 0.88 for a target of 0.8. */
#ifndef AIS_CLASSICAL_DUAL_AVERAGING_H
#define AIS_CLASSICAL_DUAL_AVERAGING_H

#include <stdint.h>

#define AIS_STAN_GAMMA 0.05

typedef struct ais_dual_averaging {
    double gamma;  /* how strongly iterates are held to the centre */
    double target; /* acceptance aimed at */
    double centre; /* mu: the log step size that iterates shrink towards */
    double lack;   /* running mean of target - acceptance */
    double mean;   /* running mean of the log step size, late iterates counting more */
    uint64_t count;
} ais_dual_averaging;

void ais_dual_averaging_restart(ais_dual_averaging *averaging, double gamma, double target, double centre);

/* The step size to try next, after an acceptance (above 1 counts as 1). */
double ais_dual_averaging_next(ais_dual_averaging *averaging, double acceptance);

/* The step size to keep; fallback when there was no acceptance since the restart. */
double ais_dual_averaging_final(const ais_dual_averaging *averaging, double fallback);

#endif
