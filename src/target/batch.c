#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "simd/check_lanes.h"
#include "target/builtin.h"

static double settle(double value, const double *x, size_t stride, int dim) {
    if (!isnan(value)) return value;
    for (int i = 0; i < dim; i++)
        if (isnan(x[(size_t)i * stride])) return value;
    return -INFINITY;
}

double ais_settle(double value, const double *x, int dim) { return settle(value, x, 1, dim); }

/* Fewer points than lanes: the missing ones are copies of the last. */
static void short_block(ais_blocks *blocks, size_t width, const void *data, size_t n, int dim, const double *x,
                        double *logp) {
    enum { ON_STACK = 64 };
    double small[ON_STACK * AIS_LANES], result[AIS_LANES];
    small[0] = 0; /* gcc cannot know that width is not 0 */
    double *padded = dim <= ON_STACK ? small : ais_allocate((size_t)dim * AIS_LANES * sizeof *padded);
    for (size_t c = 0; !padded && c < n; c++) logp[c] = NAN;
    if (!padded) return;
    for (size_t i = 0; i < (size_t)dim; i++)
        for (size_t c = 0; c < width; c++) padded[i * width + c] = x[i * n + (c < n ? c : n - 1)];
    blocks(data, width, width, padded, result);
    memcpy(logp, result, n * sizeof *logp);
    if (padded != small) free(padded);
}

void ais_batch_by_blocks(ais_blocks *blocks, size_t width, const void *data, size_t n, int dim, const double *x,
                         double *logp) {
    size_t whole = n / width * width;
    if (whole) blocks(data, whole, n, x, logp);
    /* The last block overlaps the one before: a lane's result does not depend on its place. */
    if (whole < n && whole) blocks(data, width, n, x + n - width, logp + n - width);
    if (n && n < width) short_block(blocks, width, data, n, dim, x, logp);
    if (AIS_CHOOSE(ais_all_at_most)(n, logp, INFINITY)) return;
    for (size_t c = 0; c < n; c++) logp[c] = settle(logp[c], x + c, n, dim);
}
