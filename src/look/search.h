/* Looking for modes: optimisations from all over the search region, then a screen of many points
 * for what the modes known so far do not explain. */
#ifndef AIS_LOOK_SEARCH_H
#define AIS_LOOK_SEARCH_H

#include "look/lbfgs.h"
#include "look/modes.h"
#include "look/screened.h"

typedef struct ais_search {
    ais_evaluator *evaluator;
    uint64_t seed;
    double scale;          /* s of the search region N(0, s^2 I) */
    double *unit;          /* dim: how many times as wide coordinates of the region are */
    double *variance;      /* dim: of the highest mode, once there is one */
    int most;              /* modes that are kept */
    ais_modes *modes;      /* room for at least 2 most */
    uint64_t step;         /* of the random numbers: goes up with every use */
    long effort;           /* evaluations after which no further optimisation begins; 0: no limit */
    int runs, stuck, fled; /* optimisations: how many, and how they failed */
    long planes;           /* points of planes through modes that a screen may have */
    long screened;         /* points of the region, or of boxes in it */
    long anywhere;         /* places of the region that were tried: points, and beginnings of optimisations */
    long sparse;           /* modes with coordinates redrawn */
    long *hits;            /* per mode: screened points that it explains best */
    int *group, groups;    /* per mode: which of them no valley divides, and how many such groups there are */
    bool regroup;          /* modes have been added since that was found out */
    double *peak;          /* the highest end of any optimisation, converged or not */
    bool peak_converged;
    double peak_logp;
    double lowest, highest; /* finite log densities seen in the region */
    bool dry;               /* points of the last screen that looked odd led to no further mode */
    bool reordered;         /* modes were dropped, so that places in the list have changed */
    long outside;           /* points of the region with density zero */
    bool weighed;           /* screened points are of densities that are known, and kept as long as there is room */
    int screens;
    ais_screened screen[AIS_SCREENS];
    ais_box box;      /* the last one that was screened; NULL: none */
    ais_arena *arena; /* of them */
} ais_search;

/* n points of the region, a pure function of (seed, step): the first half on random directions with
 * log-uniform radius in [s/2, s sqrt(dim)], the others from N(0, s^2 I), coordinates times unit. */
void ais_search_points(uint64_t seed, uint64_t step, size_t n, int dim, double scale, const double *unit, double *x);

/* Takes memory and sets up the list of modes. */
ais_status ais_search_new(ais_search *search, ais_evaluator *evaluator, uint64_t seed, double scale, int most,
                          ais_modes *modes, ais_arena *arena);

/* Whether another optimisation may begin. */
bool ais_search_goes_on(const ais_search *search);

/* Optimises from `runs` points of the region with positive density, and adds the modes. An error
 * when no such point was found. */
ais_status ais_search_begin(ais_search *search, int runs);

/* Optimises from the rows of x, which become the ends, and adds the modes; *added counts. */
ais_status ais_search_optimise(ais_search *search, int runs, double *x, double *logp, ais_ending *ending, int *added);

/* Screens `points` points at first, up to `limit` in all while a relevant mode has fewer than 5 hits:
 * points of the region, planes of two coordinates through the modes, and, where all modes lie near 0 for the size
 * of the region, points of a smaller one that just holds them. Where they are weighed: points of the region, and then
 * of a box that holds the modes, where those at the region's edge are seen as often as others. */
ais_status ais_search_screen(ais_search *search, long points, long limit);

/* Widens the region, coordinate by coordinate, to hold the relevant modes and more; whether it had to. */
bool ais_search_widen(ais_search *search);

/* Finds out which modes are one, unless it is known of all of them. */
ais_status ais_search_join(ais_search *search);

/* Hits of the least seen group of modes of which one is relevant; 0 where there is none. */
long ais_search_fewest_hits(const ais_search *search);

/* Of the modes, those whose evidence is at least 1e-3 of the largest. */
bool ais_search_relevant(const ais_search *search, int k);

#endif
