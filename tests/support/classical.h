/* Densities with known moments and exact draws, and the classical kernels that are run over them. */
#ifndef TESTS_CLASSICAL_H
#define TESTS_CLASSICAL_H

#include <math.h>

#include "kernel/kernel.h"
#include "simd/normal.h"

enum { MAX_DIM = 3, MAX_FUNCTIONS = 9 };

/* A density, a way to draw from it exactly (from dim normals and a uniform), and functions with their
 * true means. */
typedef struct law_target {
    ais_target target;
    void (*exact)(const double *normal, double uniform, double *x);
    int functions;
    void (*function)(const double *x, double *value);
    double truth[MAX_FUNCTIONS];
} law_target;

/* Gaussian: x = A u with A lower triangular, covariance A A'. */
static const double law_factor[3][3] = {{1.3, 0, 0}, {-0.9, 0.6, 0}, {0.5, 0.8, 0.45}};

static inline void gaussian3_solve(const double *x, double *u) {
    for (int i = 0; i < 3; i++) {
        u[i] = x[i];
        for (int j = 0; j < i; j++) u[i] -= law_factor[i][j] * u[j];
        u[i] /= law_factor[i][i];
    }
}
static inline double gaussian3_grad(const double *x, double *gradient, void *data) {
    (void)data;
    double u[3];
    gaussian3_solve(x, u);
    double logp = -0.5 * (u[0] * u[0] + u[1] * u[1] + u[2] * u[2]);
    for (int i = 2; i >= 0; i--) { /* A' g = -u */
        gradient[i] = -u[i];
        for (int j = i + 1; j < 3; j++) gradient[i] -= law_factor[j][i] * gradient[j];
        gradient[i] /= law_factor[i][i];
    }
    return logp;
}
static inline double gaussian3_logp(const double *x, void *data) {
    double gradient[3];
    return gaussian3_grad(x, gradient, data);
}
static inline void gaussian3_exact(const double *normal, double uniform, double *x) {
    (void)uniform;
    for (int i = 0; i < 3; i++) {
        x[i] = 0;
        for (int j = 0; j <= i; j++) x[i] += law_factor[i][j] * normal[j];
    }
}
static inline void gaussian3_functions(const double *x, double *f) {
    const double all[9] = {x[0],        x[1],        x[2],        x[0] * x[0], x[0] * x[1],
                           x[0] * x[2], x[1] * x[1], x[1] * x[2], x[2] * x[2]};
    for (int k = 0; k < 9; k++) f[k] = all[k];
}

/* Banana: x1 ~ N(0, 1), x2 | x1 ~ N(b x1^2, s^2). Has a batch form. */
#define BANANA_B 0.5
#define BANANA_S 0.7
static inline double banana_grad(const double *x, double *gradient, void *data) {
    (void)data;
    double off = (x[1] - BANANA_B * x[0] * x[0]) / (BANANA_S * BANANA_S);
    gradient[0] = -x[0] + off * 2 * BANANA_B * x[0];
    gradient[1] = -off;
    return -0.5 * x[0] * x[0] - 0.5 * off * off * BANANA_S * BANANA_S;
}
static inline double banana_logp(const double *x, void *data) {
    double gradient[2];
    return banana_grad(x, gradient, data);
}
static inline void banana_batch(size_t n, const double *x, double *logp, void *data) {
    for (size_t c = 0; c < n; c++) logp[c] = banana_logp((double[]){x[c], x[n + c]}, data);
}
static inline void banana_exact(const double *normal, double uniform, double *x) {
    (void)uniform;
    x[0] = normal[0];
    x[1] = BANANA_B * x[0] * x[0] + BANANA_S * normal[1];
}
static inline void banana_functions(const double *x, double *f) {
    const double all[6] = {x[0], x[1], x[0] * x[0], x[1] * x[1], x[0] * x[1], x[0] * x[0] * x[1]};
    for (int k = 0; k < 6; k++) f[k] = all[k];
}

/* Exponential on the half line; outside, the gradient is not a number. */
static inline double half_line_grad(const double *x, double *gradient, void *data) {
    (void)data;
    *gradient = x[0] > 0 ? -1 : NAN;
    return x[0] > 0 ? -x[0] : -INFINITY;
}
static inline double half_line_logp(const double *x, void *data) {
    double gradient;
    return half_line_grad(x, &gradient, data);
}
static inline void half_line_exact(const double *normal, double uniform, double *x) {
    (void)normal;
    x[0] = -log(uniform);
}
static inline void half_line_functions(const double *x, double *f) {
    f[0] = x[0];
    f[1] = x[0] * x[0];
    f[2] = x[0] < 0.5;
}

static const law_target law_targets[] = {
    {{.name = "gaussian3", .dim = 3, .logp = gaussian3_logp, .grad = gaussian3_grad},
     gaussian3_exact,
     9,
     gaussian3_functions,
     {0, 0, 0, 1.69, -1.17, 0.65, 0.81 + 0.36, -0.45 + 0.48, 0.25 + 0.64 + 0.2025}},
    {{.name = "banana", .dim = 2, .logp = banana_logp, .batch = banana_batch, .grad = banana_grad},
     banana_exact,
     6,
     banana_functions,
     {0, BANANA_B, 1, BANANA_S *BANANA_S + 3 * BANANA_B *BANANA_B, 0, 3 * BANANA_B}},
    {{.name = "half line", .dim = 1, .logp = half_line_logp, .grad = half_line_grad},
     half_line_exact,
     3,
     half_line_functions,
     {1, 2, 1 - 0.60653065971263342}},
};
enum { LAW_TARGETS = sizeof law_targets / sizeof *law_targets };

/* An exact draw, a pure function of seed and chain. */
static inline void law_exact(const law_target *law, uint64_t seed, uint32_t chain, double *x) {
    ais_stream stream = {seed, 0, chain, AIS_FOR_USER}, other = {seed, 0, chain, AIS_FOR_USER + 1};
    double normal[MAX_DIM];
    ais_normals(&stream, (size_t)law->target.dim, normal);
    law->exact(normal, ais_random_uniform(&other, 0), x);
}

/* ---- kernels ------------------------------------------------------------------------------------ */

static inline ais_kernel *make_rwm(double scale) {
    ais_context context = {0};
    ais_kernel *kernel;
    ais_kernel_rwm(&context, &(ais_rwm_options){.scale = scale}, &kernel);
    return kernel;
}
static inline ais_kernel *make_hmc(double step_size, double jitter) {
    ais_context context = {0};
    ais_kernel *kernel;
    ais_kernel_hmc(&context, &(ais_hmc_options){.step_size = step_size, .leapfrogs = 7, .jitter = jitter}, &kernel);
    return kernel;
}
static inline ais_kernel *make_nuts(double step_size, bool dense, int max_depth) {
    ais_context context = {0};
    ais_kernel *kernel;
    ais_kernel_nuts(&context, &(ais_nuts_options){.step_size = step_size, .dense = dense, .max_depth = max_depth},
                    &kernel);
    return kernel;
}
static inline ais_kernel *make_cycle(ais_kernel *a, ais_kernel *b, ais_kernel *c) {
    ais_context context = {0};
    ais_kernel *kernel;
    ais_kernel_cycle(&context, (ais_kernel *[]){a, b, c}, c ? 3 : 2, &kernel);
    return kernel;
}

static inline ais_kernel *fixed_rwm(void) { return make_rwm(0.8); }
static inline ais_kernel *fixed_hmc(void) { return make_hmc(0.3, 0.2); }
static inline ais_kernel *fixed_nuts(void) { return make_nuts(0.4, false, 0); }
static inline ais_kernel *fixed_nuts_dense(void) { return make_nuts(0.4, true, 0); }
static inline ais_kernel *shallow_nuts(void) { return make_nuts(0.4, false, 2); }
static inline ais_kernel *fixed_cycle(void) { return make_cycle(fixed_rwm(), fixed_nuts(), NULL); }
static inline ais_kernel *nested_cycle(void) {
    return make_cycle(fixed_hmc(), make_cycle(fixed_rwm(), fixed_hmc(), NULL), fixed_nuts_dense());
}
static inline ais_kernel *tuned_rwm(void) { return make_rwm(0); }
static inline ais_kernel *tuned_hmc(void) { return make_hmc(0, 0); }
static inline ais_kernel *tuned_nuts(void) { return make_nuts(0, false, 0); }
static inline ais_kernel *tuned_nuts_dense(void) { return make_nuts(0, true, 0); }
static inline ais_kernel *tuned_cycle(void) { return make_cycle(tuned_nuts_dense(), tuned_rwm(), tuned_hmc()); }

typedef struct law_kernel {
    const char *name;
    ais_kernel *(*make)(void);
    uint64_t warmup; /* steps to tune before */
} law_kernel;

static const law_kernel law_kernels[] = {
    {"rwm", fixed_rwm, 0},
    {"hmc", fixed_hmc, 0},
    {"nuts", fixed_nuts, 0},
    {"nuts dense", fixed_nuts_dense, 0},
    {"nuts of depth 2", shallow_nuts, 0},
    {"rwm+nuts", fixed_cycle, 0},
    {"hmc+(rwm+hmc)+nuts", nested_cycle, 0},
    {"rwm without warm-up", tuned_rwm, 0},
    {"hmc without warm-up", tuned_hmc, 0},
    {"rwm tuned", tuned_rwm, 24},
    {"hmc tuned", tuned_hmc, 24},
    {"nuts tuned", tuned_nuts, 24},
    {"nuts dense tuned", tuned_nuts_dense, 24},
    {"cycle tuned", tuned_cycle, 24},
};
enum { LAW_KERNELS = sizeof law_kernels / sizeof *law_kernels };

/* Kernel k: those above, then all of the library's table, tuned; without a name past the last. */
static inline law_kernel law_kernel_at(int k) {
    if (k < LAW_KERNELS) return law_kernels[k];
    const ais_classical_entry *entry = ais_classical_builtin(k - LAW_KERNELS);
    return entry ? (law_kernel){entry->name, NULL, 24} : (law_kernel){0};
}

static inline ais_kernel *law_make(const law_kernel *law) {
    ais_context context = {0};
    ais_kernel *kernel = NULL;
    if (law->make) return law->make();
    ais_kernel_classical(&context, law->name, NULL, &kernel);
    return kernel;
}

#endif
