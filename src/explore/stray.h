/* Chains that are where next to no mass is. Exploring begins all over the region, and a chain may stay for long in a
 * mode that has e^-50 of the mass: taken for draws of p, its points would spoil whatever is fitted to them. */
#ifndef AIS_EXPLORE_STRAY_H
#define AIS_EXPLORE_STRAY_H

#include <stdbool.h>
#include <stddef.h>

/* The draws of some chains, each cut into pieces. A piece that were it all of a normal density had less than
 * e^-(10 + dim/2) of the mass of another such one is stray. state: dim x chains x draws; logp: chains x draws.
 * stray: chains x pieces. Returns the chain that ends in the piece with most mass. Where log p alone is lower a piece
 * need not be: the wide part of a funnel is not. */
int ais_find_stray(int dim, int chains, int draws, int pieces, const double *state, const double *logp, bool *stray);

#endif
