/* What to train and how, decided from the target's dimension, its gradient and what the start saw. A ladder of
 * attempts: the first is the cheapest that usually does; the next one is taken when fresh chains say it did not.
 * The measurements behind the numbers are in docs/training.md. */
#ifndef AIS_TRAINER_PLAN_H
#define AIS_TRAINER_PLAN_H

#include "trainer/flow_trainer.h"

typedef struct ais_situation {
    int dim;
    bool gradient;
    int separate;  /* modes divided by valleys */
    bool annealed; /* the start's mixture of Student-t's did not fit: bent or hollow */
} ais_situation;

typedef struct ais_attempt {
    ais_shape shape;
    ais_whitening_kind whitening;
    double w0;          /* of ais_flow_spread */
    int fits;           /* rounds of ais_flow_settle before the training */
    ais_flow_plan plan; /* without progress */
    double enough;      /* a worst ESS, as a share of the draws, after which no further attempt is worth its time */
} ais_attempt;

/* Attempt number k (from 0) for flows; false when there are no more. */
bool ais_plan_flow(const ais_situation *situation, int k, ais_attempt *attempt);

/* The training of a shape that the caller chose. */
ais_attempt ais_plan_for_shape(const ais_situation *situation, const ais_shape *shape);

#endif
