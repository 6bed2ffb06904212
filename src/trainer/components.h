/* A mixture of Student-t's with 5 degrees of freedom, each around a mode: mean m, orthonormal axes
 * e_j with a standard deviation along each, and the log density at the mode. */
#ifndef AIS_TRAINER_COMPONENTS_H
#define AIS_TRAINER_COMPONENTS_H

#include <stdbool.h>

#include "base/arena.h"
#include "base/pool.h"
#include "base/random.h"

enum { AIS_FREEDOM = 5 };

typedef struct ais_components {
    int dim, count, room;
    double *mean;    /* room x dim */
    double *axis;    /* room x dim x dim; row j of a component is e_j */
    double *sd;      /* room x dim */
    double *whiten;  /* room x dim x dim; row j is e_j / sd_j */
    double *height;  /* room: log p at the mean */
    double *log_sd;  /* room: the sum of the logarithms of sd */
    double *weight;  /* room; sums to 1 once set */
    bool *unbounded; /* room: the density does not fall along some axis, as far as was looked */
} ais_components;

/* False when memory is out. */
bool ais_components_take(ais_components *components, ais_arena *arena, int dim, int room);

/* Puts a component into place k, which is count for a new one; false when sd is not positive and finite. */
bool ais_components_set(ais_components *components, int k, const double *mean, double height, const double *sd,
                        const double *axis, bool unbounded);

/* Keeps the `count` places that `places` names, which rise. */
void ais_components_keep(ais_components *components, int count, const int *places);

/* ((x - m)' C^-1 (x - m)) of component k; anything above limit once it is above. */
double ais_components_distance(const ais_components *components, int k, const double *x, double limit);

/* The logarithm of the integral of the normal density that touches log p at the mean. */
double ais_components_evidence(const ais_components *components, int k);

/* weight = 0.9 evidence, normalised, + 0.1 / count. */
void ais_components_weigh(ais_components *components);

/* Draw i of n (row i of x), a pure function of (seed, step, i, n): components are taken in order and
 * in proportion (systematic), so that mode weights have no noise of their own. */
void ais_components_draw(const ais_components *components, uint64_t seed, uint64_t step, size_t n, double *x,
                         ais_pool *pool);

/* An independent draw from one stream (purpose AIS_FOR_MIXTURE is the caller's to set). */
void ais_components_draw_one(const ais_components *components, const ais_stream *stream, double *x);

/* log q of n rows. share, or NULL: n x count, every component's share of q. */
void ais_components_logq(const ais_components *components, size_t n, const double *x, double *logq, double *share,
                         ais_pool *pool);

#endif
