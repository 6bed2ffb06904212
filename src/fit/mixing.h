/* The mixing term: the squared cross-covariances, over a batch, between standardised features f of x and
 * of what the chain holds after the step, g = s f(x') + (1 - s) f(x), s the chance of acceptance:
 *     sum_ij w_i w_j C_ij^2 / sum w,   C = mean of f g^T.
 * Zero when one step forgets; near the number of features when it does not move. w is larger for x and x^2.
 *
 * Three calls per batch, each over its blocks, with a reduction between: features -> standardise and
 * correlate -> pull back. */
#ifndef AIS_FIT_MIXING_H
#define AIS_FIT_MIXING_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "fit/mixing_lanes.h"
#include "nn/real.h"

typedef struct ais_mixing {
    ais_feature_set set;
    int features;
    double *weight;        /* w, features */
    double *mean, *scale;  /* of the batch's f: mean and 1 / sd */
    ais_real *correlation; /* C */
    ais_real *pull;        /* dL/dC^T / n: features x features */
} ais_mixing;

/* One block's share. f and image_f are features x lanes. */
typedef struct ais_mixing_block {
    size_t lanes;
    double *f, *image_f;      /* raw */
    ais_real *standard, *end; /* standardised f, and g */
    ais_real *correlation, *spare;
    double *sum, *square; /* over lanes: f, f^2 */
    double *gradient_f;
} ais_mixing_block;

typedef struct ais_mixing_options {
    int dim, waves, ripples;
    double weight;        /* of x and x^2; that of a wave or ripple is 1 */
    double scale;         /* the common sd of the population, the unit of the waves' lengths */
    const double *centre; /* of the ripples; copied; may be NULL where there are none */
    uint64_t seed;
} ais_mixing_options;

/* false when memory is out. */
bool ais_mixing_new(ais_mixing *mixing, const ais_mixing_options *options, ais_arena *arena);
bool ais_mixing_block_new(const ais_mixing *mixing, size_t lanes, ais_arena *arena, ais_mixing_block *block);

/* Of a block: features of x and x' (dim x lanes) and their sums. */
void ais_mixing_features(const ais_mixing *mixing, ais_mixing_block *block, const double *x, const double *image);
/* Of the batch: mean and scale from the sums of all blocks. */
void ais_mixing_standard(ais_mixing *mixing, const ais_mixing_block *block, int blocks);
/* Of a block: its share of C, given the chance of each lane. */
void ais_mixing_correlate(const ais_mixing *mixing, ais_mixing_block *block, const double *chance);
/* Of the batch: the term times strength, and what pull_back needs. */
double ais_mixing_total(ais_mixing *mixing, const ais_mixing_block *block, int blocks, double strength);
/* Of a block: adds dL/dx' (dim x lanes) and dL/dchance (lanes). */
void ais_mixing_pull_back(const ais_mixing *mixing, ais_mixing_block *block, const double *chance, const double *image,
                          double *gradient_image, double *gradient_chance);

#endif
