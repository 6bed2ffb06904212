/* The Wasserstein critic of A-NICE-MC: D of a pair of states, three layers of leaky relu units.
 *
 * It falls on pairs of independent draws and rises on pairs of the chain,
 *     L = mean D(real) - mean D(chain) + penalty * mean (|grad D(between)| - 1)^2,
 * "between" being points on the lines from real to chain pairs (Gulrajani et al. 2017). The kernel goes down the mean
 * of D(chain). */
#ifndef AIS_ANICE_CRITIC_H
#define AIS_ANICE_CRITIC_H

#include "base/arena.h"
#include "nn/perceptron.h"

typedef struct ais_critic {
    ais_perceptron net; /* of a pair, 2 dim inputs; hidden is a multiple of 16. Its `tanh` is not looked at */
    double leak;        /* slope of a unit below 0 */
    double penalty;
    size_t weights;
} ais_critic;

ais_critic ais_critic_shape(int dim, int hidden, int depth);

/* Lanes: `chain` pairs of the chain, then `real` ones, then `chain` ones between. chain and real are multiples of
 * AIS_LANES. */
typedef struct ais_critic_tape {
    size_t chain, real, lanes;
    ais_real *in;          /* 2 dim x lanes: the pairs; filled by the caller */
    ais_real *value;       /* depth x hidden x lanes: units after their activation */
    ais_real *delta;       /* depth x hidden x lanes: d D / d (units before it), times what D is worth in L */
    ais_real *out, *worth; /* lanes: D; its weight in L */
    ais_real *tangent[2];  /* hidden (or 2 dim) x chain */
    ais_real *turned;      /* lanes x hidden */
    ais_real *slope;       /* 2 dim x lanes: d / d in */
    ais_real *spare;       /* hidden */
} ais_critic_tape;

bool ais_critic_tape_new(const ais_critic *critic, size_t chain, size_t real, ais_arena *arena, ais_critic_tape *tape);

/* L, and its gradient by the weights, which is written, not added. tape->in is used up. */
double ais_critic_gradient(const ais_critic *critic, const ais_real *weights, ais_critic_tape *tape,
                           ais_real *gradient);

/* The mean of D over the pairs of the chain, and its gradient by them in tape->slope (2 dim x lanes; the first `chain`
 * lanes count). A tape without real pairs will do, and is quicker. */
double ais_critic_slope(const ais_critic *critic, const ais_real *weights, ais_critic_tape *tape);

#endif
