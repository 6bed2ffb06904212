/* Climbing a ladder: rungs and step sizes settle, log Z and the shares of modes that no local move connects come out,
 * a base that is refitted keeps wells that the tops have not been in yet, budgets are kept, and threads change nothing.
 */
#include "support.h"

#include <math.h>
#include <string.h>

#include <aisampler/trainer.h>

#include "explore/climb.h"

enum { DIM = 4, WELLS = 16 };

/* Two normals of sd .3 at +-2 along every axis, weights .25 and .75; its integral is e. */
static double logp(const double *x, void *data) {
    (void)data;
    double low = 0, high = 0;
    for (int i = 0; i < DIM; i++) {
        low += (x[i] + 2) * (x[i] + 2);
        high += (x[i] - 2) * (x[i] - 2);
    }
    double a = log(0.25) - low / 0.18, b = log(0.75) - high / 0.18, top = a > b ? a : b;
    return 1 + top + log(exp(a - top) + exp(b - top)) - DIM * (log(0.3) + 0.91893853320467274178);
}

static double grad(const double *x, double *gradient, void *data) {
    double low = 0, high = 0;
    for (int i = 0; i < DIM; i++) {
        low += (x[i] + 2) * (x[i] + 2);
        high += (x[i] - 2) * (x[i] - 2);
    }
    double right = 1 / (1 + exp(fmin(log(0.25 / 0.75) + (high - low) / 0.18, 700)));
    for (int i = 0; i < DIM; i++) gradient[i] = -(x[i] - 2 * (2 * right - 1)) / 0.09;
    return logp(x, data);
}

/* Two wells along every coordinate, their bottoms at -1.7 and 1.8, the higher one with a share of .156. */
static double wells(const double *x, double *gradient, void *data) {
    (void)data;
    double sum = 0;
    for (int i = 0; i < WELLS; i++) {
        double square = x[i] * x[i];
        sum += (6 - square) * square + 0.5 * x[i];
        gradient[i] = (12 - 4 * square) * x[i] + 0.5;
    }
    return sum;
}

static double height(const double *x, void *data) {
    double gradient[WELLS];
    return wells(x, gradient, data);
}

static ais_pool *one_thread(void) {
    ais_context context = {0};
    ais_pool *pool;
    assert_ok(context, ais_pool_new(&context, 1, &pool));
    return pool;
}

/* All tops begin at the place along every coordinate. */
static void begin_at(ais_climb *climb, const ais_target *target, ais_pool *pool, double where) {
    ais_context context = {0};
    ais_kernel *map;
    const ais_shape shape = {.map = AIS_AFFINE, .reversal = AIS_SWAP, .dim = target->dim};
    double mean[WELLS] = {0}, factor[WELLS * WELLS] = {0}, inside[WELLS];
    for (int i = 0; i < target->dim; i++) factor[i * target->dim + i] = 3, inside[i] = where;
    assert_ok(context, ais_kernel_learned(&context, &shape, 1, &map));
    assert_ok(context, ais_kernel_whiten(&context, map, mean, factor));
    assert_ok(context, ais_climb_begin(&context, climb, target, pool, 5, map, 6, 1, inside));
}

static void begin(ais_climb *climb, const ais_target *target, ais_pool *pool) { begin_at(climb, target, pool, 0); }

static void rounds(ais_climb *climb) {
    ais_context context = {0};
    for (int r = 0; r < 4; r++) {
        assert_ok(context, ais_climb_round(&context, climb, 64 << r, true));
        ais_climb_respace(climb);
    }
    assert_ok(context, ais_climb_round(&context, climb, 1024, false));
}

static void log_z_and_shares(void **state) {
    (void)state;
    for (int slopes = 0; slopes < 2; slopes++) {
        const ais_target target = {.name = "pair", .dim = DIM, .logp = logp, .grad = slopes ? grad : NULL};
        ais_climb climb;
        ais_pool *pool = one_thread();
        begin(&climb, &target, pool);
        rounds(&climb);
        double right = 0, n = AIS_CLIMBERS * (double)climb.steps;
        for (size_t k = 0; k < (size_t)n; k++) right += climb.draws[k] > 0;
        print_message("%s: %d rungs, barrier %.2f, %ld trips, log Z %.3f +- %.3f, share %.3f\n",
                      slopes ? "trajectories" : "reflections", climb.rungs, climb.barrier, climb.trips, climb.log_z,
                      climb.log_z_error, right / n);
        assert_true(climb.trips > 200 && climb.barrier > 0.5 && climb.barrier < 6);
        assert_true(fabs(climb.log_z - 1) < 0.15 && climb.log_z_error < 0.1);
        assert_true(fabs(right / n - 0.75) < 0.08);
        for (int k = 0; k + 1 < climb.rungs; k++) assert_true(climb.beta[k] < climb.beta[k + 1]);
        ais_climb_free(&climb);
        ais_pool_free(pool);
    }
}

/* Tops of the first rounds are all in the well where they began. A base fitted to them is narrow there, and no ladder
 * from it finds the other. */
static void no_well_is_lost(void **state) {
    (void)state;
    const ais_target target = {.name = "wells", .dim = WELLS, .logp = height, .grad = wells};
    ais_context context = {0};
    ais_climb climb;
    ais_pool *pool = one_thread();
    begin_at(&climb, &target, pool, 1.8);
    for (int r = 0; r < 5; r++) {
        assert_ok(context, ais_climb_round(&context, &climb, 32 << r, true));
        for (int k = 1; k + 1 < climb.rungs; k++) assert_true(climb.arrived[k + 1] <= climb.arrived[k] + AIS_CLIMBERS);
        assert_true(climb.trips == climb.arrived[climb.rungs - 1]);
        assert_ok(context, ais_climb_refit(&context, &climb));
        ais_climb_respace(&climb);
    }
    assert_ok(context, ais_climb_round(&context, &climb, 512, false));
    double least = 1, most = 0, n = AIS_CLIMBERS * (double)climb.steps;
    for (size_t i = 0; i < WELLS; i++) {
        double low = 0;
        for (size_t k = 0; k < (size_t)n; k++) low += climb.draws[i * (size_t)n + k] < 0;
        least = fmin(least, low / n);
        most = fmax(most, low / n);
    }
    print_message("%d rungs, barrier %.2f, %ld trips, shares %.3f to %.3f\n", climb.rungs, climb.barrier, climb.trips,
                  least, most);
    assert_true(climb.trips > 100 && climb.barrier < 6);
    assert_true(least > 0.05 && most < 0.4);
    ais_climb_free(&climb);
    ais_pool_free(pool);
}

static void threads_do_not_matter(void **state) {
    (void)state;
    const ais_target target = {.name = "pair", .dim = DIM, .logp = logp, .grad = grad};
    ais_climb climb[2];
    for (int k = 0; k < 2; k++) {
        ais_context context = {0};
        ais_pool *pool;
        assert_ok(context, ais_pool_new(&context, k ? 3 : 1, &pool));
        begin(&climb[k], &target, pool);
        assert_ok(context, ais_climb_round(&context, &climb[k], 40, true));
        assert_ok(context, ais_climb_refit(&context, &climb[k]));
        ais_climb_respace(&climb[k]);
        assert_ok(context, ais_climb_round(&context, &climb[k], 40, true));
        ais_pool_free(pool);
    }
    assert_int_equal(climb[0].rungs, climb[1].rungs);
    assert_memory_equal(climb[0].scale, climb[1].scale, sizeof climb[0].scale);
    assert_memory_equal(climb[0].draws, climb[1].draws, DIM * AIS_CLIMBERS * 40 * sizeof(double));
    assert_true(climb[0].log_z == climb[1].log_z && climb[0].gradients == climb[1].gradients);
    for (int k = 0; k < 2; k++) ais_climb_free(&climb[k]);
}

static void a_limit_is_kept(void **state) {
    (void)state;
    const ais_target target = {.name = "pair", .dim = DIM, .logp = logp};
    ais_context context = {0};
    ais_climb climb;
    ais_pool *pool = one_thread();
    begin(&climb, &target, pool);
    climb.most = 5000;
    assert_ok(context, ais_climb_round(&context, &climb, 1000, true));
    assert_true(climb.cut_short && climb.steps > 0 && climb.steps < 1000);
    assert_true(climb.densities + climb.gradients <= 5000);
    ais_climb_free(&climb);
    ais_pool_free(pool);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(log_z_and_shares),
        cmocka_unit_test(no_well_is_lost),
        cmocka_unit_test(threads_do_not_matter),
        cmocka_unit_test(a_limit_is_kept),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
