/* The pivot layer's fit: exact draws of a bent density, whichever coordinate bends it, are mapped to normals well
 * enough that almost every proposal is accepted; without the fit almost none is. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>

#include <aisampler/aisampler.h>

#include "trainer/flow_trainer.h"

enum { CHAINS = 512 };

/* Acceptance of fresh chains after `rounds` of the fit. */
static double acceptance(const char *spec, int rounds) {
    ais_context context = {0};
    ais_target *target;
    ais_pool *pool;
    ais_population *population;
    ais_kernel *kernel;
    ais_fresh_result result;
    assert_int_equal(ais_target_open(&context, spec, &target), AIS_OK);
    double *x = malloc((size_t)CHAINS * (size_t)target->dim * sizeof *x);
    assert_non_null(x);
    for (int c = 0; c < CHAINS; c++) target->reference->draw(7, (uint64_t)c, x + c * target->dim, target->data);
    ais_shape shape = {.map = AIS_REALNVP,
                       .reversal = AIS_SWAP,
                       .dim = target->dim,
                       .layers = 3,
                       .depth = -1,
                       .pivot = true,
                       .bound = 5};
    assert_int_equal(ais_pool_new(&context, 1, &pool), AIS_OK);
    assert_int_equal(ais_population_new(&context, pool, target, 3, CHAINS, x, &population), AIS_OK);
    assert_int_equal(ais_kernel_learned(&context, &shape, 5, &kernel), AIS_OK);
    ais_flow_spread(kernel, 5, 0);
    assert_int_equal(ais_flow_whiten(&context, kernel, population, AIS_WHITEN_SD), AIS_OK);
    assert_int_equal(ais_flow_settle(&context, kernel, population, rounds), AIS_OK);
    assert_int_equal(ais_fresh_chains(&context, population, kernel, 11, 64, 100, &result), AIS_OK);
    ais_population_free(population);
    ais_kernel_free(kernel);
    ais_pool_free(pool);
    ais_target_close(target);
    free(x);
    print_message("%s, %d rounds: acceptance %.3f\n", spec, rounds, result.acceptance);
    return result.acceptance;
}

static void bends_are_undone(void **state) {
    (void)state;
    assert_true(acceptance("banana", 2) > 0.9);
    assert_true(acceptance("banana:dim=5", 2) > 0.85);
    assert_true(acceptance("funnel:dim=10", 2) > 0.75);
}

static void without_the_fit_they_are_not(void **state) {
    (void)state;
    assert_true(acceptance("banana", 0) < 0.5);
    assert_true(acceptance("funnel:dim=10", 0) < 0.5);
}

/* The fit is for affine pivot layers on quadratic features, and says so. */
static void other_flows_are_left_alone(void **state) {
    (void)state;
    ais_context context = {0};
    ais_kernel *kernel;
    ais_shape shape = {.map = AIS_SPLINE, .reversal = AIS_SWAP, .dim = 2, .pivot = true};
    assert_int_equal(ais_kernel_learned(&context, &shape, 5, &kernel), AIS_OK);
    assert_false(ais_flow_fit_pivot(kernel, NULL));
    ais_kernel_free(kernel);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(bends_are_undone),
                                       cmocka_unit_test(without_the_fit_they_are_not),
                                       cmocka_unit_test(other_flows_are_left_alone)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
