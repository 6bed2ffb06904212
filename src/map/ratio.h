/* The discriminator of an empirical kernel: a perceptron D(u) on whitened points that estimates log p - log q, q the
 * density of T^-1(v). The log ratio of an independent proposal is D(u') - D(u): antisymmetric whatever the weights. */
#ifndef AIS_MAP_RATIO_H
#define AIS_MAP_RATIO_H

#include "base/arena.h"
#include "nn/perceptron.h"

typedef struct ais_ratio {
    ais_perceptron net;
    size_t count;      /* of weights */
    ais_real *weights; /* NULL: there is no discriminator */
} ais_ratio;

/* The net without weights. */
ais_ratio ais_ratio_shape(int dim, int hidden, int depth);

typedef struct ais_ratio_tape {
    size_t lanes;
    ais_real *in, *gradient_in, *hidden, *out, *work;
} ais_ratio_tape;

/* false when memory is out. */
bool ais_ratio_tape_new(const ais_ratio *ratio, size_t lanes, ais_arena *arena, ais_ratio_tape *tape);

/* value[c] = D(u_c); u is dim x lanes. */
void ais_ratio_forward(const ais_ratio *ratio, const ais_ratio_tape *tape, const double *u, double *value);

/* After forward with the same tape, from dL/d value: adds dL/d weights and, unless it is NULL, writes dL/d u. */
void ais_ratio_backward(const ais_ratio *ratio, const ais_ratio_tape *tape, const double *gradient_value,
                        double *gradient_u, ais_real *gradient_weights);

#endif
