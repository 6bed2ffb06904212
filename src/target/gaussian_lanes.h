/* A normal with a given spectrum, turned: the data and the batch body. */
#ifndef AIS_TARGET_GAUSSIAN_LANES_H
#define AIS_TARGET_GAUSSIAN_LANES_H

#include "simd/isa.h"

enum { AIS_REFLECTIONS = 8 };

/* Covariance Q diag(eigenvalue) Q', where Q = I - V T V' is a product of `reflections` Householder
 * reflections in compact form: applying it costs dim x reflections and needs no memory. */
typedef struct ais_gaussian {
    int dim, reflections;
    double constant;                            /* log p at 0 */
    const double *eigenvalue;                   /* dim */
    const double *half_precision;               /* dim: 0.5 / eigenvalue */
    const double *v;                            /* dim x AIS_REFLECTIONS */
    double t[AIS_REFLECTIONS][AIS_REFLECTIONS]; /* upper triangular */
} ais_gaussian;

AIS_DECLARE_LANES(void, ais_gaussian_block, const void *gaussian, size_t count, size_t stride, const double *x,
                  double *logp);

#endif
