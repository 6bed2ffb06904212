/* Differences that stand in for a gradient: what they give, what they cost, and that learning counts every evaluation
 * of them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdlib.h>

#include <aisampler/aisampler.h>

#include "look/differences.h"

enum { DIM = 6 };

/* A funnel, which counts how often it is asked. */
static double logp(const double *x, void *data) {
    long *asked = data;
    double sum = -x[0] * x[0] / 18;
    for (int i = 1; i < DIM; i++) sum -= x[i] * x[i] * exp(-x[0]) / 2 + x[0] / 2;
    if (asked) (*asked)++;
    return sum;
}

static double gradient_of(const double *x, double *gradient) {
    gradient[0] = -x[0] / 9;
    for (int i = 1; i < DIM; i++) {
        gradient[0] += x[i] * x[i] * exp(-x[0]) / 2 - 0.5;
        gradient[i] = -x[i] * exp(-x[0]);
    }
    return logp(x, NULL);
}

static void batch(size_t n, const double *x, double *value, void *data) {
    double point[DIM];
    for (size_t c = 0; c < n; c++) {
        for (size_t i = 0; i < DIM; i++) point[i] = x[i * n + c];
        value[c] = logp(point, data);
    }
}

static void they_are_the_gradient(void **state) {
    (void)state;
    static const double x[DIM] = {0.3, -1, 2, 0.5, -0.25, 1.5};
    double step[DIM], exact[DIM], found[DIM];
    for (int form = 0; form < 2; form++) {
        long asked = 0;
        const ais_target target = {
            .name = "funnel", .dim = DIM, .logp = logp, .batch = form ? batch : NULL, .data = &asked};
        ais_differences differences = {.target = &target, .step = step};
        for (int i = 0; i < DIM; i++) step[i] = 1e-6;
        ais_target sloped = ais_target_differences(&differences);
        assert_true(sloped.grad(x, found, sloped.data) == gradient_of(x, exact));
        assert_int_equal(asked, ais_differences_price(&target));
        for (int i = 0; i < DIM; i++) assert_true(fabs(found[i] - exact[i]) < 1e-4);
        for (int i = 0; i < DIM; i++) step[i] = 0.3; /* and one that is far too long shows */
        sloped.grad(x, found, sloped.data);
        assert_true(fabs(found[2] - exact[2]) > 0.05);
    }
}

/* Weights alone teach little of a funnel. */
static void a_funnel_without_a_gradient(void **state) {
    (void)state;
    ais_context context = {0};
    ais_kernel *kernel;
    ais_training *training;
    long asked = 0;
    const ais_target target = {.name = "funnel", .dim = DIM, .logp = logp, .data = &asked};
    const ais_train_options options = {.seed = 41, .threads = 1, .effective = 4000};
    if (ais_train(&context, &target, &options, &kernel, &training) != AIS_OK) fail_msg("%s", context.message);
    assert_int_equal(training->gradients, 0);
    assert_int_equal(training->densities, asked);
    print_message("%s: acceptance %.3f, log Z %.3f off, +- %.3f, %ld evaluations\n", ais_kernel_name(kernel),
                  training->acceptance, training->log_z - (log(3) + DIM * log(2 * acos(-1)) / 2), training->log_z_error,
                  asked);
    assert_true(training->acceptance > 0.5);
    assert_true(fabs(training->log_z - (log(3) + DIM * log(2 * acos(-1)) / 2)) < 0.2);
    ais_kernel_free(kernel);
    ais_training_free(training);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(they_are_the_gradient),
        cmocka_unit_test(a_funnel_without_a_gradient),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
