/* exp of numbers that are not positive over a vector of network arithmetic, for *_lanes.c. */
#ifndef AIS_NN_EXP_H
#define AIS_NN_EXP_H

#include "nn/real.h"
#include "simd/doubles.h"

#ifdef AIS_REAL_IS_DOUBLE

typedef ais_doubles ais_reals;
AIS_INLINE ais_reals ais_spread_real(ais_real value) { return ais_spread_double(value); }
AIS_INLINE ais_reals ais_max_real(ais_reals a, ais_reals b) { return ais_max_double(a, b); }

/* To 2 units in the last place; 0 below -708, a NaN passes. Half the time of libmvec's, which is called and takes any
 * argument. With n = round(x / ln 2), r = x - n ln 2, |r| <= ln 2 / 2: 2^n times the Taylor polynomial of exp(r) to
 * r^12 / 12!, whose rest is below 2^-55. */
AIS_INLINE ais_reals ais_exp_real(ais_reals x) {
    const ais_doubles magic = ais_spread_double(0x1.8p52);
    ais_doubles bounded = ais_max_double(ais_spread_double(-708), x);
    ais_doubles shifted = ais_fma_double(bounded, ais_spread_double(0x1.71547652b82fep+0), magic), n = shifted - magic;
    ais_doubles r = ais_fma_double(n, ais_spread_double(-0x1.62e42fefa3800p-1), bounded);
    r = ais_fma_double(n, ais_spread_double(-0x1.ef35793c76730p-45), r);
    /* 1 / k!, k = 0 to 12; taken in pairs, pairs of pairs and so on, so that few wait for one another */
    static const double factor[] = {
        1,          1,           1.0 / 2,      1.0 / 6,       1.0 / 24,       1.0 / 120,      1.0 / 720,
        1.0 / 5040, 1.0 / 40320, 1.0 / 362880, 1.0 / 3628800, 1.0 / 39916800, 1.0 / 479001600};
    ais_doubles square = r * r, fourth = square * square, pair[6];
    for (int k = 0; k < 6; k++)
        pair[k] = ais_fma_double(ais_spread_double(factor[2 * k + 1]), r, ais_spread_double(factor[2 * k]));
    for (int k = 0; k < 6; k += 2) pair[k] = ais_fma_double(pair[k + 1], square, pair[k]);
    pair[0] = ais_fma_double(pair[2], fourth, pair[0]);
    pair[4] = ais_fma_double(ais_spread_double(factor[12]), fourth, pair[4]);
    ais_doubles sum = ais_fma_double(pair[4], fourth * fourth, pair[0]);
    ais_words power = (ais_words)shifted << 52; /* n, in the low bits of shifted, into the exponent */
    ais_words result = (ais_words)sum + power, under = (ais_words)(x < ais_spread_double(-708));
    return (ais_doubles)(result & ~under);
}

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
