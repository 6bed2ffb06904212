/* What a plan of a flow's training says is what is done: early ends, rates of layers. */
#include "support.h"

#include <aisampler/kernel.h>

#include "trainer/flow_trainer.h"

enum { CHAINS = 64, STEPS = 80, HIDDEN = 8, BINS = 4 };

static double gaussian(const double *x, void *data) {
    (void)data;
    return -0.5 * (x[0] * x[0] + 0.25 * x[1] * x[1]);
}

static ais_flow_plan small(void) {
    return (ais_flow_plan){.steps = STEPS,
                           .rate = 1e-2,
                           .likelihood_share = 0.5,
                           .second = AIS_FLOW_PAIR,
                           .batch = 64,
                           .steps_per_round = 10,
                           .sweeps = 1,
                           .walks = 1,
                           .checks = 2,
                           .check_chains = 64,
                           .check_draws = 50};
}

/* Trains; `before` and `after` receive the weights of the only layer's conditioner: 1, HIDDEN, HIDDEN, outputs. */
static ais_flow_result train(const ais_flow_plan *plan, size_t count, ais_real *before, ais_real *after) {
    ais_context context = {0};
    ais_target target = {.name = "test", .dim = 2, .logp = gaussian};
    ais_shape shape = {.map = AIS_SPLINE,
                       .reversal = AIS_SWAP,
                       .dim = 2,
                       .layers = 1,
                       .hidden = HIDDEN,
                       .depth = 2,
                       .bins = BINS,
                       .bound = 4,
                       .activation = AIS_TANH};
    ais_pool *pool;
    ais_population *population;
    ais_kernel *kernel;
    ais_flow_result result;
    assert_ok(context, ais_pool_new(&context, 1, &pool));
    assert_ok(context, ais_population_new(&context, pool, &target, 7, CHAINS, NULL, &population));
    assert_ok(context, ais_kernel_learned(&context, &shape, 3, &kernel));
    ais_flow_spread(kernel, 3, 2);
    size_t all;
    const float *weights = ais_kernel_weights(kernel, &all);
    assert_int_equal(all, count);
    for (size_t i = 0; i < count; i++) before[i] = weights[i];
    assert_ok(context, ais_flow_train(&context, kernel, population, 3, plan, &result));
    for (size_t i = 0; i < count; i++) after[i] = weights[i];
    ais_population_use(&context, population, NULL);
    ais_kernel_free(kernel);
    ais_population_free(population);
    ais_pool_free(pool);
    return result;
}

enum {
    FIRST = 2 * HIDDEN,
    BETWEEN = (HIDDEN + 1) * HIDDEN,
    LAST = (HIDDEN + 1) * (3 * BINS - 1),
    COUNT = FIRST + BETWEEN + LAST
};

static void hope(void **state) {
    (void)state;
    ais_real before[COUNT], after[COUNT];
    ais_flow_plan plan = small();
    ais_flow_result result = train(&plan, COUNT, before, after);
    assert_true(result.steps == STEPS && !result.given_up);
    plan.hope = 0.01; /* the identity is accepted more often */
    result = train(&plan, COUNT, before, after);
    assert_true(result.steps == STEPS && !result.given_up);
    plan.hope = 1.01; /* nothing is */
    result = train(&plan, COUNT, before, after);
    assert_true(result.steps == STEPS / 8 && result.given_up);
    assert_true(result.worst_ess >= 0); /* judged all the same: there is a kernel to keep */
}

static double largest_change(const ais_real *before, const ais_real *after, int first, int count) {
    double largest = 0;
    for (int i = first; i < first + count; i++) largest = fmax(largest, fabs((double)after[i] - (double)before[i]));
    return largest;
}

static void rates(void **state) {
    (void)state;
    ais_real before[COUNT], after[COUNT];
    ais_flow_plan plan = small();
    plan.checks = 1; /* the last weights are kept */
    train(&plan, COUNT, before, after);
    double usual[] = {largest_change(before, after, 0, FIRST), largest_change(before, after, FIRST, BETWEEN),
                      largest_change(before, after, FIRST + BETWEEN, LAST)};
    for (int k = 0; k < 3; k++) assert_true(usual[k] > 1e-3);
    plan.first_rate = 1e-20;
    train(&plan, COUNT, before, after);
    assert_true(largest_change(before, after, 0, FIRST) < 1e-15);
    assert_true(largest_change(before, after, FIRST, BETWEEN) > 1e-3);
    assert_true(largest_change(before, after, FIRST + BETWEEN, LAST) > 1e-3);
    plan.first_rate = 0;
    plan.last_rate = 1e-20;
    train(&plan, COUNT, before, after);
    assert_true(largest_change(before, after, 0, FIRST) > 1e-4);
    assert_true(largest_change(before, after, FIRST + BETWEEN, LAST) < 1e-15);
}

/* Points of further walks are other points: the kernel differs; and so does it with another beta2. */
static void other_plans_differ(void **state) {
    (void)state;
    ais_real before[COUNT], usual[COUNT], after[COUNT];
    ais_flow_plan plan = small();
    train(&plan, COUNT, before, usual);
    train(&plan, COUNT, before, after);
    assert_memory_equal(usual, after, sizeof usual);
    plan.walks = 3;
    train(&plan, COUNT, before, after);
    assert_memory_not_equal(usual, after, sizeof usual);
    plan.walks = 1;
    plan.beta2 = 0.99;
    train(&plan, COUNT, before, after);
    assert_memory_not_equal(usual, after, sizeof usual);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(hope), cmocka_unit_test(rates),
                                       cmocka_unit_test(other_plans_differ)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
