/* Whether tails of draws end too early, as they do where chains do not enter a funnel's neck.
 *
 * The outermost draws of a coordinate, O, are carried outwards by a map f that is affine in the other coordinates, and
 * the density is evaluated there. The mean of p(f(x)) |f'| / p(x) over the draws of O says which mass lies in f(O),
 * whether a chain was there or not, math.md (42); and the share of the draws that lie there estimates the same mass. f
 * is the map that takes the next inner draws, I, to O, applied once more: so it follows places and widths that change
 * with the coordinate. Any other f would be right as well, and less precise. */
#ifndef AIS_JUDGE_TAILS_H
#define AIS_JUDGE_TAILS_H

#include <aisampler/draws.h>

#include "look/evaluate.h"

/* The tail with the largest z of those that were tried. */
typedef struct ais_tails {
    int tried;              /* 0: there was nothing to try, or no budget */
    double limit;           /* of z: the largest of the tails tried exceeds it once in a hundred runs */
    double z;               /* expected beyond `from` minus drawn, in standard errors */
    int coordinate;         /* from 0 */
    bool high;              /* the upper tail */
    double from;            /* the tail's part that was looked at begins here */
    double expected, error; /* mass, by the density */
    double drawn;           /* share of the draws */
} ais_tails;

/* As many tails as the evaluator's budget allows, those with the fewest effective draws first. A density that fails out
 * there leaves the rest untried. Draws without log density: none. */
ais_status ais_judge_tails(ais_context *context, ais_evaluator *evaluator, const ais_draws *draws, ais_tails *tails);

#endif
