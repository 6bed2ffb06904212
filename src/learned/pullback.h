/* The density of a target in the latent space of a map on x alone, math.md (29). With x = S(z), S being the inverse of
 * the map as it is computed, it is log p(S(z)) + log|det S'(z)|, the whitening's constant left out. It is a target in
 * itself, so that classical kernels step on it as they are, and one evaluation of it is one of the target. */
#ifndef AIS_LEARNED_PULLBACK_H
#define AIS_LEARNED_PULLBACK_H

#include "learned/learned.h"

/* Room for some points; dim x lanes each. */
typedef struct ais_latent_room {
    size_t lanes;
    double *u;       /* the map's result before the whitening */
    double *log_det; /* lanes */
    ais_flow_tape *tape;
} ais_latent_room;

typedef struct ais_pullback {
    ais_target latent; /* its data is this struct; functions that the target lacks are NULL here, too */
    const ais_target *target;
    const ais_learned *map;
    int chains;                /* points that count in a batch, the first ones */
    ais_latent_room one, many; /* a point alone, in the first lane or the only one; lanes of a batch */
    double *x;                 /* dim x lanes of many */
    double *point, *by_x;      /* dim: x of the point last evaluated alone, and the gradient there */
    double *alone;             /* dim x lanes of one: a point, or a gradient, in the first lane */
    double *whitened;          /* dim */
    double *gradient_det;      /* 1 in the first lane */
    double failure;            /* not 0: a value of the target that is not a log density, */
    double *failed_at;         /* dim: at this x */
} ais_pullback;

/* Memory from the arena; false when it is out. The struct must stay where it is. single: a single point may round
 * differently from one in a batch. */
bool ais_pullback_take(ais_pullback *density, const ais_learned *map, const ais_target *target, int chains,
                       size_t lanes, bool single, ais_arena *arena);

/* x = S(z) of one point, and log|det S'(z)|. */
double ais_pullback_point(ais_pullback *density, const double *z, double *x);

/* The same of all lanes, in density->x and density->many.log_det. */
void ais_pullback_lanes(ais_pullback *density, const double *z);

/* z = T(x) in the lanes that count, the first ones, and log|det S'(z)| in density->many.log_det. */
void ais_pullback_enter(ais_pullback *density, const double *x, double *z);

/* The same of one point, and log|det S'(z)|. */
double ais_pullback_alone(ais_pullback *density, const double *x, double *z);

#endif
