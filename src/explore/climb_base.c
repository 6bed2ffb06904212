/* The base of a ladder, fitted to what came up from the base before it. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "explore/affine.h"
#include "explore/climb.h"

/* The later half of the tops, all of them, or what was recorded of another rung; *n rows. NULL: no memory. */
static double *replicas_at(const ais_climb *climb, int rung, size_t *n) {
    bool top = rung == climb->recorded_rungs - 1;
    size_t dim = (size_t)climb->target->dim, steps = (size_t)climb->steps, rungs = (size_t)climb->recorded_rungs;
    size_t each = top ? steps / 2 : (size_t)climb->records;
    double *x = malloc((AIS_CLIMBERS * each + 1) * dim * sizeof *x);
    *n = AIS_CLIMBERS * each;
    for (size_t r = 0; r < *n && x; r++)
        if (top)
            for (size_t i = 0; i < dim; i++)
                x[r * dim + i] = climb->draws[(i * AIS_CLIMBERS + r / each) * steps + steps - each + r % each];
        else
            memcpy(x + r * dim, climb->recorded + (r * rungs + (size_t)rung) * dim, dim * sizeof *x);
    return x;
}

double *ais_climb_tops(const ais_climb *climb, size_t *n) { return replicas_at(climb, climb->recorded_rungs - 1, n); }

static ais_status affine(ais_context *context, int dimension, size_t n, const double *x, ais_kernel **map) {
    const ais_shape shape = {.map = AIS_AFFINE, .reversal = AIS_SWAP, .dim = dimension};
    size_t dim = (size_t)dimension;
    double *mean = malloc((dim + dim * dim) * sizeof *mean);
    if (!mean) return ais_fail_memory(context, "a ladder's base", dim * dim * sizeof *mean);
    ais_status status = ais_affine_fit(context, dimension, n, x, NULL, mean, mean + dim);
    if (status == AIS_OK) status = ais_kernel_learned(context, &shape, 0, map);
    if (status == AIS_OK) status = ais_kernel_whiten(context, *map, mean, mean + dim);
    free(mean);
    return status;
}

/* At b a share b of log p is new, beside 1 - b of the base, which had its mass everywhere before: fewer will do. */
static bool enough_arrived(const ais_climb *climb, int rung) {
    return climb->arrived[rung] >= fmax(climb->beta[rung] * AIS_ENOUGH_ARRIVED, 4);
}

/* A base that is fitted to a few points has no mass where none of them happened to be, and a ladder from it never gets
 * there again. The tops of early rounds are few points, however many draws: they are still where they began. Replicas
 * that came up from the base are independent of each other, and they come to lower rungs first, whose densities lie
 * between the base and p. So a base narrows as far as it is known what it may leave out, and the next is closer. */
ais_status ais_climb_refit(ais_context *context, ais_climb *climb) {
    int rung = climb->recorded_rungs - 1;
    while (rung && !enough_arrived(climb, rung)) rung--;
    if (!rung) return AIS_OK;
    ais_kernel *map = NULL;
    size_t n;
    double *x = replicas_at(climb, rung, &n);
    ais_status status = x ? affine(context, climb->target->dim, n, x, &map)
                          : ais_fail_memory(context, "a ladder's base", n * sizeof *x);
    if (status == AIS_OK)
        ais_climb_rebase(climb, map);
    else
        ais_kernel_free(map);
    free(x);
    return status;
}
