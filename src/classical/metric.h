/* The Euclidean metric of HMC and NUTS: kinetic energy p' S p / 2 with S the inverse mass matrix, an
 * estimate of the target's covariance, diagonal or dense. */
#ifndef AIS_CLASSICAL_METRIC_H
#define AIS_CLASSICAL_METRIC_H

#include "classical/welford.h"

typedef struct ais_metric {
    int dim;
    bool dense;
    double *inverse; /* S: dim, or dim x dim row-major */
    double *factor;  /* square roots of S, or its lower Cholesky factor, dim x dim */
    double *fresh;   /* room for the next inverse */
} ais_metric;

/* The identity; false when memory is out. */
bool ais_metric_take(ais_metric *metric, ais_arena *arena, int dim, bool dense);

/* Takes over an estimate; false, and nothing changed, when it is not finite and positive definite. */
bool ais_metric_learn(ais_metric *metric, const ais_welford *welford);

void ais_metric_persist(ais_metric *metric, ais_record *record);

/* Standard normals to a momentum ~ N(0, S^-1), in place. */
void ais_metric_momentum(const ais_metric *metric, double *p);

/* v = S p. */
void ais_metric_velocity(const ais_metric *metric, const double *p, double *v);

#endif
