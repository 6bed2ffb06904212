/* funnel: Neal's. v ~ N(0, 9), then dim - 1 times x_i ~ N(0, exp(v)). log p is normalised.
 * E x^2 = exp(9/2) and E x^4 = 3 exp(18) are finite, but no run will see the second. */
#include <float.h>
#include <math.h>
#include <stdio.h>

#include "base/constants.h"
#include "simd/normal.h"
#include "target/builtin.h"
#include "target/funnel_lanes.h"

static double parts(const double *x, int dim, double *square, double *rate) {
    double v = x[0], half = 0.5 * (dim - 1);
    *square = 0;
    for (int i = 1; i < dim; i++) *square += x[i] * x[i];
    if (*square > DBL_MAX) *square = DBL_MAX;
    *rate = exp(v > -709 ? -v : 709);
    return -0.5 * dim * log(2 * AIS_PI) - log(3) - v * (v / 18 + half) - 0.5 * *square * *rate;
}

static double logp(const double *x, void *data) {
    double square, rate;
    return parts(x, *(const int *)data, &square, &rate);
}

static double grad(const double *x, double *gradient, void *data) {
    int dim = *(const int *)data;
    double square, rate, value = parts(x, dim, &square, &rate);
    gradient[0] = -x[0] / 9 + 0.5 * square * rate - 0.5 * (dim - 1);
    for (int i = 1; i < dim; i++) gradient[i] = -x[i] * rate;
    return value;
}

static void batch(size_t n, const double *x, double *logp_, void *data) {
    ais_batch_by_blocks(AIS_CHOOSE(ais_funnel_block), AIS_LANES, data, n, *(const int *)data, x, logp_);
}

static void draw(uint64_t seed, uint64_t index, double *x, void *data) {
    int dim = *(const int *)data;
    ais_stream stream = ais_draw_stream(seed, index);
    ais_normals(&stream, (size_t)dim, x);
    x[0] *= 3;
    for (int i = 1; i < dim; i++) x[i] *= exp(0.5 * x[0]);
}

static const ais_option options[] = {{.name = "dim", .value = 10, .low = 2, .high = 10000, .whole = true},
                                     {.name = NULL}};

static ais_status open(ais_context *context, const ais_value *value, const char *file, ais_home *home) {
    (void)file;
    enum { NAME = 16 };
    int *dim = AIS_TAKE(&home->arena, int, 1), count = (int)value[0].number;
    const char **names = AIS_TAKE(&home->arena, const char *, count);
    char *text = AIS_TAKE(&home->arena, char, (size_t)count *NAME);
    ais_moments moments;
    if (!dim || !names || !text || !ais_moments_take(home, count, &moments))
        return ais_fail_memory(context, "a funnel", (size_t)count * (4 * sizeof(double) + NAME));
    *dim = count;
    names[0] = "v";
    ais_moments_set(&moments, 0, 0, 9, 9, 3 * 81);
    for (int i = 1; i < count; i++) {
        snprintf(text + (size_t)i * NAME, NAME, "x.%d", i);
        names[i] = text + (size_t)i * NAME;
        ais_moments_set(&moments, i, 0, exp(4.5), exp(4.5), 3 * exp(18));
    }
    home->reference.draw = draw;
    home->reference.source = "closed forms";
    home->target.names = names;
    ais_home_functions(home, count, logp, batch, grad, dim);
    return AIS_OK;
}

const ais_target_type ais_target_funnel = {
    {"funnel", "Neal's funnel: v ~ N(0, 9), x_i ~ N(0, exp(v))", "dim=10"}, options, open};
