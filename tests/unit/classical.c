/* The parts of the classical kernels against known values, and what they refuse. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "classical/dual_averaging.h"
#include "classical/metric.h"
#include "classical/welford.h"
#include "classical/windows.h"
#include "kernel/kernel.h"

#define assert_near(a, b, tolerance)                                                                                   \
    do {                                                                                                               \
        double a_ = (a), b_ = (b);                                                                                     \
        if (!(fabs(a_ - b_) <= (tolerance))) fail_msg("%s = %.17g, not %.17g", #a, a_, b_);                            \
    } while (0)

#define assert_contains(text, part)                                                                                    \
    do {                                                                                                               \
        if (!strstr(text, part)) fail_msg("\"%s\" is not in \"%s\"", part, text);                                      \
    } while (0)

static double gaussian(const double *x, void *data) {
    int dim = *(const int *)data;
    double sum = 0;
    for (int i = 0; i < dim; i++) sum -= 0.5 * x[i] * x[i];
    return sum;
}

static double gaussian_grad(const double *x, double *gradient, void *data) {
    int dim = *(const int *)data;
    for (int i = 0; i < dim; i++) gradient[i] = -x[i];
    return gaussian(x, data);
}

static double nan_beyond_two(const double *x, void *data) { return x[0] > 2 ? NAN : gaussian(x, data); }
static double nan_beyond_two_grad(const double *x, double *gradient, void *data) {
    double logp = gaussian_grad(x, gradient, data);
    return x[0] > 2 ? NAN : logp;
}
static double nowhere(const double *x, void *data) {
    (void)x;
    (void)data;
    return -INFINITY;
}
static double above_one(const double *x, void *data) { return x[0] > 1 ? gaussian(x, data) : -INFINITY; }
static double flat(const double *x, void *data) {
    (void)x;
    (void)data;
    return 0;
}
static double flat_grad(const double *x, double *gradient, void *data) {
    (void)x;
    for (int i = 0; i < *(const int *)data; i++) gradient[i] = 0;
    return 0;
}
static double nan_gradient(const double *x, double *gradient, void *data) {
    double logp = gaussian_grad(x, gradient, data);
    gradient[1] = NAN;
    return logp;
}

static int two = 2, one = 1;

/* ---- adaptation -------------------------------------------------------------------------------- */

static void dual_averaging_follows_hoffman_and_gelman(void **unused) {
    (void)unused;
    const double acceptance[] = {0.3, 0.95, 1.7, 0.61};
    const double next[] = {1.4906941896577923, 1.6215377189619822, 2.4809183328396314, 1.400604946903183};
    ais_dual_averaging averaging;
    ais_dual_averaging_restart(&averaging, AIS_STAN_GAMMA, 0.8, log(3.7));
    assert_near(ais_dual_averaging_final(&averaging, 0.123), 0.123, 0);
    for (int i = 0; i < 4; i++) assert_near(ais_dual_averaging_next(&averaging, acceptance[i]) / next[i], 1, 1e-13);
    assert_near(ais_dual_averaging_final(&averaging, 0.123) / 1.7156837175164392, 1, 1e-13);
}

static void windows_are_stans(void **unused) {
    (void)unused;
    static const struct {
        uint64_t warmup, first, past, ends[6];
    } cases[] = {
        {1000, 75, 950, {99, 149, 249, 449, 949}},
        {150, 75, 100, {99}},
        {160, 75, 110, {99, 109}},
        {100, 15, 90, {89}},
        {20, 3, 18, {17}},
        {300, 75, 250, {99, 149, 249}},
        {19, 0, 0, {0}},
        {0, 0, 0, {0}},
    };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        ais_windows windows = ais_windows_new(cases[k].warmup);
        const uint64_t *end = cases[k].ends;
        for (uint64_t t = 0; t < cases[k].warmup; t++) {
            ais_window window = ais_windows_advance(&windows);
            bool inside = t >= cases[k].first && t < cases[k].past, last = inside && *end && t == *end;
            assert_int_equal(window, last ? AIS_WINDOW_END : inside ? AIS_WINDOW_INSIDE : AIS_WINDOW_OUTSIDE);
            end += last;
        }
        assert_int_equal(*end, 0);
    }
}

static const double points[5][2] = {{2.385, -1e3}, {-0.7, 1e3}, {1.25, 17.5}, {0.1, -3.25}, {9.5, 4}};

static void welford_agrees_with_two_passes(void **unused) {
    (void)unused;
    double mean[2] = {0}, covariance[2][2] = {{0}}, diagonal[2], dense[4];
    for (int k = 0; k < 5; k++)
        for (int i = 0; i < 2; i++) mean[i] += points[k][i] / 5;
    for (int k = 0; k < 5; k++)
        for (int i = 0; i < 2; i++)
            for (int j = 0; j < 2; j++) covariance[i][j] += (points[k][i] - mean[i]) * (points[k][j] - mean[j]) / 4;
    for (int d = 0; d < 2; d++) {
        ais_arena arena = {0};
        ais_welford welford;
        assert_true(ais_welford_take(&welford, &arena, 2, d == 1));
        ais_welford_add(&welford, (double[]){1e9, -1e9});
        ais_welford_restart(&welford);
        for (int k = 0; k < 5; k++) ais_welford_add(&welford, points[k]);
        ais_welford_regularised(&welford, d ? dense : diagonal);
        ais_arena_free(&arena);
    }
    for (int i = 0; i < 2; i++) { /* 5 draws and 5 more of variance 1e-3: halfway between the two */
        assert_near(diagonal[i] / (0.5 * covariance[i][i] + 0.5e-3), 1, 1e-13);
        for (int j = 0; j < 2; j++)
            assert_near(dense[2 * i + j] / (0.5 * covariance[i][j] + (i == j ? 0.5e-3 : 0)), 1, 1e-13);
    }
}

/* p = S^-1/2 u for some root: the kinetic energy must be that of u, whatever S. */
static void momentum_has_the_energy_of_its_normals(void **unused) {
    (void)unused;
    for (int d = 0; d < 2; d++) {
        ais_arena arena = {0};
        ais_welford welford;
        ais_metric metric;
        assert_true(ais_welford_take(&welford, &arena, 2, d == 1) && ais_metric_take(&metric, &arena, 2, d == 1));
        for (int k = 0; k < 5; k++) ais_welford_add(&welford, points[k]);
        double p[2] = {0.3, -1.7}, v[2], before = p[0] * p[0] + p[1] * p[1];
        ais_metric_momentum(&metric, p);
        assert_near(p[1], -1.7, 0); /* the identity at first */
        assert_true(ais_metric_learn(&metric, &welford));
        ais_metric_momentum(&metric, p);
        assert_true(fabs(p[1] + 1.7) > 1);
        ais_metric_velocity(&metric, p, v);
        assert_near((p[0] * v[0] + p[1] * v[1]) / before, 1, 1e-12);
        ais_welford_restart(&welford); /* what overflows is refused and changes nothing */
        for (int k = 0; k < 5; k++) ais_welford_add(&welford, (double[]){k % 2 ? 1e300 : -1e300, k});
        double again[2] = {0.3, -1.7};
        assert_false(ais_metric_learn(&metric, &welford));
        ais_metric_momentum(&metric, again);
        assert_memory_equal(again, p, sizeof p);
        ais_arena_free(&arena);
    }
}

/* ---- options ------------------------------------------------------------------------------------ */

static void wrong_options_are_refused(void **unused) {
    (void)unused;
    ais_kernel *kernel;
    const ais_rwm_options rwm[] = {
        {.scale = -1}, {.scale = NAN}, {.scale = INFINITY}, {.target_accept = 1}, {.target_accept = -0.1}};
    for (size_t i = 0; i < sizeof rwm / sizeof *rwm; i++) {
        ais_context context = {0};
        assert_int_equal(ais_kernel_rwm(&context, &rwm[i], &kernel), AIS_BAD_ARGUMENT);
        assert_contains(context.message, rwm[i].target_accept == 0 ? "scale is" : "target_accept is");
        assert_null(kernel);
    }
    const ais_hmc_options hmc[] = {{.step_size = -0.5}, {.step_size = NAN}, {.target_accept = 1.5}, {.leapfrogs = -3},
                                   {.jitter = 1},       {.jitter = -0.1},   {.jitter = NAN}};
    const char *const hmc_says[] = {"step_size is -0.5", "step_size is nan", "target_accept is 1.5",
                                    "leapfrogs is -3",   "jitter is 1",      "jitter is -0.1",
                                    "jitter is"};
    for (size_t i = 0; i < sizeof hmc / sizeof *hmc; i++) {
        ais_context context = {0};
        assert_int_equal(ais_kernel_hmc(&context, &hmc[i], &kernel), AIS_BAD_ARGUMENT);
        assert_contains(context.message, hmc_says[i]);
        assert_null(kernel);
    }
    const ais_nuts_options nuts[] = {
        {.step_size = -2}, {.target_accept = NAN}, {.max_depth = -1}, {.max_depth = 99}, {.target_accept = 1}};
    const char *const nuts_says[] = {"step_size is -2", "target_accept is", "max_depth is -1", "max_depth is 99",
                                     "target_accept is 1"};
    for (size_t i = 0; i < sizeof nuts / sizeof *nuts; i++) {
        ais_context context = {0};
        assert_int_equal(ais_kernel_nuts(&context, &nuts[i], &kernel), AIS_BAD_ARGUMENT);
        assert_contains(context.message, nuts_says[i]);
        assert_null(kernel);
    }
}

static void cycles_join_names_and_needs(void **unused) {
    (void)unused;
    ais_context context = {0};
    ais_kernel *a, *b, *inner, *cycle;
    assert_int_equal(ais_kernel_rwm(&context, NULL, &a), AIS_OK);
    assert_int_equal(ais_kernel_nuts(&context, NULL, &b), AIS_OK);
    assert_string_equal(ais_kernel_name(a), "rwm");
    assert_int_equal(ais_kernel_dim(b), 0);
    assert_int_equal(ais_kernel_cycle(&context, (ais_kernel *[]){a, b, a}, 3, &inner), AIS_OK);
    assert_int_equal(ais_kernel_hmc(&context, NULL, &b), AIS_OK);
    assert_int_equal(ais_kernel_cycle(&context, (ais_kernel *[]){inner, b}, 2, &cycle), AIS_OK);
    assert_string_equal(ais_kernel_name(cycle), "rwm+nuts+rwm+hmc");
    assert_true(cycle->type->needs_gradient);
    assert_int_equal(ais_kernel_info(cycle), (1u << AIS_INFO_ROUND_TRIP) - 1);
    assert_string_equal(ais_info_name[AIS_INFO_STEP_SIZE], "stepsize__");
    assert_string_equal(ais_info_name[AIS_INFO_ROUND_TRIP], "round_trip__");
    ais_kernel_free(cycle);
    ais_kernel_free(NULL);

    assert_int_equal(ais_kernel_cycle(&context, NULL, 0, &cycle), AIS_BAD_ARGUMENT);
    assert_int_equal(ais_kernel_rwm(&context, NULL, &a), AIS_OK);
    assert_int_equal(ais_kernel_rwm(&context, NULL, &b), AIS_OK);
    assert_int_equal(ais_kernel_cycle(&context, (ais_kernel *[]){a, NULL, b}, 3, &cycle), AIS_BAD_ARGUMENT);
    assert_contains(context.message, "part 2");
    assert_int_equal(ais_kernel_rwm(&context, NULL, &a), AIS_OK);
    assert_int_equal(ais_kernel_rwm(&context, NULL, &b), AIS_OK);
    a->dim = 2;
    b->dim = 3;
    assert_int_equal(ais_kernel_cycle(&context, (ais_kernel *[]){a, b}, 2, &cycle), AIS_BAD_ARGUMENT);
    assert_contains(context.message, "dimension 3");
    ais_kernel *many[AIS_MAX_PARTS + 1];
    assert_int_equal(ais_kernel_rwm(&context, NULL, &a), AIS_OK);
    for (int i = 0; i <= AIS_MAX_PARTS; i++) many[i] = a;
    assert_int_equal(ais_kernel_cycle(&context, many, AIS_MAX_PARTS + 1, &cycle), AIS_BAD_ARGUMENT);
    assert_contains(context.message, "257");
}

static void parts_never_share_a_stream(void **unused) {
    (void)unused;
    ais_state state = {.seed = 7, .step = 12, .chain = 3};
    ais_stream first = ais_state_stream(&state, 2, AIS_FOR_WALK);
    state.part = 1;
    ais_stream second = ais_state_stream(&state, 2, AIS_FOR_WALK);
    assert_int_equal(first.chain, 5);
    assert_int_equal(first.step, 12);
    assert_true(first.step != second.step);
    state.part = AIS_MAX_PARTS - 1;
    assert_true(ais_state_stream(&state, 0, AIS_FOR_WALK).step < (uint64_t)1 << 56);
}

/* ---- what goes wrong at the start and under way ---------------------------------------------------- */

static ais_status start_and_step(ais_context *context, const ais_target *target, ais_kernel *kernel,
                                 const double *start, int steps) {
    ais_state *state;
    ais_info info[2];
    void *own;
    ais_status status = ais_state_new(context, target, 5, 0, 2, 0, start, &state);
    if (status == AIS_OK) status = kernel->type->init(context, kernel, state, &own);
    for (int t = 0; status == AIS_OK && t < steps; t++, state->step++)
        status = kernel->type->step(context, kernel, state, own, info);
    ais_state_free(state);
    ais_kernel_free(kernel);
    return status;
}

static ais_kernel *rwm(double scale) {
    ais_context context = {0};
    ais_kernel *kernel;
    assert_int_equal(ais_kernel_rwm(&context, &(ais_rwm_options){.scale = scale}, &kernel), AIS_OK);
    return kernel;
}
static ais_kernel *hmc(double step_size) {
    ais_context context = {0};
    ais_kernel *kernel;
    assert_int_equal(ais_kernel_hmc(&context, &(ais_hmc_options){.step_size = step_size}, &kernel), AIS_OK);
    return kernel;
}
static ais_kernel *nuts(double step_size) {
    ais_context context = {0};
    ais_kernel *kernel;
    assert_int_equal(ais_kernel_nuts(&context, &(ais_nuts_options){.step_size = step_size}, &kernel), AIS_OK);
    return kernel;
}

static void no_gradient_names_alternatives(void **unused) {
    (void)unused;
    ais_target target = {.name = "plain", .dim = 2, .logp = gaussian, .data = &two};
    ais_context context = {0};
    assert_int_equal(start_and_step(&context, &target, hmc(0), NULL, 1), AIS_BAD_ARGUMENT);
    assert_contains(context.message, "hmc needs the gradient");
    assert_contains(context.message, "plain");
    assert_int_equal(start_and_step(&context, &target, nuts(0), NULL, 1), AIS_BAD_ARGUMENT);
    assert_contains(context.message, "nuts needs the gradient");
    assert_contains(context.message, "rwm");
    assert_int_equal(start_and_step(&context, &target, rwm(0), NULL, 5), AIS_OK);
}

static void nan_density_shows_the_point(void **unused) {
    (void)unused;
    ais_target target = {.name = "holed", .dim = 2, .logp = nan_beyond_two, .grad = nan_beyond_two_grad, .data = &two};
    const double start[4] = {0.25, 0, 0.25, 0};
    ais_kernel *kernels[] = {rwm(3), hmc(0.2), nuts(0.2)};
    for (int k = 0; k < 3; k++) {
        ais_context context = {0};
        double x;
        assert_int_equal(start_and_step(&context, &target, kernels[k], start, 10000), AIS_BAD_DENSITY);
        assert_contains(context.message, "holed is nan at x = (");
        assert_int_equal(sscanf(strchr(context.message, '('), "(%lf", &x), 1);
        assert_true(x > 2);
    }
    ais_context context = {0};
    assert_int_equal(start_and_step(&context, &target, rwm(1), (double[]){0.1, 0, 2.385, 1}, 1), AIS_BAD_DENSITY);
    assert_contains(context.message, "x = (2.385, 1)");
}

static void long_points_are_shortened(void **unused) {
    (void)unused;
    double x[1000];
    for (int i = 0; i < 1000; i++) x[i] = -1.2345678901234567e-300;
    ais_target target = {.name = "long", .dim = 1000};
    ais_context context = {0};
    assert_int_equal(ais_fail_density(&context, &target, INFINITY, x), AIS_BAD_DENSITY);
    assert_contains(context.message, "+infinity");
    assert_contains(context.message, "-1.2345678901234568e-300");
    assert_contains(context.message, "and 980 more)");
    assert_contains(context.message, "outside the support");
}

static void starts_outside_the_support(void **unused) {
    (void)unused;
    ais_target target = {.name = "void", .dim = 2, .logp = nowhere, .start_scale = 2.5, .data = &two};
    ais_context context = {0};
    assert_int_equal(start_and_step(&context, &target, rwm(1), NULL, 1), AIS_BAD_DENSITY);
    assert_contains(context.message, "100 points");
    assert_contains(context.message, "N(0, 2.5^2)");
    target = (ais_target){.name = "right", .dim = 2, .logp = above_one, .data = &two};
    assert_int_equal(start_and_step(&context, &target, rwm(1), (double[]){1.5, 0, 0.5, 0}, 1), AIS_BAD_ARGUMENT);
    assert_contains(context.message, "chain 2 starts at x = (0.5, 0)");
    assert_int_equal(start_and_step(&context, &target, rwm(1), (double[]){1.5, INFINITY, 2, 0}, 1), AIS_BAD_ARGUMENT);
    assert_contains(context.message, "coordinate 2 of the start of chain 1");
    ais_state *state; /* drawn again until inside */
    assert_int_equal(ais_state_new(&context, &target, 5, 0, 40, 0, NULL, &state), AIS_OK);
    assert_int_equal(state->lanes, 48);
    for (int c = 0; c < 48; c++) assert_true(state->x[c] > 1);
    ais_state_free(state);
}

static void hopeless_gradients_are_refused(void **unused) {
    (void)unused;
    ais_context context = {0};
    ais_target target = {.name = "flat", .dim = 1, .logp = flat, .grad = flat_grad, .data = &one};
    assert_int_equal(start_and_step(&context, &target, nuts(0), NULL, 1), AIS_BAD_DENSITY);
    assert_contains(context.message, "integral");
    target = (ais_target){.name = "broken", .dim = 2, .logp = gaussian, .grad = nan_gradient, .data = &two};
    assert_int_equal(start_and_step(&context, &target, hmc(0.1), NULL, 1), AIS_BAD_DENSITY);
    assert_contains(context.message, "coordinate 2 of the gradient");
}

/* With a step size this large the very first leapfrog steps overflow: a divergence, no error. */
static void overflow_is_divergence(void **unused) {
    (void)unused;
    ais_target target = {.name = "gaussian", .dim = 2, .logp = gaussian, .grad = gaussian_grad, .data = &two};
    ais_kernel *kernels[] = {hmc(1e200), nuts(1e200), hmc(1e300), nuts(1e300), rwm(1.7e308)};
    for (int k = 0; k < 5; k++) {
        ais_context context = {0};
        ais_state *state;
        ais_info info[2];
        void *own;
        assert_int_equal(ais_state_new(&context, &target, 5, 0, 2, 0, NULL, &state), AIS_OK);
        assert_int_equal(kernels[k]->type->init(&context, kernels[k], state, &own), AIS_OK);
        for (; state->step < 20; state->step++) {
            assert_int_equal(kernels[k]->type->step(&context, kernels[k], state, own, info), AIS_OK);
            assert_near(info[0].accept_stat, 0, 0);
            if (kernels[k]->type->needs_gradient) assert_near(info[0].divergent, 1, 0);
        }
        assert_int_equal(state->version[0], 0);
        ais_state_free(state);
        ais_kernel_free(kernels[k]);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(dual_averaging_follows_hoffman_and_gelman),
        cmocka_unit_test(windows_are_stans),
        cmocka_unit_test(welford_agrees_with_two_passes),
        cmocka_unit_test(momentum_has_the_energy_of_its_normals),
        cmocka_unit_test(wrong_options_are_refused),
        cmocka_unit_test(cycles_join_names_and_needs),
        cmocka_unit_test(parts_never_share_a_stream),
        cmocka_unit_test(no_gradient_names_alternatives),
        cmocka_unit_test(nan_density_shows_the_point),
        cmocka_unit_test(long_points_are_shortened),
        cmocka_unit_test(starts_outside_the_support),
        cmocka_unit_test(hopeless_gradients_are_refused),
        cmocka_unit_test(overflow_is_divergence),
    };
    return cmocka_run_group_tests_name("classical", tests, NULL, NULL);
}
