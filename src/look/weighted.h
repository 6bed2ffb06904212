/* Weighted draws of a Student-t mixture, and their use. */
#ifndef AIS_LOOK_WEIGHTED_H
#define AIS_LOOK_WEIGHTED_H

#include "look/evaluate.h"
#include "look/importance.h"
#include "map/components.h"

typedef struct ais_weighted {
    size_t n, most, dim;                     /* draws now, room for draws */
    double *x, *logp, *logq, *weight, *room; /* most rows each; weight = logp - logq */
    ais_weighing weighing;
} ais_weighted;

/* False when memory is out. */
bool ais_weighted_take(ais_weighted *weighted, ais_arena *arena, size_t most, int dim);

/* Fresh draws, doubled until their ESS is `wanted`, room is out, or doubling is of no use. Uses the
 * steps from `step` to step + most. */
ais_status ais_weighted_draw(ais_weighted *weighted, ais_evaluator *evaluator, const ais_components *mixture,
                             uint64_t seed, uint64_t step, double wanted);

/* Resamples count of them into rows of x. */
void ais_weighted_resample(const ais_weighted *weighted, double shift, size_t count, size_t *index, double *x,
                           double *logp);

/* The weight of every component under the target. share: room for AIS_BLOCK x count. */
void ais_weighted_modes(const ais_weighted *weighted, const ais_components *mixture, double *share,
                        double *mode_weight);

/* Moves a population (n <= most rows) by the mixture as an independence proposal and by a random walk
 * of about `step`, in turn. The draws are overwritten. */
ais_status ais_weighted_sweep(ais_weighted *weighted, ais_evaluator *evaluator, const ais_components *mixture,
                              uint64_t seed, uint64_t first_step, int sweeps, double step, size_t n, double *x,
                              double *logp);

#endif
