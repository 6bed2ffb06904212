/* Are threads busy when the density is slow? 16 chains x 50 draws of a density that sleeps for 5 ms, on 1, 2 and 16
 * threads: it needs no core while it sleeps, so that 16 threads can be watched on any machine. slow_density
 * [MILLISECONDS] Busy: seconds spent in the density, over threads times seconds of the phase. Exits 1 when the draws
 * differ. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <aisampler/aisampler.h>

enum { DIM = 4, CHAINS = 16, DRAWS = 50, KERNELS = 3 };

static void rest(void *data) {
    double seconds = *(const double *)data;
    struct timespec time = {.tv_sec = (time_t)seconds, .tv_nsec = (long)(1e9 * (seconds - (double)(long)seconds))};
    nanosleep(&time, NULL);
}

static double density(const double *x, double *gradient) {
    double sum = 0;
    for (int i = 0; i < DIM; i++) {
        sum -= 0.5 * x[i] * x[i];
        if (gradient) gradient[i] = -x[i];
    }
    return sum;
}
static double logp(const double *x, void *data) {
    rest(data);
    return density(x, NULL);
}
static double grad(const double *x, double *gradient, void *data) {
    rest(data);
    return density(x, gradient);
}

static ais_status kernel_of(ais_context *context, int which, ais_kernel **kernel) {
    const ais_shape spline = {.map = AIS_SPLINE, .reversal = AIS_SWAP, .dim = DIM};
    if (which == 0) return ais_kernel_learned(context, &spline, 1, kernel);
    if (which == 1) return ais_kernel_rwm(context, &(ais_rwm_options){.scale = 1}, kernel);
    return ais_kernel_nuts(context, &(ais_nuts_options){.step_size = 0.9}, kernel);
}

int main(int count, char **word) {
    double seconds = 1e-3 * (count > 1 ? atof(word[1]) : 5);
    const ais_target target = {.name = "slow", .dim = DIM, .logp = logp, .grad = grad, .data = &seconds};
    const int threads[] = {1, 2, 16};
    bool same = true;
    printf("%d chains x %d draws, %g ms an evaluation\nkernel   threads  evaluations  seconds  busy\n", CHAINS, DRAWS,
           1e3 * seconds);
    for (int which = 0; which < KERNELS; which++) {
        ais_draws *first = NULL;
        for (int k = 0; k < 3; k++) {
            ais_context context = {0};
            ais_kernel *kernel = NULL;
            ais_sink *sink = NULL;
            ais_sample_result result = {0};
            const ais_sample_options options = {.seed = 1, .chains = CHAINS, .draws = DRAWS, .threads = threads[k]};
            ais_status status = kernel_of(&context, which, &kernel);
            if (status == AIS_OK) status = ais_sink_memory(&context, &sink);
            if (status == AIS_OK) status = ais_sample(&context, &target, kernel, &options, &sink, 1, &result);
            if (status != AIS_OK) {
                fprintf(stderr, "%s\n", context.message);
                return 1;
            }
            long drawing = result.densities + result.gradients - result.start_evaluations;
            double busy = (double)drawing * seconds / (threads[k] * result.sample_seconds);
            printf("%-8s %7d %12ld %8.2f %5.2f\n", ais_kernel_name(kernel), threads[k], drawing, result.sample_seconds,
                   busy);
            ais_draws *draws = ais_sink_memory_take(sink);
            if (first) same &= memcmp(first->value, draws->value, DIM * CHAINS * DRAWS * sizeof(double)) == 0;
            if (first)
                ais_draws_free(draws);
            else
                first = draws;
            ais_sink_free(sink);
            ais_kernel_free(kernel);
        }
        ais_draws_free(first);
    }
    puts(same ? "the draws are the same on any number of threads" : "the draws DIFFER");
    return !same;
}
