/* A mixture of multivariate Student-t's or normals, math.md (32): it can be drawn from, and says its log density,
 * normalised, at many points at once. Component k is m_k + F_k z sqrt(freedom / chi^2), z ~ N(0, I); without the root
 * when freedom is infinite. */
#ifndef AIS_MAP_COMPONENTS_H
#define AIS_MAP_COMPONENTS_H

#include <stdbool.h>

#include "base/arena.h"
#include "base/pool.h"
#include "base/random.h"
#include "base/status.h"

enum { AIS_COMPONENTS_MOST_DIM = 4096 };

typedef struct ais_components {
    int dim, count, room;
    double freedom;     /* degrees of freedom of all components, above 0; INFINITY: normals. 5 when new */
    double *mean;       /* room x dim */
    double *factor;     /* room x dim x dim: F, row-major */
    double *whiten;     /* room x dim x dim: F^-1 */
    double *log_volume; /* room: log|det F| */
    double *weight;     /* room; sums to 1 after ais_components_weigh */
    double *log_scale;  /* room: all of a component's log density that does not depend on the point */
} ais_components;

/* False when memory is out. */
bool ais_components_take(ais_components *components, ais_arena *arena, int dim, int room);

/* Both put a component into place k, which is count for a new one; ais_components_weigh is due afterwards. What cannot
 * be changes nothing. By orthonormal axes (row j is axis j) with a standard deviation along each; false when there is
 * no such place or an sd is not positive and finite: */
bool ais_components_set_axes(ais_components *components, int k, const double *mean, const double *sd,
                             const double *axis);
/* By F, which has to be invertible; there is such a place. */
ais_status ais_components_set_factor(ais_context *context, ais_components *components, int k, const double *mean,
                                     const double *factor);

/* All components of `from`, for which there is room, weights and freedom included. */
void ais_components_copy(ais_components *components, const ais_components *from);

/* Keeps the `count` places that `places` names, which rise. */
void ais_components_keep(ais_components *components, int count, const int *places);

/* Divides the weights by their sum and computes what log q rests on: after any change, before log q and draws. */
void ais_components_weigh(ais_components *components);

/* (x - m)' C^-1 (x - m) of component k, C = F F'; anything above limit once it is above. */
double ais_components_distance(const ais_components *components, int k, const double *x, double limit);

/* What a point at this distance counts for in a component's mean and covariance, in EM: a t makes little of far ones.
 */
double ais_components_pull(const ais_components *components, double distance);

/* ---- points in rows, n x dim ------------------------------------------------------------------- */

/* Draw i of n (row i of x), a pure function of (seed, step, i, n): components are taken in order and
 * in proportion (systematic), so that mode weights have no noise of their own. */
void ais_components_draw(const ais_components *components, uint64_t seed, uint64_t step, size_t n, double *x,
                         ais_pool *pool);

/* An independent draw. It takes all numbers of the stream, and of the same with the purpose AIS_FOR_RADIUS. */
void ais_components_draw_one(const ais_components *components, const ais_stream *stream, double *x);

/* log q of n rows. share, or NULL: n x count, every component's share of q. */
void ais_components_logq(const ais_components *components, size_t n, const double *x, double *logq, double *share,
                         ais_pool *pool);

/* ---- points in lanes, dim x lanes -------------------------------------------------------------- */

typedef struct ais_components_work {
    double *normal;                    /* dim x lanes */
    double *choice, *radius, *uniform; /* lanes */
    double *point;                     /* 2 dim */
    double *tile;                      /* dim x AIS_LANES */
} ais_components_work;

/* False when memory is out. */
bool ais_components_work_take(ais_components_work *work, ais_arena *arena, int dim, size_t lanes);

/* The first `chains` lanes: lane c gets the draw that ais_components_draw_one gives the stream of chain c. */
void ais_components_draw_lanes(const ais_components *components, const ais_stream *stream, size_t chains, size_t lanes,
                               const ais_components_work *work, double *x);

/* log q of the first `chains` lanes. */
void ais_components_logq_lanes(const ais_components *components, size_t chains, size_t lanes,
                               const ais_components_work *work, const double *x, double *logq);

#endif
