/* What a gradient of a Stan program costs in our NUTS, one chain on one thread, and what it costs to show a draw.
 *
 *     build/bench/stan_gradient stan:MODEL.stan:DATA.json WARMUP DRAWS
 *
 * prints microseconds per gradient in the sampler, in a loop that does nothing else, microseconds to compute what is
 * shown of a draw, and the number of gradients that the sampler took. bench/stan/gradient.py puts it beside stanli's.
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include <aisampler/aisampler.h>

enum { POINTS = 1000 };

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static void insist(ais_status status, const ais_context *context) {
    if (status == AIS_OK) return;
    fprintf(stderr, "%s\n", context->message);
    exit(1);
}

/* Draws to evaluate at, as x. */
static double *points_of(ais_context *context, const ais_target *target, const ais_kernel *kernel) {
    ais_sink *sink;
    ais_target raw = *target;
    raw.view = NULL;
    const ais_sample_options options = {.seed = 2, .chains = 1, .warmup = 500, .draws = POINTS, .threads = 1};
    insist(ais_sink_memory(context, &sink), context);
    insist(ais_sample(context, &raw, kernel, &options, &sink, 1, NULL), context);
    ais_draws *draws = ais_sink_memory_take(sink);
    double *x = malloc(sizeof(double) * POINTS * (size_t)target->dim);
    for (int t = 0; t < POINTS; t++)
        for (int i = 0; i < target->dim; i++) x[t * target->dim + i] = draws->value[i * POINTS + t];
    ais_draws_free(draws);
    ais_sink_free(sink);
    return x;
}

int main(int argc, char **argv) {
    ais_context context = {0};
    ais_target *target;
    ais_kernel *kernel;
    ais_sample_result result;
    if (argc != 4) return fprintf(stderr, "usage: stan_gradient TARGET WARMUP DRAWS\n"), 2;
    insist(ais_target_open(&context, argv[1], &target), &context);
    if (!target->view || !target->grad) return fprintf(stderr, "%s has no view\n", argv[1]), 2;
    insist(ais_kernel_nuts(&context, NULL, &kernel), &context);
    const ais_sample_options options = {
        .seed = 1, .chains = 1, .warmup = atoi(argv[2]), .draws = atoi(argv[3]), .threads = 1};
    double began = now();
    insist(ais_sample(&context, target, kernel, &options, NULL, 0, &result), &context); /* no sink: nothing is shown */
    double sampler = (now() - began) / (double)result.gradients;

    double *x = points_of(&context, target, kernel), *gradient = malloc(sizeof(double) * (size_t)target->dim), sum = 0;
    began = now();
    for (int t = 0; t < POINTS; t++) sum += target->grad(x + t * target->dim, gradient, target->data);
    double alone = (now() - began) / POINTS;
    double *value = malloc(sizeof(double) * POINTS * (size_t)target->view->count), slope[POINTS];
    began = now();
    target->view->show(POINTS, x, 1, value, slope, target->data);
    double shown = (now() - began) / POINTS;
    printf("%.4f %.4f %.4f %ld %g\n", 1e6 * sampler, 1e6 * alone, 1e6 * shown, (long)result.gradients, sum);
    free(x);
    free(gradient);
    free(value);
    ais_kernel_free(kernel);
    ais_target_close(target);
    return 0;
}
