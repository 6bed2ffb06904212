/* Short local chains, and the clusters that they fall into. */
#ifndef AIS_LOOK_LOCAL_H
#define AIS_LOOK_LOCAL_H

#include <stdint.h>

#include "look/evaluate.h"

enum { AIS_LOCAL_SNAPSHOTS = 3 };

/* Random-walk chains, each with a scale of its own that adapts. x: chains x dim, moved in place;
 * snapshot: AIS_LOCAL_SNAPSHOTS x chains x dim, from the second half. */
ais_status ais_local_chains(ais_evaluator *evaluator, uint64_t seed, uint64_t first_step, size_t chains, int steps,
                            double scale, double *x, double *logp, double *snapshot);

/* label[c] < *clusters: points that a straight line without a valley of log p deeper than `depth`
 * joins to the highest point of a cluster. At most `most` clusters; what is left joins the first. */
ais_status ais_clusters(ais_evaluator *evaluator, size_t n, const double *x, const double *logp, double depth, int most,
                        int *label, int *clusters);

#endif
