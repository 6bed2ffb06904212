/* Where chains of a learned kernel begin when nobody says where. */
#ifndef AIS_SAMPLER_STARTS_H
#define AIS_SAMPLER_STARTS_H

#include <aisampler/kernel.h>

/* chains x dim, row-major, released by free(): draws T^-1(v) of a kernel whose proposals are independent. From anywhere
 * else, say from where the density is far below what the map makes likely, such a chain would stay for long. NULL for
 * other kernels, and when one of the draws has no density: chains then begin where the target says. */
double *ais_own_starts(const ais_target *target, const ais_kernel *kernel, uint64_t seed, int chains);

#endif
