/* tanh in single precision over a vector, for *_lanes.c. */
#ifndef AIS_NN_TANH_H
#define AIS_NN_TANH_H

#include "simd/vector.h"

/* x P(x^2) / Q(x^2), fitted to a relative error of 2.3e-8 up to 9.1, where tanh is 1 in single precision;
 * 4e-7 with rounding. Several times faster than libmvec's. A NaN passes. */
AIS_INLINE ais_floats ais_tanh(ais_floats x) {
    ais_floats bounded = ais_max(ais_spread(-9.1F), ais_min(ais_spread(9.1F), x)), t = bounded * bounded;
    ais_floats p = ais_spread(1.3175940027e-8F), q = ais_spread(7.7033975157e-7F);
    p = ais_fma(p, t, ais_spread(2.0480047538e-5F));
    p = ais_fma(p, t, ais_spread(3.4877431116e-3F));
    p = ais_fma(p, t, ais_spread(1.3374418853e-1F));
    p = ais_fma(p, t, ais_spread(9.9999997740e-1F));
    q = ais_fma(q, t, ais_spread(3.2728079169e-4F));
    q = ais_fma(q, t, ais_spread(2.5847132546e-2F));
    q = ais_fma(q, t, ais_spread(4.6707732714e-1F));
    q = ais_fma(q, t, ais_spread(1.0F));
    ais_floats result = bounded * p / q;
    return ais_max(ais_spread(-1.0F), ais_min(ais_spread(1.0F), result));
}

#endif
