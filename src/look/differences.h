/* A gradient for a target that has none: forward differences of its log density, all points of one gradient in one
 * batch. A trajectory that follows them is reversible as any other, so that chains stay exact; fits follow them as
 * they follow gradients. What is gained is paid for: dim + 1 evaluations each. */
#ifndef AIS_LOOK_DIFFERENCES_H
#define AIS_LOOK_DIFFERENCES_H

#include <aisampler/target.h>

typedef struct ais_differences {
    const ais_target *target;
    double *step; /* dim: of each coordinate, small beside the width of the density along it */
} ais_differences;

/* The target with a gradient. *differences must outlive it. */
ais_target ais_target_differences(ais_differences *differences);

/* Evaluations of one gradient. */
long ais_differences_price(const ais_target *target);

#endif
