/* Which map is learned, and how: one table of data. */
#ifndef AIS_TRAINER_MAP_PLANS_H
#define AIS_TRAINER_MAP_PLANS_H

#include <aisampler/kernel.h>

#include "fit/recipes.h"

typedef struct ais_map_plan {
    ais_shape shape;              /* without dimension and seed; bound 0: as far as the points reach */
    bool diagonal;                /* whitened by standard deviations, not by principal axes */
    double spread;                /* of the conditioners' first layers (ais_flow_spread) */
    double first_rate, last_rate; /* of conditioners' first and last layers, as shares of the rate; 0: 1 */
    ais_recipe recipe;            /* its steps follow from the archive */
} ais_map_plan;

/* Plan number k (from 0) for a density with or without gradients to learn from; NULL when there are no more. A later
 * one is larger and comes when the one before stops improving. */
const ais_map_plan *ais_map_plan_for(int dim, bool slopes, int k);

/* The map of a density whose bend a pivot layer undoes (fit/bend.h): that layer alone, or with the layers that a fit
 * teaches the rest, by the plan for near normal densities. */
ais_shape ais_bent_shape(int dim, bool fitted);

#endif
