/* Adam (Kingma and Ba 2015) with warm-up and cosine decay of the rate, clipping of the gradient's norm
 * and a running average of the weights. */
#ifndef AIS_NN_ADAM_H
#define AIS_NN_ADAM_H

#include <stddef.h>

#include "base/arena.h"
#include "nn/real.h"

typedef struct ais_adam_options {
    double rate;         /* the highest one */
    double warmup;       /* share of the steps in which the rate rises linearly from rate / 20 */
    double final_share;  /* the cosine ends at this share of rate; 1: constant after warm-up */
    double beta1, beta2; /* 0: 0.9, 0.999 */
    double clip;         /* largest norm of a gradient; 0: none */
    double average;      /* weight of the past in the running average, e.g. 0.99; 0: none */
    long steps;          /* planned */
} ais_adam_options;

typedef struct ais_adam {
    ais_adam_options options;
    size_t count;
    long step;          /* steps taken */
    double scale;       /* of the rate: smaller after a rollback, 1 at first */
    ais_real *m, *v;    /* first and second moments */
    ais_real *averaged; /* NULL without averaging */
    ais_real *share;    /* of the rate, per weight; NULL, as at first: 1. The caller's */
} ais_adam;

/* averaged starts as a copy of weights. Returns 0 when memory is out. */
int ais_adam_new(ais_adam *adam, const ais_adam_options *options, size_t count, const ais_real *weights,
                 ais_arena *arena);

/* The rate of the step to come. */
double ais_adam_rate(const ais_adam *adam);

/* One step down the gradient. Returns the gradient's norm before clipping; when it is not finite,
 * nothing is changed. */
double ais_adam_step(ais_adam *adam, const ais_real *gradient, ais_real *weights);

#endif
