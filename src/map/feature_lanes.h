/* What a conditioner sees of the coordinates that its layer keeps: c_i, or with quadratic features
 * also c_i c_j for i <= j. */
#ifndef AIS_MAP_FEATURE_LANES_H
#define AIS_MAP_FEATURE_LANES_H

#include <stdbool.h>

#include "nn/real.h"
#include "simd/isa.h"

/* Quadratic: c_i times the first, c_i c_j (less 1 where i = j) times the second, so that one learning
 * rate suits conditioners of both kinds. The second is the square of the first. */
#define ais_linear_feature    0.3
#define ais_quadratic_feature 0.09

static inline int ais_feature_count(bool quadratic, int kept) {
    return quadratic ? kept + kept * (kept + 1) / 2 : kept;
}

/* z: coordinates x lanes, of which index names the kept ones; feature: features x lanes. */
AIS_DECLARE_LANES(void, ais_flow_features, bool quadratic, int kept, const int *index, size_t lanes, const double *z,
                  ais_real *feature);

/* Adds to the gradient of the kept coordinates. */
AIS_DECLARE_LANES(void, ais_flow_features_backward, bool quadratic, int kept, const int *index, size_t lanes,
                  const ais_real *feature, const ais_real *gradient_feature, double *gradient);

#endif
