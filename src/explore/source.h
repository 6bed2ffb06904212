/* Densities that points are proposed from: the search region, a box, a mixture of Student-t's, a map. Each can be drawn
 * from and says its log density anywhere, normalised, so that draws of several can be weighed against the mixture of
 * all. Points are rows (n x dim). Everything is a function of seed, step and row: threads and ranks change nothing. */
#ifndef AIS_EXPLORE_SOURCE_H
#define AIS_EXPLORE_SOURCE_H

#include <aisampler/kernel.h>

#include "base/pool.h"
#include "look/box.h"
#include "map/components.h"

typedef struct ais_source {
    double scale;                  /* of N(0, scale^2 I); or 0 */
    ais_box box;                   /* uniform in it; of a mixture: beyond it nothing is evaluated; or NULLs */
    const ais_components *mixture; /* or NULL */
    const ais_kernel *map;         /* an independent proposal; or NULL */
    double width;                  /* of a map: its latent points are N(0, width^2 I); 0: 1 */
} ais_source;

/* n rows of x from row number `first` of the stream (seed, step) on. logq may be NULL. A draw
 * that a map cannot take back is put to the map's centre, and its logq is +infinity: it weighs nothing. */
ais_status ais_source_draw(ais_context *context, const ais_source *source, int dim, ais_pool *pool, uint64_t seed,
                           uint64_t step, size_t n, double *x, double *logq);

/* logq of n rows. */
ais_status ais_source_logq(ais_context *context, const ais_source *source, int dim, ais_pool *pool, size_t n,
                           const double *x, double *logq);

#endif
