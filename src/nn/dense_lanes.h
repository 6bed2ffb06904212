/* One dense layer over lanes: the inner loops of every network. Of the first and the fourth `lanes` may be 1: a point
 * alone, whose sums are taken in another order. */
#ifndef AIS_NN_DENSE_LANES_H
#define AIS_NN_DENSE_LANES_H

#include <stdbool.h>

#include "nn/real.h"
#include "simd/isa.h"

/* out (outputs x lanes) = W in + b. */
AIS_DECLARE_LANES(void, ais_dense, int inputs, int outputs, size_t lanes, const ais_real *weights, const ais_real *bias,
                  const ais_real *in, ais_real *out);
/* in place, n values, a multiple of AIS_LANES; aligned */
AIS_DECLARE_LANES(void, ais_activate, bool tanh, size_t n, ais_real *value);
/* leaky units: below 0 `leak` times the value; and gradient times the derivative at such a unit */
AIS_DECLARE_LANES(void, ais_leak, ais_real leak, size_t n, ais_real *value);
AIS_DECLARE_LANES(void, ais_leak_gradient, ais_real leak, size_t n, const ais_real *value, ais_real *gradient);
/* gradient *= derivative at the activated value */
AIS_DECLARE_LANES(void, ais_deactivate, bool tanh, size_t n, const ais_real *value, ais_real *gradient);
/* gradient_in (inputs x lanes) = W^T gradient_out */
AIS_DECLARE_LANES(void, ais_dense_transposed, int inputs, int outputs, size_t lanes, const ais_real *weights,
                  const ais_real *gradient_out, ais_real *gradient_in);
/* gradient_weights += gradient_out in^T, gradient_bias += sum of gradient_out over lanes */
AIS_DECLARE_LANES(void, ais_dense_gradient, int inputs, int outputs, size_t lanes, const ais_real *in,
                  const ais_real *gradient_out, ais_real *gradient_weights, ais_real *gradient_bias);
/* to (columns x rows) = from (rows x columns) transposed; both counts are multiples of AIS_LANES and memory is aligned.
 */
AIS_DECLARE_LANES(void, ais_transpose, size_t rows, size_t columns, const ais_real *from, ais_real *to);

#endif
