/* Looking for modes: optimisations from all over the search region, then a screen of many points
 * for what the modes known so far do not explain. */
#ifndef AIS_TRAINER_SEARCH_H
#define AIS_TRAINER_SEARCH_H

#include "trainer/components.h"
#include "trainer/lbfgs.h"

typedef struct ais_search {
    ais_evaluator *evaluator;
    uint64_t seed;
    double scale;          /* s of the search region N(0, s^2 I) */
    int most;              /* modes that are kept */
    ais_components *modes; /* room for at least 2 most */
    uint64_t step;         /* of the random numbers: goes up with every use */
    int runs, stuck, fled; /* optimisations: how many, and how they failed */
    long screened;         /* points of the region */
    long *hits;            /* per mode: screened points of the region that it explains best */
    double *peak;          /* the highest end of any optimisation, converged or not */
    double peak_logp;
    double lowest, highest; /* finite log densities seen in the region */
    bool reordered;         /* modes were dropped, so that places in the list have changed */
    long outside;           /* points of the region with density zero */
} ais_search;

/* n points of the region, a pure function of (seed, step): the first half on random directions with
 * log-uniform radius in [s/2, s sqrt(dim)], the others from N(0, s^2 I). */
void ais_search_points(uint64_t seed, uint64_t step, size_t n, int dim, double scale, double *x);

/* Takes memory and sets up the list of modes. */
ais_status ais_search_new(ais_search *search, ais_evaluator *evaluator, uint64_t seed, double scale, int most,
                          ais_components *modes, ais_arena *arena);

/* Optimises from `runs` points of the region with positive density, and adds the modes. An error
 * when no such point was found. */
ais_status ais_search_begin(ais_search *search, int runs);

/* Screens `points` points at first, up to `limit` in all while a relevant mode has fewer than 5 hits:
 * points of the region, modes with some coordinates redrawn, and, where all modes lie near 0 for the size
 * of the region, points of a smaller one that just holds them. */
ais_status ais_search_screen(ais_search *search, long points, long limit);

/* The largest root mean square of a coordinate under the fit of any relevant mode; 0 without modes. */
double ais_search_extent(const ais_search *search);

/* Of the modes, those whose evidence is at least 1e-3 of the largest. */
bool ais_search_relevant(const ais_search *search, int k);

#endif
