/* Perceptrons, forward and backward, over lanes: inputs -> depth hidden layers -> outputs (linear).
 * An activation matrix is units x lanes; lanes is a multiple of AIS_LANES and memory is aligned.
 * Weights lie layer by layer, each W (outputs x inputs, row-major) then b. */
#ifndef AIS_NN_PERCEPTRON_H
#define AIS_NN_PERCEPTRON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "nn/real.h"
#include "simd/isa.h"

typedef struct ais_perceptron {
    int inputs, hidden, depth, outputs; /* depth 0: linear */
    bool tanh;                          /* hidden units: tanh, else relu */
} ais_perceptron;

size_t ais_perceptron_weights(const ais_perceptron *net);

/* Glorot and Bengio's start (2010): W uniform within +-sqrt(6 / (inputs + outputs)), b zero. Networks of one seed are
 * distinguished by `which`. */
void ais_perceptron_draw(const ais_perceptron *net, uint64_t seed, uint32_t which, ais_real *weights);

/* Rows of `tape`, the hidden activations that forward leaves for backward: tape is rows x lanes. */
size_t ais_perceptron_tape(const ais_perceptron *net);

/* out (outputs x lanes) = net(in (inputs x lanes)). */
void ais_perceptron_forward(const ais_perceptron *net, const ais_real *weights, size_t lanes, const ais_real *in,
                            ais_real *tape, ais_real *out);

/* From gradient_out = dL/d out: adds dL/d weights to gradient_weights and writes dL/d in, each unless
 * it is NULL. work is 2 * hidden x lanes. */
void ais_perceptron_backward(const ais_perceptron *net, const ais_real *weights, size_t lanes, const ais_real *in,
                             const ais_real *tape, const ais_real *gradient_out, ais_real *work, ais_real *gradient_in,
                             ais_real *gradient_weights);

#endif
