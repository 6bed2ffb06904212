#include <math.h>

#include "base/block.h"
#include "map/components.h"
#include "map/components_lanes.h"
#include "simd/normal.h"

/* Uniforms have indices far from those of the normals of the same stream. */
enum { CHOICE = 1 << 30, TESTS = 1 << 30, ATTEMPTS = 16 };

/* ---- chi^2 of any degrees of freedom ----------------------------------------------------------- */

/* One attempt of Marsaglia and Tsang (2000) at a gamma variate of shape 1 or more, which succeeds 19 times of 20 or
 * more; value is the variate when it did. */
static bool attempt(double shape, double normal, double uniform, double *value) {
    double d = shape - 1.0 / 3, root = 1 + normal / sqrt(9 * d), square = normal * normal;
    if (!(root > 0)) return false;
    double v = root * root * root;
    if (!(uniform < 1 - 0.0331 * square * square) && !(log(uniform) < 0.5 * square + d * (1 - v + log(v))))
        return false;
    *value = d * v;
    return true;
}

/* sqrt(freedom / chi^2): how far a Student-t stretches its normals. normal and uniform are the stream's first. A last
 * attempt that fails, once in 10^20, leaves the gamma variate at its mode. */
static double stretch(double freedom, const ais_stream *stream, double normal, double uniform) {
    double shape = 0.5 * freedom, raised = shape < 1 ? shape + 1 : shape, gamma = raised - 1.0 / 3;
    if (!attempt(raised, normal, uniform, &gamma)) {
        double more[ATTEMPTS];
        ais_normals(stream, ATTEMPTS, more);
        for (uint32_t a = 1; a < ATTEMPTS; a++)
            if (attempt(raised, more[a], ais_random_uniform(stream, TESTS + a), &gamma)) break;
    }
    if (shape < 1) gamma *= pow(ais_random_uniform(stream, TESTS + ATTEMPTS), 1 / shape);
    return sqrt(shape / gamma);
}

static ais_stream radius_of(const ais_stream *stream) {
    ais_stream radius = *stream;
    radius.purpose = AIS_FOR_RADIUS;
    return radius;
}

/* ---- one point --------------------------------------------------------------------------------- */

static int choose(const ais_components *components, double u) {
    int k = 0;
    while (k + 1 < components->count && u >= components->weight[k]) u -= components->weight[k++];
    return k;
}

static void draw_from(const ais_components *components, int k, const ais_stream *stream, double *x) {
    double z[AIS_COMPONENTS_MOST_DIM], far = 1;
    ais_normals(stream, (size_t)components->dim, z);
    if (!isinf(components->freedom)) {
        ais_stream radius = radius_of(stream);
        double normal;
        ais_normals(&radius, 1, &normal);
        far = stretch(components->freedom, &radius, normal, ais_random_uniform(&radius, TESTS));
    }
    AIS_CHOOSE(ais_components_place)(components, k, far, z, x);
}

void ais_components_draw_one(const ais_components *components, const ais_stream *stream, double *x) {
    draw_from(components, choose(components, ais_random_uniform(stream, CHOICE)), stream, x);
}

/* ---- many -------------------------------------------------------------------------------------- */

typedef struct job {
    const ais_components *components;
    ais_stream stream;
    double shift;
    size_t n;
    double *x;
} job;

static void draw_task(void *data, int block) {
    const job *draws = data;
    size_t first = (size_t)block * AIS_BLOCK, end = first + AIS_BLOCK < draws->n ? first + AIS_BLOCK : draws->n;
    for (size_t c = first; c < end; c++) {
        ais_stream stream = draws->stream;
        stream.chain = (uint32_t)c;
        int k = choose(draws->components, ((double)c + draws->shift) / (double)draws->n);
        draw_from(draws->components, k, &stream, draws->x + c * (size_t)draws->components->dim);
    }
}

void ais_components_draw(const ais_components *components, uint64_t seed, uint64_t step, size_t n, double *x,
                         ais_pool *pool) {
    job draws = {.components = components, .stream = {seed, step, 0, AIS_FOR_MIXTURE}, .n = n, .x = x};
    draws.shift = ais_random_uniform(&draws.stream, CHOICE);
    ais_share_out(pool, (int)((n + AIS_BLOCK - 1) / AIS_BLOCK), draw_task, &draws);
}

void ais_components_draw_lanes(const ais_components *components, const ais_stream *stream, size_t chains, size_t lanes,
                               const ais_components_work *work, double *x) {
    size_t dim = (size_t)components->dim;
    ais_stream radius = radius_of(stream);
    bool heavy = !isinf(components->freedom);
    ais_numbers_first(stream, dim, lanes, chains, work->normal, NULL);
    ais_uniforms_lanes(stream, CHOICE, lanes, work->choice);
    if (heavy) ais_numbers_first(&radius, 1, lanes, chains, work->radius, NULL);
    if (heavy) ais_uniforms_lanes(&radius, TESTS, lanes, work->uniform);
    double *z = work->point, *drawn = work->point + dim;
    for (size_t c = 0; c < chains; c++, radius.chain++) {
        double far = heavy ? stretch(components->freedom, &radius, work->radius[c], work->uniform[c]) : 1;
        for (size_t i = 0; i < dim; i++) z[i] = work->normal[i * lanes + c];
        AIS_CHOOSE(ais_components_place)(components, choose(components, work->choice[c]), far, z, drawn);
        for (size_t i = 0; i < dim; i++) x[i * lanes + c] = drawn[i];
    }
}
