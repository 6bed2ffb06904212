/* Linear regression: what is left of the data after a QR decomposition. With X = QR and c = Q'y the residual sum of
 * squares is |Rw - c|^2 + rest: rows cost nothing, and nothing cancels. */
#ifndef AIS_TARGET_LINEAR_LANES_H
#define AIS_TARGET_LINEAR_LANES_H

#include "simd/isa.h"

typedef struct ais_linear {
    int columns; /* coefficients; the parameter behind them is log sigma */
    double rows;
    const double *factor; /* R: columns x columns, upper triangular, row-major */
    const double *goal;   /* c: columns values */
    double rest;
    const double *half_precision; /* of the coefficients' priors */
    double constant;
} ais_linear;

AIS_DECLARE_LANES(void, ais_linear_block, const void *linear, size_t count, size_t stride, const double *x,
                  double *logp);

#endif
