/* Poisson regression: log p = constant - prior + t.w - sum exp(x.w), t being the sum of the rows times their counts. */
#ifndef AIS_TARGET_POISSON_LANES_H
#define AIS_TARGET_POISSON_LANES_H

#include "simd/isa.h"

typedef struct ais_poisson {
    int dim;
    size_t rows;
    const double *covariate;      /* rows x dim */
    const double *total;          /* t: dim values */
    const double *half_precision; /* of the coefficients' priors */
    double constant;
} ais_poisson;

AIS_DECLARE_LANES(void, ais_poisson_block, const void *poisson, size_t count, size_t stride, const double *w,
                  double *logp);

/* One point; gradient may be NULL. */
AIS_DECLARE_LANES(double, ais_poisson_point, const ais_poisson *poisson, const double *w, double *gradient);

#endif
