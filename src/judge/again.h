/* Whether the density is still what it was when the draws were made: some of them are evaluated again. A density that
 * changes over time, or is sometimes wrong when several threads call it, gives draws of no well-defined distribution.
 */
#ifndef AIS_JUDGE_AGAIN_H
#define AIS_JUDGE_AGAIN_H

#include <aisampler/draws.h>

#include "look/evaluate.h"

enum { AIS_AGAIN = 64 }; /* draws, at most */

typedef struct ais_again {
    int asked;          /* draws; 0: none could be evaluated */
    int changed;        /* of them have another log density now */
    size_t draw;        /* the one that differs most, chain after chain; of the first one when none differs */
    double before, now; /* its log density */
} ais_again;

/* Draws of all chains, evenly spread, and those of the highest log density, where a wrong answer keeps a chain for
 * long; at most an eighth of the evaluator's budget. Draws without log density: none. */
ais_status ais_judge_again(ais_context *context, ais_evaluator *evaluator, const ais_draws *draws, ais_again *again);

#endif
