/* Discriminators d(z) = d(z, Mz) with d(Mz) = -d(z) whatever the weights are (C2-equivariance), forward
 * and backward over lanes.
 *     product   d = psi(z + Mz) [eta(Mz) - eta(z)], psi and eta perceptrons
 *     general   layers (a, b) -> (s(A a + B b + c), s(B a + A b + c)) on the pair (Mz, z), then the
 *               antisymmetric read-out w (a - b)
 * Exchanging z and Mz exchanges operands of commutative sums or whole columns of arithmetic, so the
 * law holds to the last bit. */
#ifndef AIS_FIT_DISCRIMINATOR_H
#define AIS_FIT_DISCRIMINATOR_H

#include <stdint.h>

#include "base/arena.h"
#include "nn/perceptron.h"

typedef enum ais_discriminator_form { AIS_PRODUCT, AIS_GENERAL } ais_discriminator_form;

typedef struct ais_discriminator {
    ais_discriminator_form form;
    int inputs; /* of z: 2 dim */
    int hidden, depth;
    bool tanh;          /* else relu */
    ais_perceptron net; /* product: psi and eta, which have weights of their own */
    size_t weights;
} ais_discriminator;

/* hidden 0: 32 up to two dimensions, else 128; depth 0: 3 hidden layers. */
void ais_discriminator_build(ais_discriminator *discriminator, ais_discriminator_form form, int dim, int hidden,
                             int depth, bool tanh);

/* Random weights. Those of psi start near the constant 1, where d is eta's difference, the form of a
 * true log ratio. */
void ais_discriminator_draw(const ais_discriminator *discriminator, uint64_t seed, ais_real *weights);

typedef struct ais_discriminator_tape ais_discriminator_tape;
ais_discriminator_tape *ais_discriminator_tape_new(const ais_discriminator *discriminator, size_t lanes,
                                                   ais_arena *arena);

/* value (lanes) = d; z and image = Mz are inputs x lanes. */
void ais_discriminator_forward(const ais_discriminator *discriminator, const ais_real *weights,
                               ais_discriminator_tape *tape, const double *z, const double *image, double *value);

/* After forward with the same tape, from dL/dd (lanes): adds dL/d weights, and writes dL/dz and dL/d image
 * (each inputs x lanes, each may be NULL). gradient_weights may be NULL. */
void ais_discriminator_backward(const ais_discriminator *discriminator, const ais_real *weights,
                                ais_discriminator_tape *tape, const double *gradient_value, double *gradient_z,
                                double *gradient_image, ais_real *gradient_weights);

/* The discriminator's loss at d and its derivative: r log r as printed, or log(1 + e^d). */
typedef enum ais_discriminator_loss { AIS_LOGISTIC, AIS_RLOGR } ais_discriminator_loss;
double ais_discriminator_loss_at(ais_discriminator_loss loss, double d, double *slope);

#endif
