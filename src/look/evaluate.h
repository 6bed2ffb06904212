/* Log densities and gradients of many points at once, counted. Points are rows (count x dim); they
 * are turned into the coordinate-major blocks of the batch form and shared out over the pool. */
#ifndef AIS_LOOK_EVALUATE_H
#define AIS_LOOK_EVALUATE_H

#include <signal.h>
#include <stddef.h>

#include <aisampler/target.h>

#include "base/pool.h"
#include "base/status.h"

typedef struct ais_evaluator {
    ais_context *context;
    const ais_target *target;
    ais_pool *pool;                             /* or NULL */
    const volatile sig_atomic_t *stop;          /* or NULL */
    long most;                                  /* evaluations: not one more; 0: no limit */
    double deadline;                            /* by ais_now(): no evaluation is begun after it; 0: none */
    double difference;                          /* step of the central differences that stand in for a gradient */
    long price;                                 /* densities that target->grad takes; 0: it is a true gradient */
    long densities, gradients;                  /* evaluated so far */
    double seconds;                             /* that they took */
    void (*tick)(void *data, long evaluations); /* called now and then with what was evaluated so far; or NULL */
    void *tick_data;
    double *tile, *shifted;         /* scratch that grows */
    size_t tile_room, shifted_room; /* in doubles */
} ais_evaluator;

void ais_evaluator_free(ais_evaluator *evaluator);

/* Counts gradients, as the densities that they took where they are made of them. */
void ais_count_gradients(ais_evaluator *evaluator, long gradients);

/* logp[c] of row c. NaN and +infinity are errors that print the first such point; -infinity is not.
 * AIS_STOPPED once *stop is not 0. */
ais_status ais_evaluate(ais_evaluator *evaluator, size_t count, const double *x, double *logp);

/* gradient: count x dim. What is not finite becomes 0, as at the edge of the support; logp as above.
 * Without target->grad: central differences, counted as densities. */
ais_status ais_evaluate_gradient(ais_evaluator *evaluator, size_t count, const double *x, double *logp,
                                 double *gradient);

#endif
