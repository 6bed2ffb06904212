/* gaussian: a normal with mean 0 whose covariance has eigenvalues log-spaced from 1 to cond, rotated
 * (rotate=1) by a fixed orthogonal matrix that depends on dim alone. log p is normalised. */
#include <math.h>

#include "base/constants.h"
#include "simd/normal.h"
#include "target/builtin.h"
#include "target/gaussian_lanes.h"

/* y = (I - V T V') x, or with T' in its place; y may be x. */
static void turn(const ais_gaussian *gaussian, bool transposed, const double *x, double *y) {
    double along[AIS_REFLECTIONS] = {0}, back[AIS_REFLECTIONS] = {0};
    int reflections = gaussian->reflections;
    for (int i = 0; i < gaussian->dim; i++)
        for (int k = 0; k < reflections; k++) along[k] += gaussian->v[(size_t)i * AIS_REFLECTIONS + (size_t)k] * x[i];
    for (int k = 0; k < reflections; k++)
        for (int l = 0; l < reflections; l++)
            back[k] += (transposed ? gaussian->t[l][k] : gaussian->t[k][l]) * along[l];
    for (int i = 0; i < gaussian->dim; i++) {
        double value = x[i];
        for (int k = 0; k < reflections; k++) value -= gaussian->v[(size_t)i * AIS_REFLECTIONS + (size_t)k] * back[k];
        y[i] = value;
    }
}

static double grad(const double *x, double *gradient, void *data) {
    const ais_gaussian *gaussian = data;
    double sum = 0;
    turn(gaussian, true, x, gradient);
    for (int i = 0; i < gaussian->dim; i++) {
        sum += gaussian->half_precision[i] * gradient[i] * gradient[i];
        gradient[i] *= -2 * gaussian->half_precision[i];
    }
    turn(gaussian, false, gradient, gradient);
    return ais_settle(gaussian->constant - sum, x, gaussian->dim);
}

static void batch(size_t n, const double *x, double *logp, void *data) {
    const ais_gaussian *gaussian = data;
    ais_batch_by_blocks(AIS_CHOOSE(ais_gaussian_block), AIS_LANES, gaussian, n, gaussian->dim, x, logp);
}

static double logp(const double *x, void *data) {
    const ais_gaussian *gaussian = data;
    double along[AIS_REFLECTIONS] = {0}, back[AIS_REFLECTIONS] = {0}, sum = 0;
    for (int i = 0; i < gaussian->dim; i++)
        for (int k = 0; k < gaussian->reflections; k++)
            along[k] += gaussian->v[(size_t)i * AIS_REFLECTIONS + (size_t)k] * x[i];
    for (int k = 0; k < gaussian->reflections; k++)
        for (int l = 0; l <= k; l++) back[k] += gaussian->t[l][k] * along[l];
    for (int i = 0; i < gaussian->dim; i++) {
        double y = x[i];
        for (int k = 0; k < gaussian->reflections; k++)
            y -= gaussian->v[(size_t)i * AIS_REFLECTIONS + (size_t)k] * back[k];
        sum += gaussian->half_precision[i] * y * y;
    }
    return ais_settle(gaussian->constant - sum, x, gaussian->dim);
}

static void draw(uint64_t seed, uint64_t index, double *x, void *data) {
    const ais_gaussian *gaussian = data;
    ais_stream stream = ais_draw_stream(seed, index);
    ais_normals(&stream, (size_t)gaussian->dim, x);
    for (int i = 0; i < gaussian->dim; i++) x[i] *= sqrt(gaussian->eigenvalue[i]);
    turn(gaussian, false, x, x);
}

/* Adds the reflection I - 2 u u' on the right: T grows by the column -2 T V'u and the corner 2. */
static void reflect(ais_gaussian *gaussian, double *v, const double *u) {
    int m = gaussian->reflections;
    double along[AIS_REFLECTIONS] = {0};
    for (int i = 0; i < gaussian->dim; i++) {
        v[(size_t)i * AIS_REFLECTIONS + (size_t)m] = u[i];
        for (int k = 0; k < m; k++) along[k] += v[(size_t)i * AIS_REFLECTIONS + (size_t)k] * u[i];
    }
    for (int k = 0; k < m; k++)
        for (int l = k; l < m; l++) gaussian->t[k][m] -= 2 * gaussian->t[k][l] * along[l];
    gaussian->t[m][m] = 2;
    gaussian->reflections = m + 1;
}

static void set_rotation(ais_gaussian *gaussian, double *v, double *u) {
    int count = gaussian->dim < AIS_REFLECTIONS ? gaussian->dim : AIS_REFLECTIONS;
    for (int k = 0; k < count && gaussian->dim > 1; k++) {
        ais_stream stream = {.seed = 2024, .step = (uint64_t)k, .purpose = AIS_FOR_WEIGHTS};
        double square = 0;
        ais_normals(&stream, (size_t)gaussian->dim, u);
        for (int i = 0; i < gaussian->dim; i++) square += u[i] * u[i];
        for (int i = 0; i < gaussian->dim; i++) u[i] /= sqrt(square);
        reflect(gaussian, v, u);
    }
}

/* Variances are the diagonal of Q diag(eigenvalue) Q'; row i of Q is Q' e_i. */
static double variance_of(const ais_gaussian *gaussian, int i, double *row) {
    double variance = 0;
    if (!gaussian->reflections) return gaussian->eigenvalue[i];
    for (int j = 0; j < gaussian->dim; j++) row[j] = i == j;
    turn(gaussian, true, row, row);
    for (int j = 0; j < gaussian->dim; j++) variance += row[j] * row[j] * gaussian->eigenvalue[j];
    return variance;
}

static void set_moments(const ais_gaussian *gaussian, double *row, const ais_moments *moments) {
    for (int i = 0; i < gaussian->dim; i++) {
        double variance = variance_of(gaussian, i, row);
        ais_moments_set(moments, i, 0, variance, variance, 3 * variance * variance);
    }
}

enum { DIM, COND, ROTATE };
static const ais_option options[] = {{.name = "dim", .value = 2, .low = 1, .high = 10000, .whole = true},
                                     {.name = "cond", .value = 1, .low = 1, .high = 1e12},
                                     {.name = "rotate", .value = 1, .low = 0, .high = 1, .whole = true},
                                     {.name = NULL}};

static ais_status open(ais_context *context, const ais_value *value, const char *file, ais_home *home) {
    (void)file;
    int dim = (int)value[DIM].number;
    ais_gaussian *gaussian = AIS_TAKE(&home->arena, ais_gaussian, 1);
    double *memory = AIS_TAKE(&home->arena, double, (size_t)dim *(3 + AIS_REFLECTIONS));
    ais_moments moments;
    if (!gaussian || !memory || !ais_moments_take(home, dim, &moments))
        return ais_fail_memory(context, "a gaussian", (size_t)dim * (7 + AIS_REFLECTIONS) * sizeof *memory);
    double *eigenvalue = memory, *half_precision = memory + dim, *row = memory + 2 * dim, *v = memory + 3 * dim;
    *gaussian = (ais_gaussian){.dim = dim, .eigenvalue = eigenvalue, .half_precision = half_precision, .v = v};
    for (int i = 0; i < dim; i++) {
        eigenvalue[i] = dim > 1 ? pow(value[COND].number, (double)i / (dim - 1)) : 1;
        half_precision[i] = 0.5 / eigenvalue[i];
        gaussian->constant -= 0.5 * log(2 * AIS_PI * eigenvalue[i]);
    }
    if (value[ROTATE].number != 0 && value[COND].number > 1) set_rotation(gaussian, v, row);
    set_moments(gaussian, row, &moments);
    home->reference.draw = draw;
    home->reference.source = "closed forms";
    ais_home_functions(home, dim, logp, batch, grad, gaussian);
    return AIS_OK;
}

const ais_target_type ais_target_gaussian = {
    {"gaussian", "normal, covariance eigenvalues log-spaced from 1 to cond, rotated", "dim=2,cond=1,rotate=1"},
    options,
    open};
