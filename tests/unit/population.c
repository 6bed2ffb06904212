/* The population: the same points for any number of threads, invariance, refusals. */
#include "support.h"

#include <aisampler/kernel.h>

#include "explore/population.h"
#include "judge/fresh.h"

static double gaussian(const double *x, void *data) {
    (void)data;
    return -0.5 * (x[0] * x[0] + 0.25 * x[1] * x[1]);
}
static double spoilt(const double *x, void *data) { return x[0] > 1.5 ? NAN : gaussian(x, data); }
static double nowhere(const double *x, void *data) {
    (void)x, (void)data;
    return -INFINITY;
}

static ais_target target_of(ais_logp *logp) { return (ais_target){.name = "test", .dim = 2, .logp = logp}; }

static ais_population *make(ais_pool *pool, const ais_target *target, ais_kernel **kernel, int sweeps) {
    ais_context context = {0};
    ais_population *population;
    ais_shape shape = {.map = AIS_HENON, .dim = 2, .layers = 3, .hidden = 8, .activation = AIS_TANH};
    assert_ok(context, ais_population_new(&context, pool, target, 7, 300, NULL, &population));
    assert_int_equal(population->chains, 320);
    assert_ok(context, ais_kernel_learned(&context, &shape, 3, kernel));
    assert_ok(context, ais_population_use(&context, population, *kernel));
    assert_ok(context, ais_population_move(&context, population, sweeps, 2));
    return population;
}

static void threads(void **state) {
    (void)state;
    ais_context context = {0};
    ais_target target = target_of(gaussian);
    double x[2][2], first = 0;
    ais_fresh_result fresh[2];
    for (int k = 0; k < 2; k++) {
        ais_pool *pool;
        ais_kernel *kernel;
        assert_ok(context, ais_pool_new(&context, 1 + 2 * k, &pool));
        ais_population *population = make(pool, &target, &kernel, 20);
        ais_population_point(population, 211, x[k]);
        assert_ok(context, ais_fresh_chains(&context, population, kernel, 5, 70, 50, &fresh[k]));
        if (k == 0) first = population->acceptance;
        assert_true(population->acceptance == first);
        assert_true(population->acceptance > 0.05 && population->walk_acceptance > 0.3);
        for (int i = 0; i < 2; i++) assert_true(x[k][i] == x[0][i]);
        assert_true(fresh[k].worst_ess == fresh[0].worst_ess && fresh[k].acceptance == fresh[0].acceptance);
        ais_population_free(population);
        ais_kernel_free(kernel);
        ais_pool_free(pool);
    }
}

static void keeps_the_target(void **state) {
    (void)state;
    ais_context context = {0};
    ais_target target = target_of(gaussian);
    ais_pool *pool;
    ais_kernel *kernel;
    assert_ok(context, ais_pool_new(&context, 2, &pool));
    ais_population *population = make(pool, &target, &kernel, 300);
    double mean[2], sd[2];
    ais_population_moments(population, mean, sd);
    assert_near(mean[0], 0, 0.25);
    assert_near(mean[1], 0, 0.5);
    assert_near(sd[0], 1, 0.17);
    assert_near(sd[1], 2, 0.34);
    ais_population_scale_walk(population);
    assert_true(population->walk_scale[1] == sd[1]);
    ais_population_free(population);
    ais_kernel_free(kernel);
    ais_pool_free(pool);
}

/* The walk alone is what a move without a kernel does, on any number of threads; acceptances stay. */
static void walks_alone(void **state) {
    (void)state;
    ais_context context = {0};
    ais_target target = target_of(gaussian);
    ais_pool *pool[2];
    ais_population *population[2];
    for (int k = 0; k < 2; k++) {
        ais_kernel *kernel;
        assert_ok(context, ais_pool_new(&context, 1 + k, &pool[k]));
        population[k] = make(pool[k], &target, &kernel, 3);
        assert_ok(context, ais_population_use(&context, population[k], NULL));
        ais_kernel_free(kernel);
    }
    double acceptance = population[1]->acceptance, x[3][2];
    ais_population_point(population[0], 211, x[2]);
    assert_ok(context, ais_population_move(&context, population[0], 5, 1));
    for (int k = 0; k < 5; k++) assert_ok(context, ais_population_walk(&context, population[1]));
    for (int k = 0; k < 2; k++) ais_population_point(population[k], 211, x[k]);
    assert_true(x[0][0] == x[1][0] && x[0][1] == x[1][1] && x[0][0] != x[2][0]);
    assert_true(population[1]->acceptance == acceptance);
    for (int k = 0; k < 2; k++) {
        ais_population_free(population[k]);
        ais_pool_free(pool[k]);
    }
}

/* Given points are kept, and taken again for the chains that rounding adds. */
static void given_points(void **state) {
    (void)state;
    ais_context context = {0};
    ais_target target = target_of(gaussian);
    ais_pool *pool;
    ais_population *population;
    double start[3 * 2] = {0.5, -1, 2.25, 0.125, -0.75, 3}, x[2];
    assert_ok(context, ais_pool_new(&context, 1, &pool));
    assert_ok(context, ais_population_new(&context, pool, &target, 7, 3, start, &population));
    for (int c = 0; c < population->chains; c++) {
        ais_population_point(population, c, x);
        assert_true(x[0] == start[c % 3 * 2] && x[1] == start[c % 3 * 2 + 1]);
    }
    ais_population_free(population);
    start[2] = NAN;
    assert_int_equal(ais_population_new(&context, pool, &target, 7, 3, start, &population), AIS_BAD_ARGUMENT);
    assert_null(population);
    ais_pool_free(pool);
}

static void refusals(void **state) {
    (void)state;
    ais_context context = {0};
    ais_pool *pool;
    ais_population *population;
    ais_target target = target_of(nowhere), bad = target_of(spoilt);
    assert_ok(context, ais_pool_new(&context, 2, &pool));
    assert_int_equal(ais_population_new(&context, pool, &target, 7, 10, NULL, &population), AIS_BAD_DENSITY);
    assert_int_equal(ais_population_new(&context, pool, &target, 7, 0, NULL, &population), AIS_BAD_ARGUMENT);
    /* a NaN met while moving stops the move and names the point */
    double start[2] = {0, 0};
    assert_ok(context, ais_population_new(&context, pool, &bad, 7, 1, start, &population));
    assert_int_equal(ais_population_move(&context, population, 200, 3), AIS_BAD_DENSITY);
    assert_non_null(strstr(context.message, "nan"));
    ais_population_free(population);
    context = (ais_context){0};
    assert_ok(context, ais_population_new(&context, pool, &bad, 7, 1, start, &population));
    ais_status status = AIS_OK;
    for (int k = 0; k < 2000 && status == AIS_OK; k++) status = ais_population_walk(&context, population);
    assert_int_equal(status, AIS_BAD_DENSITY);
    ais_population_free(population);
    ais_pool_free(pool);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(threads), cmocka_unit_test(keeps_the_target),
                                       cmocka_unit_test(walks_alone), cmocka_unit_test(given_points),
                                       cmocka_unit_test(refusals)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
