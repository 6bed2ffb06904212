/* Where chains with independent proposals start by default. */
#ifndef AIS_SAMPLER_STARTS_H
#define AIS_SAMPLER_STARTS_H

#include <aisampler/kernel.h>

enum { AIS_OWN_STARTS = 4 }; /* for every chain: the first of them inside the support is taken */

/* AIS_OWN_STARTS x chains x dim, row-major, released by free(): draws of a kernel whose proposals are independent, from
 * a map or a mixture. A chain that starts elsewhere, say where the density is far below what the proposals make likely,
 * would stay for long. NULL for other kernels, and if a draw is not finite: chains then start from the target's start
 * distribution. The density is not evaluated. */
double *ais_own_starts(const ais_target *target, const ais_kernel *kernel, uint64_t seed, int chains);

#endif
