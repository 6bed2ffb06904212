/* How good a map is as an independent proposal, from the importance weights w = p / q of fresh draws of it: the
 * efficiency of a chain is known without running one. From x it moves with probability a(x), the mean of min(1, w' /
 * w(x)) over its proposals, and one effective draw takes the mean of 2 / a(x) - 1 over p of them, math.md (36). A
 * few hundred proposals have not met the largest weights that a run will meet: their tail is extrapolated as a
 * generalised Pareto distribution, as heavy as they allow, math.md (37). And a part of p, as large as their number
 * allows, may lie where they never fall: a chain that enters it stays. */
#ifndef AIS_JUDGE_WEIGHTS_H
#define AIS_JUDGE_WEIGHTS_H

#include "base/status.h"
#include "look/importance.h"

/* Relief k: after every 2^(k+1) - 1 proposals another kernel takes a step, and moves chains on that would stay. */
enum { AIS_RELIEFS = 5 };
static inline int ais_relief_proposals(int k) { return (2 << k) - 1; }

typedef struct ais_verdict {
    double acceptance;            /* mean of a(x) over p */
    double seen;                  /* draws that one effective draw takes by proposals alone, as far as seen */
    double relieved[AIS_RELIEFS]; /* the same with relief k, whose steps count as draws, if a part of p was not seen */
    ais_weighing weighing;
} ais_verdict;

/* Draws that one effective draw takes with this many proposals between two steps of the other kernel; 0: alone. */
double ais_draws_per_effective(const ais_verdict *verdict, int proposals);

/* The verdict on p itself as the proposal, by n draws: only what they may not have seen is left. */
ais_verdict ais_flawless(size_t n);

/* The verdict that `times` times as many draws would give if they showed the same. */
ais_verdict ais_verdict_of_more(const ais_verdict *verdict, double times);

/* log_weight: n of fresh draws of q. given: the log weights of `many` points that follow p and were found otherwise
 * (chains), or none: a part of p that q does not reach shows there and only there. wanted: effective draws. */
ais_status ais_judge_weights(ais_context *context, size_t n, const double *log_weight, size_t many, const double *given,
                             double wanted, ais_verdict *verdict);

#endif
