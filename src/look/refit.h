/* A Student-t mixture fitted to a density that no normal at an optimum describes: local chains,
 * clusters, and population Monte Carlo (Cappé et al. 2004). */
#ifndef AIS_LOOK_REFIT_H
#define AIS_LOOK_REFIT_H

#include "look/evaluate.h"
#include "map/components.h"

typedef struct ais_refit_options {
    uint64_t seed, turn; /* turn: another one gives other random numbers */
    double scale;
    int count;           /* members of the population that local chains start from */
    const double *x;     /* count x dim */
    const double *start; /* `starts` rows besides: optima */
    int starts;
    int components; /* wanted */
    int rounds;     /* of population Monte Carlo, at most */
} ais_refit_options;

/* components: taken by the caller with room for at least options->components. clusters: parts of the
 * density that no straight way without a valley joins. */
ais_status ais_refit(ais_evaluator *evaluator, const ais_refit_options *options, ais_components *components,
                     int *clusters);

/* One round: n draws, their importance weights, and every component moved to the weighted moments of
 * its share, as far as that share is large enough to say. ess: of the draws, before. */
ais_status ais_refit_round(ais_evaluator *evaluator, uint64_t seed, uint64_t step, size_t n, ais_components *components,
                           double *ess);

#endif
