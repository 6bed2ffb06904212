/* The loops of Adam over all weights. */
#ifndef AIS_NN_ADAM_LANES_H
#define AIS_NN_ADAM_LANES_H

#include "nn/real.h"
#include "simd/isa.h"

typedef struct ais_adam_call {
    ais_real keep1, keep2; /* of the moments */
    ais_real scale;        /* of the gradient */
    ais_real rate, unbias; /* the first moment's correction is in the rate */
    const ais_real *share; /* of the rate, per weight; NULL: 1 */
    const ais_real *gradient;
    ais_real *m, *v;
} ais_adam_call;

/* weights -= rate share m / (sqrt(unbias v) + 1e-8), m and v having taken the gradient in. */
AIS_DECLARE_LANES(void, ais_adam_update, const ais_adam_call *call, size_t count, ais_real *weights);
/* The sum of squares. */
AIS_DECLARE_LANES(double, ais_adam_square, const ais_real *gradient, size_t count);

#endif
