/* What a flow is trained for (docs/math.md): T should push the target p to N(0, I). With
 * log q(x) = log N(T(x)) + log|det T'(x)| the density that T^-1 gives to normal draws:
 *     likelihood  mean of -log q(x) over draws x of p
 *     pair        mean of sqrt(1 + l^2) - 1 over pairs of draws, l = w(x_i) - w(x_j), w = log p - log q the log
 *                 weight that the accept test compares; plus a tenth of likelihood, without which a map
 *                 may forget parts of p. Needs log p at the draws, not its gradient.
 *     fisher      mean of |grad log p(x) - grad log q(x)|^2 / 2 over any points x at which the gradient of log p is
 *                 known, linear beyond a residual of 10. It needs no draws of p and no new evaluation, and it does not
 *                 see how much mass parts of p have that lie apart.
 * All of them work in whitened coordinates u. */
#ifndef AIS_FIT_FLOW_OBJECTIVE_H
#define AIS_FIT_FLOW_OBJECTIVE_H

#include "learned/learned.h"
#include "nn/batch.h"

typedef enum ais_flow_objective { AIS_FLOW_LIKELIHOOD, AIS_FLOW_PAIR, AIS_FLOW_FISHER } ais_flow_objective;

typedef struct ais_flow_block ais_flow_block;

typedef struct ais_flow_trainer {
    const ais_learned *learned; /* weights change between steps, nothing else */
    ais_batch batch;
    ais_flow_block *block; /* one for each block of the batch */
    double *u;             /* blocks x dim x AIS_BLOCK: the points, whitened */
    double *logp;          /* blocks x AIS_BLOCK, for pair */
    double *slope;         /* as u, for fisher: the gradient of log p by u */
    ais_flow_objective objective;
} ais_flow_trainer;

/* A batch of blocks * AIS_BLOCK points. false when memory is out. */
bool ais_flow_trainer_new(ais_flow_trainer *trainer, const ais_learned *learned, ais_pool *pool, int blocks,
                          ais_arena *arena);

/* The mean loss over the batch, and its gradient in trainer->batch.gradient; NAN when a number is not finite. */
double ais_flow_loss(ais_flow_trainer *trainer, ais_flow_objective objective);

/* The mean fisher loss of the batch without its gradient, at less than a third of the cost. */
double ais_flow_fisher(ais_flow_trainer *trainer);

#endif
