/* stan_density.h: a Stan model as a density, through the BridgeStan functions of stanli's runtime library.
 *
 * measure.py writes a file per posterior that says which:
 *
 *     #define STAN_LIBRARY "/.../libstanli_runtime.so"
 *     #define STAN_MODEL "/.../model.json"       data, and the program as stanli wants it
 *     #define STAN_DIM 10                        unconstrained parameters
 *     #define STAN_NAMES "mu", "theta.1", ...    their names
 *     #include ".../stan_density.h"
 *
 * The density is the one that Stan samples from: unconstrained, with the Jacobian. Where the model raises an error (a
 * matrix that is not positive definite, an ODE that cannot be solved) the density is 0, as in Stan's own sampler. Calls
 * may come from several threads: stanli's library is built with STAN_THREADS. */
#include <aisampler/density.h>
#include <dlfcn.h>
#include <math.h>
#include <stdbool.h>

#include "../metered.h"

typedef int log_density_function(const void *, bool, bool, const double *, double *, char **);
typedef int gradient_function(const void *, bool, bool, const double *, double *, double *, char **);
static log_density_function *stan_log_density;
static gradient_function *stan_gradient;
static void (*stan_free_message)(char *);
static void *stan_model;

/* A model that cannot be had ends the program: there is nothing to measure then. */
static void *wanted(void *thing, const char *what) {
    if (thing) return thing;
    fprintf(stderr, "%s: %s\n", STAN_MODEL, what);
    exit(1);
}

__attribute__((constructor)) static void stan_open(void) {
    struct timespec from, to;
    clock_gettime(CLOCK_MONOTONIC, &from);
    void *library = wanted(dlopen(STAN_LIBRARY, RTLD_NOW | RTLD_LOCAL), "cannot open " STAN_LIBRARY);
    void *construct = wanted(dlsym(library, "bs_model_construct"), "no bs_model_construct in " STAN_LIBRARY);
    stan_log_density = (log_density_function *)wanted(dlsym(library, "bs_log_density"), "no bs_log_density");
    stan_gradient =
        (gradient_function *)wanted(dlsym(library, "bs_log_density_gradient"), "no bs_log_density_gradient");
    stan_free_message = (void (*)(char *))wanted(dlsym(library, "bs_free_error_msg"), "no bs_free_error_msg");
    char *message = NULL;
    void *model = ((void *(*)(const char *, unsigned, char **))construct)(STAN_MODEL, 1, &message);
    stan_model = wanted(model, message ? message : "the model cannot be constructed");
    clock_gettime(CLOCK_MONOTONIC, &to);
    metered_setup_seconds = (double)(to.tv_sec - from.tv_sec) + 1e-9 * (double)(to.tv_nsec - from.tv_nsec);
}

static double answer(int failed, double value, char *message) {
    if (message) stan_free_message(message);
    return failed || isnan(value) ? -INFINITY : value;
}

static double logp(const double *x, void *data) {
    (void)data;
    metered_density();
    double value = NAN;
    char *message = NULL;
    int failed = stan_log_density(stan_model, true, true, x, &value, &message);
    return answer(failed, value, message);
}

static double grad(const double *x, double *gradient, void *data) {
    (void)data;
    metered_gradient();
    double value = NAN;
    char *message = NULL;
    int failed = stan_gradient(stan_model, true, true, x, &value, gradient, &message);
    if (failed)
        for (int i = 0; i < STAN_DIM; i++) gradient[i] = 0;
    return answer(failed, value, message);
}

static const char *const names[] = {STAN_NAMES};
AIS_DENSITY = {AIS_DENSITY_HEAD, .dim = STAN_DIM, .logp = logp, .grad = grad, .names = names};
