/* Jobs whose checkpoints are attacked: small trainings and runs, and a density that ends them soon. */
#ifndef TESTS_FUZZ_CHECKPOINTS_H
#define TESTS_FUZZ_CHECKPOINTS_H

#include <math.h>

#include <aisampler/aisampler.h>

#include "fuzz.h"

enum { TRAININGS = 4, DRAWINGS = 6 };

typedef struct patience {
    long left; /* evaluations; then the job is asked to stop */
    volatile sig_atomic_t stop;
    void (*look)(void *); /* at every evaluation; or NULL */
    void *data;
} patience;

static inline double two_modes(const double *x, double *gradient, patience *of) {
    if (of->look) of->look(of->data);
    if (of->left-- <= 0) of->stop = 1;
    double a = x[0] - 1.5, b = x[0] + 2, c = x[1], one = -0.5 * (a * a + c * c), two = -0.5 * (b * b + 2 * c * c);
    double top = fmax(one, two), sum = exp(one - top) + exp(two - top), p = exp(one - top) / sum;
    if (gradient) {
        gradient[0] = -p * a - (1 - p) * b;
        gradient[1] = -p * c - (1 - p) * 2 * c;
    }
    return top + log(sum);
}

static double fuzz_logp(const double *x, void *data) { return two_modes(x, NULL, data); }
static double fuzz_grad(const double *x, double *gradient, void *data) { return two_modes(x, gradient, data); }

static inline ais_target fuzz_target(patience *of, bool gradient) {
    return (ais_target){
        .name = "two", .dim = 2, .logp = fuzz_logp, .grad = gradient ? fuzz_grad : NULL, .start_scale = 2, .data = of};
}

/* Draws of two correlated normals, more or less, for a training that has no density. */
static inline const ais_draws *fuzz_draws(void) {
    enum { COUNT = 1000 };
    static double value[2 * COUNT];
    static char a[] = "a", b[] = "b", *name[] = {a, b};
    static ais_draws draws = {.dim = 2, .chains = 1, .draws = COUNT, .name = name, .value = value};
    for (int i = 0; i < COUNT; i++) {
        value[i] = sin(i) + sin(1.7 * i) + sin(2.9 * i);
        value[COUNT + i] = 0.5 * value[i] + sin(0.3 * i) + sin(4.1 * i);
    }
    return &draws;
}

/* Training number `which`: a map, a henon kernel, A-NICE-MC, a map from draws. Goes on from the file at path, if there
 * is one. Others keep no checkpoint in so short a time. */
static inline ais_status fuzz_train(int which, const char *path, patience *of) {
    static const ais_shape spline = {.map = AIS_SPLINE, .reversal = AIS_SWAP, .dim = 2, .hidden = 4, .bins = 4},
                           henon = {.map = AIS_HENON, .dim = 2, .layers = 2, .hidden = 4, .activation = AIS_TANH};
    static const ais_anice_shape anice = {.dim = 2, .hidden = 4};
    ais_context context;
    ais_kernel *kernel = NULL;
    ais_training *training = NULL;
    ais_target target = fuzz_target(of, which != 0);
    if (which == 3) target.draws = fuzz_draws();
    ais_train_options options = {.seed = 1,
                                 .threads = 1,
                                 .steps = 20,
                                 .evaluations = which == 0 ? 3000 : 0,
                                 .shape = which == 1 ? &henon : &spline,
                                 .population = which == 1 ? 64 : 0,
                                 .checkpoint = path,
                                 .checkpoint_seconds = 1e-9,
                                 .resume = true,
                                 .stop = &of->stop};
    const ais_anice_options small = {.seed = 1,
                                     .threads = 1,
                                     .shape = &anice,
                                     .iterations = 10,
                                     .critic = 16,
                                     .epoch = 4,
                                     .draws = 20,
                                     .checkpoint = path,
                                     .checkpoint_seconds = 1e-9,
                                     .resume = true,
                                     .stop = &of->stop};
    ais_status status = which == 2 ? ais_train_anice(&context, &target, &small, &kernel, &training)
                                   : ais_train(&context, &target, &options, &kernel, &training);
    if (getenv("AIS_FUZZ_TELL") && status != AIS_OK) fprintf(stderr, "training %d: %s\n", which, context.message);
    ais_kernel_free(kernel);
    ais_training_free(training);
    return status;
}

static inline ais_kernel *fuzz_kernel(int which) {
    ais_context context;
    ais_kernel *kernel = NULL, *map = NULL, *inner = NULL;
    const ais_shape spline = {.map = AIS_SPLINE, .reversal = AIS_SWAP, .dim = 2, .hidden = 4, .bins = 4},
                    henon = {.map = AIS_HENON, .dim = 2, .layers = 2, .hidden = 4},
                    affine = {.map = AIS_AFFINE, .reversal = AIS_SWAP, .dim = 2};
    const ais_ladder_options rungs = {
        .rungs = 3, .beta = (double[]){0, 0.4, 1}, .scale = (double[]){0, 0.6, 0.4}, .leapfrogs = 2};
    if (which == 0) must(ais_kernel_nuts(&context, &(ais_nuts_options){.max_depth = 3}, &kernel) == AIS_OK);
    if (which == 1) must(ais_kernel_learned(&context, &spline, 1, &kernel) == AIS_OK);
    if (which == 2) must(ais_kernel_learned(&context, &henon, 1, &kernel) == AIS_OK);
    if (which == 3) {
        must(ais_kernel_learned(&context, &affine, 1, &map) == AIS_OK);
        must(ais_kernel_ladder(&context, map, &rungs, &kernel) == AIS_OK);
    }
    if (which == 4) {
        must(ais_kernel_learned(&context, &spline, 1, &map) == AIS_OK);
        must(ais_kernel_nuts(&context, &(ais_nuts_options){.max_depth = 3}, &inner) == AIS_OK);
        must(ais_kernel_latent(&context, map, inner, &kernel) == AIS_OK);
    }
    if (which == 5) {
        ais_kernel *part[2];
        must(ais_kernel_rwm(&context, NULL, &part[0]) == AIS_OK);
        must(ais_kernel_learned(&context, &henon, 1, &part[1]) == AIS_OK);
        must(ais_kernel_cycle(&context, part, 2, &kernel) == AIS_OK);
    }
    return kernel;
}

/* Run number `which`, likewise; PATH.journal has its draws. */
static inline ais_status fuzz_draw(int which, const char *path, patience *of, int extend) {
    ais_context context;
    ais_run_result *result = NULL;
    ais_target target = fuzz_target(of, true);
    ais_kernel *kernel = fuzz_kernel(which);
    const ais_run_options options = {AIS_RUN_HEAD,
                                     .seed = 1,
                                     .chains = 3,
                                     .draws = 8,
                                     .warmup = 6,
                                     .threads = 1,
                                     .before = {.kernel = kernel},
                                     .stop = &of->stop,
                                     .checkpoint = path,
                                     .checkpoint_seconds = 1e-9,
                                     .resume = true,
                                     .extend = extend};
    ais_status status = ais_run(&context, &target, &options, &result);
    if (getenv("AIS_FUZZ_TELL") && status != AIS_OK) fprintf(stderr, "drawing %d: %s\n", which, context.message);
    ais_run_free(result);
    ais_kernel_free(kernel);
    return status;
}

#endif
