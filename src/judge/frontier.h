/* Whether p goes on where a kernel's proposals end. Independent proposals never lead to a place that they do not reach,
 * and the draws cannot show what is missing: no weight tells of a place where nothing was proposed. So draws from the
 * edge, where weights p / q are largest, are moved by local steps that are exact for p at the edge and beyond. Draws of
 * p stay draws of p, whose weights are seldom larger than all that the run has met. Where a part of p was missed the
 * moves enter it, math.md (48). */
#ifndef AIS_JUDGE_FRONTIER_H
#define AIS_JUDGE_FRONTIER_H

#include <aisampler/draws.h>
#include <aisampler/kernel.h>

#include "look/evaluate.h"

typedef struct ais_frontier {
    int walkers;    /* draws that were moved; 0: there was nothing to move, or no budget */
    double edge;    /* the share of the draws from which they were taken */
    double beyond;  /* the share of the walkers whose weights became larger than that of any draw */
    double chance;  /* that as many or more would, if nothing were missing */
    double missing; /* a mass that explains them; more if they have not been everywhere */
    bool passed;
} ais_frontier;

/* weight: log p - log q of every draw, as ais_weigh_draws has it. Nothing is moved for kernels that make local steps
 * themselves: their draws are such walkers. */
ais_status ais_judge_frontier(ais_context *context, ais_evaluator *evaluator, const ais_kernel *kernel,
                              const ais_draws *draws, const double *weight, ais_frontier *frontier);

#endif
