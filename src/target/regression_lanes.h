/* Logistic regression: the data in two layouts and the bodies that read them.
 *
 * Every covariate carries the sign 1 - 2 label, so that with z = x.w the log likelihood is
 * -sum log(1 + exp(z)) = -sum max(z, 0) - sum log(1 + exp(-|z|)), which is stable. The second sum
 * is taken as the logarithm of a product over up to AIS_PRODUCT_ROWS rows: each factor is at most 2. */
#ifndef AIS_TARGET_REGRESSION_LANES_H
#define AIS_TARGET_REGRESSION_LANES_H

#include "simd/isa.h"

enum {
    AIS_TILE_ROWS = 32,     /* rows are padded with zeros to a multiple of this */
    AIS_PRODUCT_ROWS = 512, /* a multiple of it */
    AIS_NEAR_MOST = 32,     /* near points are those with |z| below it in all rows */
};

typedef struct ais_regression {
    int dim;
    size_t rows, padded;
    /* For many chains: groups of 4 rows, in a group dim x 4; times 1 / log 2, so that powers of two are taken. */
    const double *by_group;
    /* For one chain: dim x padded. */
    const double *by_column;
    const double *half_sum; /* dim: half the sum of all rows */
    double near_square;     /* |w|^2 up to which no |z| is above AIS_NEAR_MOST */
    double half_precision;  /* of the prior: 0.5 / prior^2 */
    double constant;        /* of the prior */
} ais_regression;

AIS_DECLARE_LANES(void, ais_regression_block, const void *regression, size_t count, size_t stride, const double *w,
                  double *logp);

/* One point; gradient may be NULL. */
AIS_DECLARE_LANES(double, ais_regression_point, const ais_regression *regression, const double *w, double *gradient);

#endif
