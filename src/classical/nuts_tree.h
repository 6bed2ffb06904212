/* One NUTS trajectory: multinomial sampling of its points, biased towards new halves (Betancourt
 * 2017), with the generalised U-turn criterion also across the seams of merged halves, as Stan does. */
#ifndef AIS_CLASSICAL_NUTS_TREE_H
#define AIS_CLASSICAL_NUTS_TREE_H

#include "classical/hamiltonian.h"

typedef struct ais_nuts_edge {
    double *p, *velocity;
} ais_nuts_edge;

/* A stretch of trajectory: its two ends in the order of building, the sum of its momenta, one point
 * drawn from it, and the logarithm of the sum of its points' weights exp(H0 - H). */
typedef struct ais_nuts_stretch {
    ais_nuts_edge begin, end;
    double *rho;
    double *x, *gradient; /* of the drawn point, as are: */
    double logp, energy;
    bool initial; /* it is where the trajectory started */
    double log_weight;
} ais_nuts_stretch;

typedef struct ais_nuts_tree {
    int max_depth;
    ais_phase forward, backward;   /* the outermost points */
    ais_nuts_stretch whole, fresh; /* the trajectory so far, the half being added */
    ais_nuts_stretch *spare;       /* max_depth: the later half at each depth of building */
    const ais_target *target;      /* of the trajectory at hand, from here on */
    const ais_metric *metric;
    double step_size; /* negative while building backwards */
    ais_stream stream;
    uint32_t drawn; /* numbers taken from the stream */
    double energy;  /* H0 */
    double acceptance_sum;
    int leapfrogs, depth;
    bool divergent;
} ais_nuts_tree;

/* false when memory is out. */
bool ais_nuts_tree_take(ais_nuts_tree *tree, ais_arena *arena, int dim, int max_depth);

/* Builds a trajectory from tree->forward, which holds point, gradient, momentum and velocity. What was
 * drawn is in tree->whole, what it tells in the last five members. */
ais_status ais_nuts_tree_run(ais_context *context, ais_nuts_tree *tree, const ais_target *target,
                             const ais_metric *metric, double step_size, const ais_stream *stream);

#endif
