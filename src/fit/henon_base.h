/* The base density of the henon likelihood: on w = z exp(-S), S one learnable number per coordinate, a
 * mixture of two generalised gaussians in the radius,
 *     q(w) = sum_k a_k exp(-(|w|^2 / 2 s_k^2)^b_k) / Z_k.
 * A map of volume 1 can bend p(x) N(v) into shape but not change how much volume lies at which density:
 * that profile is the base's to learn. q is symmetric under `flip` for every S. */
#ifndef AIS_FIT_HENON_BASE_H
#define AIS_FIT_HENON_BASE_H

#include <stddef.h>

#include "nn/real.h"

enum { AIS_BASE_PARTS = 2 };

/* Parameters: log b_k, log s_k, the logits of a_k, then S. */
static inline size_t ais_henon_base_weights(int coordinates) { return 3 * AIS_BASE_PARTS + (size_t)coordinates; }
void ais_henon_base_init(int coordinates, ais_real *base);

/* Returns the sum over lanes of scale * -(log q(z exp(-S)) - sum S), the negative log likelihood of z
 * (coordinates x lanes) itself; adds its gradients by z and by the parameters. Each may be NULL. */
double ais_henon_base_loss(int coordinates, const ais_real *base, size_t lanes, const double *z, double scale,
                           double *gradient_z, ais_real *gradient_base);

#endif
