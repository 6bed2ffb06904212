/* The reflections R_a of latent space, math.md (30). */
#ifndef AIS_LEARNED_REFLECTION_LANES_H
#define AIS_LEARNED_REFLECTION_LANES_H

#include "simd/isa.h"

/* next = z cos a + v sin a and other = z sin a - v cos a, dim x lanes each, with an angle for every lane. */
AIS_DECLARE_LANES(void, ais_reflect, int dim, size_t lanes, const double *cosine, const double *sine, const double *z,
                  const double *v, double *next, double *other);

#endif
