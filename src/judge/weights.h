/* How good a map is as an independent proposal, from the importance weights w = p / q of fresh draws of it: what a
 * chain of it will be worth is known without running one. From x it moves with probability a(x), the mean of
 * min(1, w' / w(x)) over its proposals, and the draws that one effective draw takes are the mean of 2 / a(x) - 1 over
 * p, math.md (36). */
#ifndef AIS_JUDGE_WEIGHTS_H
#define AIS_JUDGE_WEIGHTS_H

#include "look/importance.h"

typedef struct ais_verdict {
    double efficiency; /* effective draws per draw of a chain */
    double acceptance; /* mean of a(x) over p */
    double largest;    /* weight, in units of the mean: about as many steps a chain would stay there */
    ais_weighing weighing;
} ais_verdict;

/* log_weight: n of fresh draws of q. given: the log weights of `many` points that follow p and were found otherwise
 * (chains), or none: a part of p that q does not reach shows there and only there. */
ais_verdict ais_judge_weights(size_t n, const double *log_weight, size_t many, const double *given);

#endif
