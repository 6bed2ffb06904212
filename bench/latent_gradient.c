/* What a gradient costs in the latent space of a map, beside the target's own: through lanes, of which one counts, and
 * by the one-lane body of maps that have it. Exits with 1 when the two disagree. latent_gradient [TARGET...] */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "learned/pullback.h"
#include "simd/normal.h"

enum { CALLS = 100, REPETITIONS = 100 };

/* Microseconds of the quickest repetition: other work of the machine only ever adds. */
static double cost(const ais_target *target, const double *z, double *gradient) {
    double best = INFINITY;
    for (int r = 0; r < REPETITIONS; r++) {
        double start = ais_now();
        for (int k = 0; k < CALLS; k++) target->grad(z, gradient, target->data);
        best = fmin(best, (ais_now() - start) / CALLS * 1e6);
    }
    return best;
}

static ais_status measure(ais_context *context, const ais_target *target, const ais_shape *shape, const double *z) {
    int dim = target->dim;
    ais_kernel *kernel = NULL;
    ais_arena arena = {0};
    double *gradient[2] = {AIS_TAKE(&arena, double, dim), AIS_TAKE(&arena, double, dim)}, seconds[2], miss = 0;
    double *mean = AIS_TAKE(&arena, double, dim), *factor = AIS_TAKE(&arena, double, (size_t)dim *(size_t)dim);
    for (int i = 0; i < dim; i++)
        for (int j = 0; j <= i; j++) factor[i * dim + j] = i == j ? 0.3 : 0.001;
    ais_status status = ais_kernel_learned(context, shape, 1, &kernel);
    if (status == AIS_OK) status = ais_kernel_whiten(context, kernel, mean, factor);
    for (int single = 0; status == AIS_OK && single < 2; single++) {
        ais_pullback density;
        if (!ais_pullback_take(&density, ais_as_learned(kernel), target, 1, AIS_LANES, single, &arena))
            status = ais_fail_memory(context, "a density", (size_t)dim * sizeof(double));
        else
            seconds[single] = cost(&density.latent, z, gradient[single]);
    }
    if (status == AIS_OK) {
        for (int i = 0; i < dim; i++)
            miss = fmax(miss, fabs(gradient[1][i] - gradient[0][i]) / (1 + fabs(gradient[0][i])));
        printf("  %-8s layers %d %-10s lanes %9.3f us, alone %9.3f us, gradients within %.1g\n",
               ais_kernel_name(kernel), ais_kernel_shape(kernel)->layers, shape->depth < 0 ? "quadratic" : "",
               seconds[0], seconds[1], miss);
        if (!(miss < 1e-3)) status = ais_fail(context, AIS_BAD_DENSITY, "the two bodies disagree");
    }
    ais_kernel_free(kernel);
    ais_arena_free(&arena);
    return status;
}

static ais_status measure_all(ais_context *context, const char *name) {
    ais_target *target = NULL;
    ais_status status = ais_target_open(context, name, &target);
    if (status != AIS_OK) return status;
    int dim = target->dim;
    const ais_shape shapes[] = {{.map = AIS_AFFINE, .reversal = AIS_SWAP, .dim = dim},
                                {.map = AIS_REALNVP, .reversal = AIS_SWAP, .dim = dim, .layers = 8, .depth = -1},
                                {.map = AIS_REALNVP, .reversal = AIS_SWAP, .dim = dim},
                                {.map = AIS_SPLINE, .reversal = AIS_SWAP, .dim = dim}};
    double *z = calloc(2 * (size_t)dim, sizeof *z);
    if (!z) status = ais_fail_memory(context, "a point", 2 * (size_t)dim * sizeof *z);
    if (status == AIS_OK && !target->grad)
        status = ais_fail(context, AIS_BAD_ARGUMENT, "target %s has no gradient", name);
    if (status == AIS_OK) {
        ais_stream stream = {.seed = 1, .purpose = AIS_FOR_USER};
        ais_normals(&stream, (size_t)dim, z);
        printf("%s, %d dimensions: gradient of the target %.3f us\n", name, dim, cost(target, z, z + dim));
    }
    for (size_t s = 0; status == AIS_OK && s < sizeof shapes / sizeof *shapes; s++)
        status = measure(context, target, &shapes[s], z);
    free(z);
    ais_target_close(target);
    return status;
}

int main(int count, char **word) {
    const char *const usual[] = {"mog6", "funnel", "heart", "german"};
    ais_context context = {0};
    ais_status status = AIS_OK;
    for (int i = 1; status == AIS_OK && i < count; i++) status = measure_all(&context, word[i]);
    for (int i = 0; status == AIS_OK && count == 1 && i < 4; i++) status = measure_all(&context, usual[i]);
    if (status != AIS_OK) fprintf(stderr, "%s\n", context.message);
    return status != AIS_OK;
}
