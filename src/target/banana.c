/* banana: the twisted normal of Haario, Saksman and Tamminen (1999). Of y ~ N(0, diag(100, 1, ..., 1))
 * the second coordinate is bent: x_2 = y_2 - b (y_1^2 - 100). The bend has determinant 1, so log p is
 * normalised. With q = y_1^2 - 100: E q^2 = 2e4, E q^4 = 60e8. */
#include <math.h>

#include "base/constants.h"
#include "simd/normal.h"
#include "target/banana_lanes.h"
#include "target/builtin.h"

static double grad(const double *x, double *gradient, void *data) {
    const ais_banana *banana = data;
    double straight = x[1] + banana->b * (x[0] * x[0] - 100), sum = 0.01 * x[0] * x[0] + straight * straight;
    gradient[0] = -0.01 * x[0] - 2 * banana->b * x[0] * straight;
    gradient[1] = -straight;
    for (int i = 2; i < banana->dim; i++) {
        sum += x[i] * x[i];
        gradient[i] = -x[i];
    }
    return ais_settle(banana->constant - 0.5 * sum, x, banana->dim);
}

static double logp(const double *x, void *data) {
    const ais_banana *banana = data;
    double straight = x[1] + banana->b * (x[0] * x[0] - 100), sum = 0.01 * x[0] * x[0] + straight * straight;
    for (int i = 2; i < banana->dim; i++) sum += x[i] * x[i];
    return ais_settle(banana->constant - 0.5 * sum, x, banana->dim);
}

static void batch(size_t n, const double *x, double *logp_, void *data) {
    const ais_banana *banana = data;
    ais_batch_by_blocks(AIS_CHOOSE(ais_banana_block), AIS_LANES, banana, n, banana->dim, x, logp_);
}

static void draw(uint64_t seed, uint64_t index, double *x, void *data) {
    const ais_banana *banana = data;
    ais_stream stream = ais_draw_stream(seed, index);
    ais_normals(&stream, (size_t)banana->dim, x);
    x[0] *= 10;
    x[1] -= banana->b * (x[0] * x[0] - 100);
}

static const ais_option options[] = {{.name = "dim", .value = 2, .low = 2, .high = 10000, .whole = true},
                                     {.name = "b", .value = 0.1, .low = 0, .high = 100},
                                     {.name = NULL}};

static ais_status open(ais_context *context, const ais_value *value, const char *file, ais_home *home) {
    (void)file;
    ais_banana *banana = AIS_TAKE(&home->arena, ais_banana, 1);
    ais_moments moments;
    int dim = (int)value[0].number;
    double b = value[1].number;
    if (!banana || !ais_moments_take(home, dim, &moments))
        return ais_fail_memory(context, "a banana", (size_t)dim * 4 * sizeof(double));
    banana->dim = dim;
    banana->b = b;
    banana->constant = -0.5 * dim * log(2 * AIS_PI) - log(10);
    double bent = b * b * 2e4;
    ais_moments_set(&moments, 0, 0, 100, 100, 3e4);
    ais_moments_set(&moments, 1, 0, 1 + bent, 1 + bent, 3 + 6 * bent + b * b * b * b * 60e8);
    for (int i = 2; i < dim; i++) ais_moments_set(&moments, i, 0, 1, 1, 3);
    home->reference.draw = draw;
    home->reference.source = "closed forms";
    ais_home_functions(home, dim, logp, batch, grad, banana);
    return AIS_OK;
}

const ais_target_type ais_target_banana = {
    {"banana", "Haario's twisted normal: x_1 ~ N(0, 100), x_2 bent by b x_1^2", "dim=2,b=0.1"}, options, open};
