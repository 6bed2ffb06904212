/* Which coordinates may govern the others, found at once by linear least squares: a sieve before the fit of curves,
 * which takes a thousand times as long. */
#ifndef AIS_FIT_GOVERNOR_H
#define AIS_FIT_GOVERNOR_H

#include <stddef.h>

/* score[i] is the lower, the more coordinate i explains of the others' slopes: the sum over them of the log of what is
 * left of each. Of a normal density slope = -(x - place) / width^2, so that places and widths that change with v show
 * as terms v, v^2, x v and x v^2 beyond a constant and x. u and slope: dim x stride numbers of which n are used; work:
 * n numbers. */
void ais_governor_scores(size_t dim, size_t n, size_t stride, const double *u, const double *slope, double *work,
                         double *score);

#endif
