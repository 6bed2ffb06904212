/* Importance weights and the mixture of the cold start; and that threads change nothing. */
#include "support.h"

#include <signal.h>
#include <stdbool.h>

#include <aisampler/target.h>

#include "look/importance.h"
#include "look/start.h"

static int rising(const void *a, const void *b) {
    return (*(const double *)a > *(const double *)b) - (*(const double *)a < *(const double *)b);
}

/* Excesses of a generalised Pareto distribution of shape k, by its quantile function. */
static void pareto_shape_is_found(void **state) {
    (void)state;
    enum { M = 400 };
    static const double shapes[] = {-0.3, 0.2, 0.5, 0.9, 1.4};
    for (int s = 0; s < 5; s++) {
        double mean = 0, excess[M];
        for (uint64_t seed = 0; seed < 20; seed++) {
            for (int i = 0; i < M; i++) {
                double u = odd(seed + 100, (uint64_t)i, 0, 1), k = shapes[s];
                excess[i] = 2.385 * (pow(u, -k) - 1) / k;
            }
            qsort(excess, M, sizeof *excess, rising);
            mean += ais_pareto_shape(M, excess) / 20;
        }
        assert_near(mean, shapes[s], 0.06);
    }
}

static void weights_are_weighed(void **state) {
    (void)state;
    enum { N = 5000 };
    static double weight[N], room[N];
    for (int i = 0; i < N; i++) weight[i] = 3.2; /* equal: all effective, no error */
    ais_weighing equal = ais_weigh(N, weight, room);
    assert_near(equal.ess, N, 1e-6);
    assert_near(equal.log_mean, 3.2, 1e-12);
    assert_near(equal.log_error, 0, 1e-6);
    assert_true(equal.pareto_k < 0.5);
    for (int i = 0; i < N; i++) weight[i] = -0.8 * log(odd(7, (uint64_t)i, 0, 1)); /* tail of shape 0.8 */
    ais_weighing heavy = ais_weigh(N, weight, room);
    assert_near(heavy.pareto_k, 0.8, 0.2);
    assert_true(heavy.ess < 0.5 * N);
    for (int i = 0; i < N; i++) weight[i] = -INFINITY;
    ais_weighing none = ais_weigh(N, weight, room);
    assert_true(none.ess == 0 && none.log_mean == -INFINITY && none.pareto_k > 1);
    weight[77] = 1e4; /* one alone */
    ais_weighing one = ais_weigh(N, weight, room);
    assert_near(one.ess, 1, 1e-9);
    assert_near(one.log_mean, 1e4 - log(N), 1e-9);
}

static void resampling_rounds_up_or_down(void **state) {
    (void)state;
    enum { N = 50, COUNT = 333 };
    double weight[N], sum = 0;
    size_t index[COUNT];
    for (int i = 0; i < N; i++) sum += weight[i] = i % 7 ? odd(8, (uint64_t)i, 0, 1) : 0;
    double logs[N];
    for (int i = 0; i < N; i++) logs[i] = log(weight[i]) + 500;
    for (int turn = 0; turn < 20; turn++) {
        int times[N] = {0};
        ais_systematic(N, logs, odd(9, (uint64_t)turn, 0, 1), COUNT, index);
        for (int j = 0; j < COUNT; j++) times[index[j]]++;
        for (int i = 0; i < N; i++) assert_true(fabs(times[i] - COUNT * weight[i] / sum) < 1.0000001);
    }
}

static ais_start *start_with(const char *spec, int threads, bool anneal) {
    ais_context context = {0};
    ais_target *target;
    ais_pool *pool = NULL;
    ais_start *start;
    if (threads) assert_ok(context, ais_pool_new(&context, threads, &pool));
    assert_ok(context, ais_target_open(&context, spec, &target));
    ais_start_options options = {.seed = 11, .scale = 4, .pool = pool, .anneal = anneal, .population = 300};
    assert_ok(context, ais_cold_start(&context, target, &options, &start));
    ais_pool_free(pool);
    ais_target_close(target);
    return start;
}

static void threads_change_nothing(void **state) {
    (void)state;
    static const char *const specs[] = {"mog6", "ring5", "funnel:dim=3"};
    for (int k = 0; k < 3; k++) {
        ais_start *one = start_with(specs[k], 0, k == 2), *three = start_with(specs[k], 3, k == 2);
        assert_int_equal(one->count, 300);
        assert_memory_equal(one->x, three->x, (size_t)(one->count * one->dim) * sizeof(double));
        assert_memory_equal(one->logp, three->logp, (size_t)one->count * sizeof(double));
        assert_true(one->log_z == three->log_z && one->densities == three->densities);
        assert_int_equal(one->modes, three->modes);
        assert_memory_equal(one->mode_factor, three->mode_factor,
                            (size_t)(one->modes * one->dim * one->dim) * sizeof(double));
        assert_string_equal(one->sentence, three->sentence);
        assert_true(k < 2 || one->annealed);
        ais_start_free(one);
        ais_start_free(three);
    }
}

/* The mixture that is kept serves as a proposal: its weights give log Z again, on draws of its own. */
static void the_mixture_is_a_proposal(void **state) {
    (void)state;
    enum { N = 4000 };
    ais_context context = {0};
    ais_target *target;
    ais_start *start = start_with("triangle", 0, false);
    assert_ok(context, ais_target_open(&context, "triangle", &target));
    static double weight[N], room[N];
    static double x[N * 2], logq[N];
    ais_components_draw(&start->mixture, 77, 5, N, x, NULL);
    ais_components_logq(&start->mixture, N, x, logq, NULL, NULL);
    for (int c = 0; c < N; c++) weight[c] = target->logp(x + 2 * c, target->data) - logq[c];
    ais_weighing weighing = ais_weigh(N, weight, room);
    assert_near(weighing.log_mean, start->log_z, 4 * (weighing.log_error + start->log_z_error));
    assert_near(weighing.log_mean, 0, 0.05);
    assert_true(weighing.ess > 0.5 * N);
    double sum = 0;
    for (int k = 0; k < start->modes; k++) sum += start->mode_weight[k];
    assert_near(sum, 1, 1e-9);
    /* F F' of a mode is sd^2 I here. */
    const double *f = start->mode_factor;
    assert_near(f[0] * f[0] + f[1] * f[1], 0.25, 0.01);
    assert_near(f[0] * f[2] + f[1] * f[3], 0, 0.01);
    ais_target_close(target);
    ais_start_free(start);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pareto_shape_is_found),        cmocka_unit_test(weights_are_weighed),
        cmocka_unit_test(resampling_rounds_up_or_down), cmocka_unit_test(threads_change_nothing),
        cmocka_unit_test(the_mixture_is_a_proposal),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
