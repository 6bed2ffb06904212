/* Which coordinates may govern which others, found at once by linear least squares: a sieve before the fit of curves,
 * which takes a thousand times as long. */
#ifndef AIS_FIT_GOVERNOR_H
#define AIS_FIT_GOVERNOR_H

#include <stddef.h>

/* gain[i * dim + j] is the lower, the more coordinate i explains of j's slopes: the log of what it leaves of them. Of a
 * normal density slope = -(x - place) / width^2, so that places and widths that change with v show as terms v, v^2, x v
 * and x v^2 beyond a constant and x. u and slope: dim x stride numbers of which n are used; work: n numbers. */
void ais_governor_gains(size_t dim, size_t n, size_t stride, const double *u, const double *slope, double *work,
                        double *gain);

/* Pairs, the strongest first, of a coordinate that governs and one that is governed, none being both; as long as a pair
 * explains more than its terms would of noise in n points. governor[j]: of coordinate j, or j itself where it has none;
 * governed[i]: how many i governs. Returns how many coordinates govern others. */
size_t ais_governor_pairs(size_t dim, size_t n, const double *gain, size_t *governor, size_t *governed);

#endif
