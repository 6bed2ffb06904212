#include "sampler/starts.h"

#include <math.h>
#include <stdlib.h>

#include "kernel/learned.h"
#include "simd/normal.h"

/* Coordinate-major (2 dim rows of n) to one row a chain; false where the density is zero or not a number. */
static bool take(const ais_target *target, size_t n, const double *image, double *start) {
    size_t dim = (size_t)target->dim;
    bool inside = true;
    for (size_t c = 0; c < n && inside; c++) {
        for (size_t i = 0; i < dim; i++) start[c * dim + i] = image[i * n + c];
        for (size_t i = 0; i < dim; i++) inside = inside && isfinite(start[c * dim + i]);
        inside = inside && isfinite(target->logp(start + c * dim, target->data));
    }
    return inside;
}

double *ais_own_starts(const ais_target *target, const ais_kernel *kernel, uint64_t seed, int chains) {
    const ais_learned *learned = ais_as_learned(kernel);
    if (!learned || !ais_is_independent(learned) || target->draws) return NULL;
    size_t n = (size_t)chains, dim = (size_t)target->dim;
    double *z = calloc(2 * dim * n, sizeof *z), *image = malloc(2 * dim * n * sizeof *image);
    double *start = malloc(dim * n * sizeof *start), *v = malloc(dim * sizeof *v);
    ais_context ignored;
    bool made = z && image && start && v;
    for (size_t c = 0; made && c < n; c++) {
        ais_stream stream = {.seed = seed, .chain = (uint32_t)c, .purpose = AIS_FOR_START};
        ais_normals(&stream, dim, v);
        for (size_t i = 0; i < dim; i++) z[(dim + i) * n + c] = v[i];
    }
    made =
        made && ais_kernel_involution(&ignored, kernel, n, z, image, NULL) == AIS_OK && take(target, n, image, start);
    free(z);
    free(image);
    free(v);
    if (made) return start;
    free(start);
    return NULL;
}
