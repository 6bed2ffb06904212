/* What a flow is trained for (docs/math.md): T should push the target p to N(0, I). With
 * log q(x) = log N(T(x)) + log|det T'(x)| the density that T^-1 gives to normal draws:
 *     likelihood  mean of -log q(x) over draws x of p
 *     pair        mean of sqrt(1 + l^2) - 1 over pairs of draws, l = w(x_i) - w(x_j), w = log p - log q the log
 *                 weight that the accept test compares; plus a tenth of likelihood, without which a map
 *                 may forget parts of p. Needs log p at the draws, not its gradient.
 *     path        mean of log q(x) - log p(x) over x = T^-1(v), v normal, its gradient taken along the path
 *                 x(theta) only (Roeder et al. 2017): zero, without noise, once q = p. Needs p's gradient.
 * All of them work in whitened coordinates u. */
#ifndef AIS_TRAINER_FLOW_OBJECTIVE_H
#define AIS_TRAINER_FLOW_OBJECTIVE_H

#include "kernel/learned.h"
#include "trainer/batch.h"

typedef enum ais_flow_objective { AIS_FLOW_LIKELIHOOD, AIS_FLOW_PAIR, AIS_FLOW_PATH } ais_flow_objective;

typedef struct ais_flow_block ais_flow_block;

typedef struct ais_flow_trainer {
    const ais_learned *learned; /* weights change between steps, nothing else */
    const ais_target *target;
    ais_batch batch;
    ais_flow_block *block; /* one for each block of the batch */
    double *u;             /* blocks x dim x AIS_BLOCK: the draws, whitened; or normals for path */
    double *logp;          /* blocks x AIS_BLOCK, for pair */
    ais_flow_objective objective;
} ais_flow_trainer;

/* A batch of blocks * AIS_BLOCK points. false when memory is out. */
bool ais_flow_trainer_new(ais_flow_trainer *trainer, const ais_learned *learned, const ais_target *target,
                          ais_pool *pool, int blocks, ais_arena *arena);

/* The mean loss over the batch in u (and logp), and its gradient in trainer->batch.gradient. Fails when
 * the target's gradient says NaN where log p is a number, or log p is NaN. */
ais_status ais_flow_loss(ais_context *context, ais_flow_trainer *trainer, ais_flow_objective objective, double *loss);

#endif
