/* The two losses of A-NICE-MC. From noise z and draws x of the target, f makes
 *     z -> x1 in `burn` steps,   x -> x2 and x1 -> x3 in `pair` steps each,
 * and the pairs (x2, x) and (x3, x1) are what the critic is to tell from pairs of independent draws. No gradient flows
 * from x3 to x1 (the pair says how states follow each other, not where chains come from), but one does from the
 * critic to x1. The kernel's loss is the mean of D plus velocity_weight times the mean of v'^2 / 2 over all
 * coordinates of the three last v'. */
#ifndef AIS_ANICE_OBJECTIVE_H
#define AIS_ANICE_OBJECTIVE_H

#include "anice/chain.h"
#include "anice/critic.h"

typedef struct ais_anice_objective {
    ais_nice nice;
    ais_critic critic;
    size_t batch; /* a multiple of 2 AIS_LANES: this many z and x, and half as many pairs of draws */
    double velocity_weight;
    ais_nice_tape from_noise, pairs;  /* batch lanes; 2 batch lanes, those from x first */
    ais_critic_tape tape, chain_tape; /* for the critic's step, for the kernel's */
} ais_anice_objective;

/* nice, critic, batch and velocity_weight are set; false when memory is out. */
bool ais_anice_objective_new(ais_anice_objective *objective, int most_burn, int most_pair, ais_arena *arena);

/* The chains, from from_noise.x (z), the first half of the lanes of pairs.x (x), and fresh normals in both v. */
void ais_anice_chains(ais_anice_objective *objective, const ais_real *kernel, int burn, int pair);

/* After ais_anice_chains, with pairs of draws in the `real` lanes of tape.in, and 2 batch further ones in the lanes
 * between, which become between * share + (1 - share) * pairs of the chain. The critic's loss and gradient. */
double ais_anice_critic_step(ais_anice_objective *objective, const ais_real *critic, int pair, double share,
                             ais_real *gradient);

/* After ais_anice_chains: the kernel's loss and gradient, which is written, not added. */
double ais_anice_kernel_step(ais_anice_objective *objective, const ais_real *kernel, const ais_real *critic, int burn,
                             int pair, ais_real *gradient);

#endif
