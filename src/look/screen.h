/* A screen: points with their log densities, judged against the modes known so far. */
#ifndef AIS_LOOK_SCREEN_H
#define AIS_LOOK_SCREEN_H

#include "look/modes.h"

typedef struct ais_screen {
    size_t n, region; /* points; the first `region` of them are spread over the search region */
    size_t dim;
    double *x, *logp; /* n x dim, n */
    int *origin;      /* n: the mode that most of its coordinates are of, or -1 */
    int *mode;        /* n: which mode explains the point best */
    double *distance; /* n: the square of its distance from there, in that mode's sd */
    double *expected; /* n: log p as the mode's normal has it */
    double *odd;      /* n: how far above the usual log p lies, in units of what is usual */
    bool *used;       /* n: an optimisation has begun here */
    bool *summit;     /* n: higher than its neighbours, which in few dimensions are near enough to tell */
    bool surveyed;    /* the summits are known */
    bool even;        /* points that have an origin lie evenly in planes */
    struct screen_place *order;
    double *room;
} ais_screen;

/* False when memory is out. */
bool ais_screen_take(ais_screen *screen, ais_arena *arena, size_t n, size_t region, int dim);

/* Fills mode, distance, expected and odd. A point is odd (above 1) when log p lies above what its
 * mode predicts by 1 + 0.02 |prediction|, or off the median of what lies at about the same distance
 * of the same mode: the second sees narrow modes in the tails of a wide one that are not normal. */
void ais_screen_judge(ais_screen *screen, const ais_modes *modes, ais_pool *pool);

/* Finds the summits, in up to three dimensions. */
void ais_screen_summits(ais_screen *screen, ais_pool *pool);

/* The least number of points of the region that should hit a mode: enough that another mode like it would have been
 * hit. A summit has neighbours; where points lie evenly, about as many as expected. */
long ais_screen_enough(int dim, bool even);

/* Up to `most` odd points that were not used, into x: where the summits are known those alone, the highest first; else
 * half of them the oddest, half at random. */
int ais_screen_pick(ais_screen *screen, const ais_stream *stream, int most, double *x);

/* Adds, per mode, the points that it explains best and that others led to, those that lie evenly twice; where summits
 * are known, those of the region that are nearest to it, in these units: a mode whose fit is narrow beside others' is
 * not a rare one for that. */
void ais_screen_hits(const ais_screen *screen, const ais_modes *modes, const double *unit, long *hits);

#endif
