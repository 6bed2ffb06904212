#include "trainer/map_plans.h"

#include <stddef.h>

/* Where the numbers come from: docs/notebook/maps.md. */

#define FISHER                                                                                                         \
    {                                                                                                                  \
        .name = "fisher", .batch = 128, .pace = {.rate = 5e-3, .warmup = 0.1, .clip = 5}, .round = 20,                 \
        .judgements = 8, .judge_first = true, .report_every = 20                                                       \
    }
#define LIKELIHOOD(fastest, points)                                                                                    \
    {                                                                                                                  \
        .name = "likelihood", .batch = (points), .pace = {.rate = (fastest), .warmup = 0.1, .clip = 5}, .round = 20,   \
        .report_every = 20                                                                                             \
    }

/* Near normal after whitening: quadratic conditioners bend what is left. Their cost grows with the cube of the
 * dimension; beyond 40, a small network of each half is cheaper. */
static const ais_map_plan bent[] = {
    {.shape = {.map = AIS_REALNVP, .reversal = AIS_SWAP, .layers = 8, .depth = -1, .marginal_bins = 8, .bound = 5},
     .recipe = FISHER}};
static const ais_map_plan bent_wide[] = {{.shape = {.map = AIS_REALNVP,
                                                    .reversal = AIS_SWAP,
                                                    .layers = 8,
                                                    .hidden = 64,
                                                    .depth = 1,
                                                    .activation = AIS_TANH,
                                                    .bound = 5},
                                          .recipe = FISHER}};

/* One or two dimensions: few layers with many bins. */
static const ais_map_plan plane[] = {{.shape = {.map = AIS_SPLINE,
                                                .reversal = AIS_SWAP,
                                                .layers = 2,
                                                .hidden = 32,
                                                .depth = 1,
                                                .bins = 24,
                                                .activation = AIS_TANH},
                                      .diagonal = true,
                                      .spread = 2,
                                      .recipe = LIKELIHOOD(1e-2, 256)},
                                     {.shape = {.map = AIS_SPLINE,
                                                .reversal = AIS_SWAP,
                                                .layers = 2,
                                                .hidden = 64,
                                                .depth = 2,
                                                .bins = 48,
                                                .activation = AIS_TANH},
                                      .diagonal = true,
                                      .spread = 5,
                                      .first_rate = 4,
                                      .last_rate = 0.6,
                                      .recipe = LIKELIHOOD(4e-3, 256)}};

/* Several modes, or no gradient, in three dimensions or more: the axis that separates modes comes first. */
static const ais_map_plan wide[] = {{.shape = {.map = AIS_SPLINE,
                                               .reversal = AIS_SWAP,
                                               .layers = 3,
                                               .hidden = 64,
                                               .depth = 1,
                                               .bins = 12,
                                               .marginal_bins = 24,
                                               .activation = AIS_TANH,
                                               .pivot = true},
                                     .recipe = LIKELIHOOD(5e-3, 256)},
                                    {.shape = {.map = AIS_SPLINE,
                                               .reversal = AIS_SWAP,
                                               .layers = 5,
                                               .hidden = 64,
                                               .depth = 2,
                                               .bins = 12,
                                               .marginal_bins = 24,
                                               .activation = AIS_TANH,
                                               .pivot = true},
                                     .recipe = LIKELIHOOD(3e-3, 512)}};

ais_shape ais_bent_shape(int dim, bool fitted) {
    enum { FITTED_LAYERS = 5 };
    return (ais_shape){.map = AIS_REALNVP,
                       .reversal = AIS_SWAP,
                       .dim = dim,
                       .layers = fitted ? FITTED_LAYERS : 1,
                       .depth = -1,
                       .bound = 5,
                       .pivot = true};
}

#define PLANS(table) (k < (int)(sizeof(table) / sizeof *(table)) ? &(table)[k] : NULL)

const ais_map_plan *ais_map_plan_for(int dim, bool slopes, int k) {
    if (slopes) return dim > 40 ? PLANS(bent_wide) : PLANS(bent);
    return dim <= 2 ? PLANS(plane) : PLANS(wide);
}
