/* The data of a logistic regression's target. */
#ifndef AIS_TARGET_LOGISTIC_H
#define AIS_TARGET_LOGISTIC_H

#include "target/regression.h"
#include "target/regression_lanes.h"

/* What the lanes know has one prior for all weights; an intercept's own comes as a correction of it. */
typedef struct ais_logistic {
    ais_regression_scale scale;
    ais_regression lanes;
    bool corrected;
    double correction; /* half the difference of precisions: log p changes by this times the square of weight 0 */
} ais_logistic;

#endif
