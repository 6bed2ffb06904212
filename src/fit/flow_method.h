/* The method of flows: a map fitted to an archive of evaluated points, without new evaluations. */
#ifndef AIS_FIT_FLOW_METHOD_H
#define AIS_FIT_FLOW_METHOD_H

#include "fit/flow_data.h"
#include "fit/loop.h"

typedef struct ais_flow_fit {
    ais_learned *learned; /* its weights are learned; the whitening stays */
    const ais_flow_data *data;
    ais_pool *pool;
    uint64_t seed;
    uint64_t batches;             /* number of the first batch: other random numbers for each fit */
    double likelihood_share;      /* of the steps, first: likelihood */
    ais_flow_objective second;    /* of the others */
    double first_rate, last_rate; /* of conditioners' first and last layers, as shares of the rate; 0: 1 */
    ais_learned behind;           /* the method's: what is learned of a flow with a bend, all but its pivot layer */
    ais_flow_trainer trainer;     /* the method's */
} ais_flow_fit;

/* Of fisher the snapshot with the least loss on the points held out is kept, of others the last weights. */
extern const ais_method ais_flow_method;

#endif
