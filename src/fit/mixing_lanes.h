/* The features f of the mixing term at points x (dim x lanes): x_i, x_i^2, plane waves cos(frequency . x + phase) and
 * ripples cos(pitch |x - centre| + start), which tell shells apart that plane waves do not see. */
#ifndef AIS_FIT_MIXING_LANES_H
#define AIS_FIT_MIXING_LANES_H

#include "simd/isa.h"

typedef struct ais_feature_set {
    int dim, waves, ripples;
    double *frequency; /* waves x dim */
    double *phase;     /* waves */
    double *pitch;     /* ripples */
    double *start;     /* ripples */
    double *centre;    /* dim */
} ais_feature_set;

static inline int ais_feature_count(const ais_feature_set *set) { return 2 * set->dim + set->waves + set->ripples; }

/* f: features x lanes */
AIS_DECLARE_LANES(void, ais_features, const ais_feature_set *set, size_t lanes, const double *x, double *f);
/* adds (df/dx)^T gradient_f to gradient_x */
AIS_DECLARE_LANES(void, ais_features_backward, const ais_feature_set *set, size_t lanes, const double *x,
                  const double *gradient_f, double *gradient_x);

#endif
