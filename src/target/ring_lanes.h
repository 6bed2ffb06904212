/* Rings around the origin of the plane: the data and the batch body. */
#ifndef AIS_TARGET_RING_LANES_H
#define AIS_TARGET_RING_LANES_H

#include "simd/isa.h"

enum { AIS_RINGS_MOST = 5 };

/* log p = -min_k (r - first - k)^2 / width, k = 0..rings-1 */
typedef struct ais_rings {
    int rings;
    double first, width;
    double mass[AIS_RINGS_MOST];   /* the integral of r exp(log p) nearest to ring k */
    double weight[AIS_RINGS_MOST]; /* mass as a share */
} ais_rings;

AIS_DECLARE_LANES(void, ais_rings_block, const void *rings, size_t count, size_t stride, const double *x, double *logp);

#endif
