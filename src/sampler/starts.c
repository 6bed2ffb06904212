#include "sampler/starts.h"

#include <math.h>
#include <stdlib.h>

#include "base/streams.h"
#include "learned/latent.h"
#include "learned/mixture.h"
#include "simd/normal.h"

/* The random numbers of row c: those of one chain are apart from another's, however many there are. */
static ais_stream stream_of(ais_use use, uint64_t seed, size_t c, size_t chains) {
    return ais_stream_for(use, seed, c / chains, c % chains);
}

/* n draws T^-1(v) of a map. */
static bool draw_map(const ais_learned *learned, size_t dim, uint64_t seed, size_t chains, size_t n, double *start) {
    double *z = calloc(2 * dim * n, sizeof *z), *image = malloc(2 * dim * n * sizeof *image);
    double *v = malloc(dim * sizeof *v);
    ais_context ignored;
    bool made = z && image && v;
    for (size_t c = 0; made && c < n; c++) {
        ais_stream stream = stream_of(AIS_USE_STARTS, seed, c, chains);
        ais_normals(&stream, dim, v);
        for (size_t i = 0; i < dim; i++) z[(dim + i) * n + c] = v[i];
    }
    made = made && ais_swap_involution(&ignored, learned, n, z, image) == AIS_OK;
    for (size_t c = 0; made && c < n; c++)
        for (size_t i = 0; i < dim; i++) start[c * dim + i] = image[i * n + c];
    free(z);
    free(image);
    free(v);
    return made;
}

static void draw_mixture(const ais_components *components, uint64_t seed, size_t chains, size_t n, double *start) {
    for (size_t c = 0; c < n; c++) {
        ais_stream stream = stream_of(AIS_USE_STARTS_MIXTURE, seed, c, chains);
        ais_components_draw_one(components, &stream, start + c * (size_t)components->dim);
    }
}

double *ais_own_starts(const ais_target *target, const ais_kernel *kernel, uint64_t seed, int chains) {
    const ais_learned *learned = ais_map_of(kernel);
    const ais_mixture_kernel *mixture = ais_as_mixture(kernel);
    bool independent = mixture || (learned && ais_is_independent(learned));
    if (!independent || kernel->dim != target->dim || target->draws) return NULL;
    size_t n = AIS_OWN_STARTS * (size_t)chains, dim = (size_t)target->dim, numbers = n * dim;
    double *start = calloc(numbers, sizeof *start);
    bool made = start != NULL;
    if (made && mixture)
        draw_mixture(&mixture->components, seed, (size_t)chains, n, start);
    else
        made = made && draw_map(learned, dim, seed, (size_t)chains, n, start);
    for (size_t i = 0; made && i < numbers; i++) made = isfinite(start[i]);
    if (made) return start;
    free(start);
    return NULL;
}
