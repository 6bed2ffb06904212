/* exp of numbers that are not positive over a vector of network arithmetic, for *_lanes.c. */
#ifndef AIS_NN_EXP_H
#define AIS_NN_EXP_H

#include "nn/real.h"
#include "simd/doubles.h"

#ifdef AIS_REAL_IS_DOUBLE

typedef ais_doubles ais_reals;
AIS_INLINE ais_reals ais_spread_real(ais_real value) { return ais_spread_double(value); }
AIS_INLINE ais_reals ais_max_real(ais_reals a, ais_reals b) { return ais_max_double(a, b); }
AIS_INLINE ais_reals ais_exp_real(ais_reals x) { return ais_exp_below(x); }

#else

typedef ais_floats ais_reals;
AIS_INLINE ais_reals ais_spread_real(ais_real value) { return ais_spread(value); }
AIS_INLINE ais_reals ais_max_real(ais_reals a, ais_reals b) { return ais_max(a, b); }

/* To 1.5e-7; the smallest normal numbers below -87, a NaN passes. With n = round(x / ln 2), r = x - n ln 2: 2^n times
 * a polynomial of degree 6 in r, fitted to 2.6e-9. Half the time of libmvec's, which is called. */
AIS_INLINE ais_reals ais_exp_real(ais_reals x) {
    const ais_floats magic = ais_spread(0x1.8p23F);
    ais_floats bounded = ais_max(ais_spread(-87), x);
    ais_floats shifted = ais_fma(bounded, ais_spread(0x1.715476p+0F), magic), n = shifted - magic;
    ais_floats r = ais_fma(n, ais_spread(-0x1.62e4p-1F), bounded);
    r = ais_fma(n, ais_spread(-0x1.7f7d1cp-20F), r);
    ais_floats sum = ais_spread(1.3941213100e-3F);
    sum = ais_fma(sum, r, ais_spread(8.3752102009e-3F));
    sum = ais_fma(sum, r, ais_spread(4.1666351638e-2F));
    sum = ais_fma(sum, r, ais_spread(1.6666414507e-1F));
    sum = ais_fma(sum, r, ais_spread(5.0000000474e-1F));
    sum = ais_fma(sum, r, ais_spread(1.0000000379F));
    sum = ais_fma(sum, r, ais_spread(1));
    return (ais_floats)((ais_ints)sum + ((ais_ints)shifted << 23)); /* n, in the low bits of shifted, as exponent */
}

#endif

enum { AIS_REALS = (int)(sizeof(ais_reals) / sizeof(ais_real)) };

#endif
