/* Normal fits at optima of the log density, and the list of those known. */
#ifndef AIS_LOOK_LAPLACE_H
#define AIS_LOOK_LAPLACE_H

#include "look/lbfgs.h"
#include "look/modes.h"

/* Adds the fit at the optimum x (log density f), reached better by Newton steps, to modes: axes from the Hessian
 * by differences of the gradient, then every sd grown or shrunk until log p falls by 0.2 to 1 one sd away, because a
 * Hessian may be singular or too local. *added is false where there is no such fit. */
ais_status ais_laplace(ais_evaluator *evaluator, double scale, const double *x, double f, ais_modes *modes,
                       bool *added);

/* Adds those of `runs` ends that converged and are farther than one sd from every known mode, the
 * highest first, or the highest that is stuck when none has converged and none is known; when there are more than
 * `most`, keeps those of largest evidence. *added counts. */
ais_status ais_absorb(ais_evaluator *evaluator, double scale, int runs, const double *x, const double *logp,
                      const ais_ending *ending, int most, ais_modes *modes, int *added);

#endif
