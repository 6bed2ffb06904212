/* Many maximisations of the log density at once, in lockstep, so that densities come in batches:
 * L-BFGS (Nocedal 1980) with backtracking to Armijo's condition. */
#ifndef AIS_LOOK_LBFGS_H
#define AIS_LOOK_LBFGS_H

#include "look/evaluate.h"

typedef struct ais_lbfgs_options {
    int iterations;         /* at most */
    double tolerance;       /* of the rise that the last direction promised: in units of log p */
    double scale;           /* of the search region; the first step is a tenth of it */
    double longest;         /* step; doubled after every step that it cut short and that was a success */
    double farthest;        /* a coordinate beyond this is a flight to infinity */
    const double *variance; /* dim: how the coordinates are scaled, as far as is known; or NULL */
} ais_lbfgs_options;

typedef enum ais_ending {
    AIS_STUCK,     /* iterations were used up, or no step rose enough */
    AIS_CONVERGED, /* at an optimum, as far as the slope says */
    AIS_OUTSIDE,   /* began where the density is zero */
    AIS_FLED       /* rose and rose, past `farthest` */
} ais_ending;

/* x: runs x dim, the starts; on return where each run ended. */
ais_status ais_maximise(ais_evaluator *evaluator, const ais_lbfgs_options *options, int runs, double *x, double *logp,
                        ais_ending *ending);

#endif
