/* The whole job in one call: learn a kernel for a density of one's own, draw with it, judge the draws.
 *     cc -Iinclude examples/01_run.c -Lbuild -Wl,-rpath,$PWD/build -laisampler -o run-program && ./run-program
 */
#include <stdio.h>

#include <aisampler/aisampler.h>

static double logp(const double *x, void *data) {
    (void)data;
    double bend = x[1] - x[0] * x[0];
    return -0.5 * x[0] * x[0] - 2 * bend * bend;
}

/* Optional; with it bends are found sooner. */
static double grad(const double *x, double *gradient, void *data) {
    double bend = x[1] - x[0] * x[0];
    gradient[0] = -x[0] + 8 * bend * x[0];
    gradient[1] = -4 * bend;
    return logp(x, data);
}

int main(void) {
    ais_context context = {0};
    const ais_target target = {.name = "banana", .dim = 2, .logp = logp, .grad = grad};
    const ais_run_options options = {AIS_RUN_HEAD, .seed = 1, .effective = 4000};
    ais_run_result *result;

    ais_status status = ais_run(&context, &target, &options, &result);
    if (status == AIS_OK) {
        ais_report_text(&context, result->diagnosis, NULL, 0, stdout);
        printf("log Z = %.3f +- %.3f after %ld evaluations; draw 1 of chain 1: %g %g\n", result->log_z,
               result->log_z_error, result->evaluations.densities + result->evaluations.gradients,
               ais_draws_column(result->draws, "x.1")[0], ais_draws_column(result->draws, "x.2")[0]);
    } else {
        fprintf(stderr, "%s\n", context.message);
    }
    ais_run_free(result);
    return status != AIS_OK;
}
