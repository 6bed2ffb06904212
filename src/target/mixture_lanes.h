/* Mixtures of isotropic normals: the data and the batch body. */
#ifndef AIS_TARGET_MIXTURE_LANES_H
#define AIS_TARGET_MIXTURE_LANES_H

#include "simd/isa.h"

enum { AIS_MIXTURE_MOST = 8 };

typedef struct ais_mixture {
    int dim, components;
    double weight[AIS_MIXTURE_MOST];
    double sd[AIS_MIXTURE_MOST];
    double constant[AIS_MIXTURE_MOST]; /* log(weight / (sd sqrt(2 pi))^dim) */
    double half_precision[AIS_MIXTURE_MOST];
    /* constant and -half_precision in units of log 2; -inf and 0 of components that there are not */
    double power[AIS_MIXTURE_MOST], factor[AIS_MIXTURE_MOST];
    bool direct;                       /* no power is above 900, so that sums of powers of 2 stay finite */
    double plane[2][AIS_MIXTURE_MOST]; /* in the plane: the centres, coordinate by coordinate */
    double mode_weight[AIS_MIXTURE_MOST];
    const double *centre; /* components x dim */
} ais_mixture;

AIS_DECLARE_LANES(void, ais_mixture_block, const void *mixture, size_t count, size_t stride, const double *x,
                  double *logp);
/* A point in the plane that is alone: the same number for less. */
AIS_DECLARE_LANES(double, ais_mixture_plane, const ais_mixture *mixture, const double *x);

#endif
