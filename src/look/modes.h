/* The modes that were found, as a mixture of Student-t's, one around each, and what is known of them besides. */
#ifndef AIS_LOOK_MODES_H
#define AIS_LOOK_MODES_H

#include "map/components.h"

typedef struct ais_modes {
    ais_components mixture;
    double *height;  /* room: log p at the mean */
    bool *unbounded; /* room: the density does not fall along some axis, as far as was looked */
} ais_modes;

/* False when memory is out. */
bool ais_modes_take(ais_modes *modes, ais_arena *arena, int dim, int room);

/* Adds a mode, its axes and standard deviations as for ais_components_set_axes; false when it cannot be. */
bool ais_modes_add(ais_modes *modes, const double *mean, double height, const double *sd, const double *axis,
                   bool unbounded);

/* Keeps the `count` places that `places` names, which rise. */
void ais_modes_keep(ais_modes *modes, int count, const int *places);

/* The logarithm of the integral of the normal density that touches log p at the mean. */
double ais_modes_evidence(const ais_modes *modes, int k);

/* Weights of the mixture: 0.9 evidence, normalised, + 0.1 / count. */
#define AIS_MODES_EVEN 0.1
void ais_modes_weigh(ais_modes *modes);

#endif
