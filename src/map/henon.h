/* Henon maps: n layers (x, y) -> (y + eta, -x + V(y)), V a perceptron; inverse
 * (x, y) -> (V(x - eta) - y, x - eta). One eta serves both directions.
 *
 * Twice over: on a lattice (map/lattice_lanes.h) for sampling, where each direction undoes the other bit
 * for bit whatever V is, and in double for training, with a backward pass. */
#ifndef AIS_MAP_HENON_H
#define AIS_MAP_HENON_H

#include <stdint.h>

#include "base/arena.h"
#include "nn/perceptron.h"

typedef struct ais_henon {
    int dim, layers;
    ais_perceptron net;   /* V */
    size_t layer_weights; /* V's weights, then eta */
    size_t weights;
} ais_henon;

void ais_henon_build(ais_henon *henon, int dim, int layers, int hidden, int depth, bool tanh);

/* In one or two dimensions with V of one hidden layer, for which there are bodies of their own. */
static inline bool ais_henon_is_small(const ais_henon *henon) {
#ifdef AIS_REAL_IS_DOUBLE
    (void)henon;
    return false;
#else
    return henon->dim <= 2 && henon->net.depth == 1;
#endif
}

/* A layer of a small map as the sampler wants it: hidden units in blocks of eight, the last one filled up with units
 * of weight 0. A block is rows of eight floats: the weights of each input, the biases, the weights to each output.
 * Weights of inputs are per tick of the lattice, outputs are in ticks. */
enum { AIS_UNITS = 8 };
typedef struct ais_small_layer {
    float *block;   /* blocks x (2 dim + 1) x AIS_UNITS */
    float bias[2];  /* V's */
    int32_t eta[2]; /* in ticks */
} ais_small_layer;

typedef struct ais_henon_small {
    int dim, layers, blocks;
    bool tanh;
    ais_small_layer *layer;
} ais_henon_small;

/* What the map on the lattice needs: its weights, and working memory. */
typedef struct ais_henon_work {
    size_t lanes;
    const ais_real *weights;
    ais_henon_small small;         /* of a small map */
    int32_t *ticks;                /* of another: 2 dim x lanes, */
    ais_real *in, *hidden, *value; /* and one V */
} ais_henon_work;
/* false when memory is out */
bool ais_henon_work_new(const ais_henon *henon, const ais_real *weights, size_t lanes, ais_arena *arena,
                        ais_henon_work *work);
/* Takes over weights that changed since. */
void ais_henon_work_set(const ais_henon *henon, ais_henon_work *work);

/* g, g^-1, and M = g^-1 R g with R flip or swap. */
typedef enum ais_henon_direction {
    AIS_HENON_FORWARD,
    AIS_HENON_INVERSE,
    AIS_HENON_FLIP,
    AIS_HENON_SWAP
} ais_henon_direction;

/* From x and y, dim x lanes each, lattice numbers, to z, 2 dim x lanes, which may hold them. */
void ais_henon_lattice(const ais_henon *henon, const ais_henon_work *work, ais_henon_direction direction,
                       const double *x, const double *y, double *z);

/* What a pass in double leaves for backward. */
typedef struct ais_henon_tape ais_henon_tape;
ais_henon_tape *ais_henon_tape_new(const ais_henon *henon, size_t lanes, ais_arena *arena);

/* g or g^-1 in place on z = (x, y), 2 dim x lanes, in double. */
void ais_henon_map(const ais_henon *henon, const ais_real *weights, ais_henon_tape *tape, bool inverse, double *z);

/* After ais_henon_map with the same tape and direction: gradient (2 dim x lanes) is dL/d result and
 * becomes dL/d argument; dL/d weights is added. */
void ais_henon_backward(const ais_henon *henon, const ais_real *weights, ais_henon_tape *tape, bool inverse,
                        double *gradient, ais_real *gradient_weights);

#endif
