/* The Student-t mixture and importance weights of the cold start; and that threads change nothing. */
#include "support.h"

#include <signal.h>
#include <stdbool.h>

#include <aisampler/target.h>

#include "simd/normal.h"
#include "trainer/importance.h"
#include "trainer/start.h"

#define PI 3.14159265358979323846

/* Two overlapping components in 2D, turned and stretched. */
static void make(ais_components *components, ais_arena *arena) {
    double c = cos(0.6), s = sin(0.6);
    assert_true(ais_components_take(components, arena, 2, 2));
    assert_true(ais_components_set(components, 0, (double[]){1, -0.5}, 0, (double[]){0.3, 1.1}, (double[]){c, s, -s, c},
                                   false));
    assert_true(
        ais_components_set(components, 1, (double[]){-1, 2}, 0, (double[]){0.7, 0.5}, (double[]){1, 0, 0, 1}, false));
    components->weight[0] = 0.35;
    components->weight[1] = 0.65;
    assert_false(
        ais_components_set(components, 2, (double[]){0, 0}, 0, (double[]){1, 1}, (double[]){1, 0, 0, 1}, false));
    assert_false(
        ais_components_set(components, 1, (double[]){0, 0}, 0, (double[]){1, 0}, (double[]){1, 0, 0, 1}, false));
}

static void density_integrates_to_one(void **state) {
    (void)state;
    ais_arena arena = {0};
    ais_components components;
    make(&components, &arena);
    double sum = 0, step = 0.1;
    for (double a = -60; a < 60; a += step)
        for (double b = -60; b < 60; b += step) {
            double x[2] = {a, b}, logq;
            ais_components_logq(&components, 1, x, &logq, NULL, NULL);
            sum += exp(logq) * step * step;
        }
    assert_near(sum, 1, 1e-4);
    ais_arena_free(&arena);
}

/* Counts of draws in cells against the integral of the density there. */
static void draws_follow_the_density(void **state) {
    (void)state;
    enum { N = 40000, CELLS = 6 };
    ais_arena arena = {0};
    ais_components components;
    make(&components, &arena);
    static double x[2 * N];
    for (int systematic = 0; systematic < 2; systematic++) {
        if (systematic) ais_components_draw(&components, 4, 9, N, x, NULL);
        for (uint32_t c = 0; c < N && !systematic; c++) {
            ais_stream stream = {.seed = 4, .step = 3, .chain = c, .purpose = AIS_FOR_MIXTURE};
            ais_components_draw_one(&components, &stream, x + 2 * c);
        }
        for (int i = 0; i < CELLS; i++)
            for (int j = 0; j < CELLS; j++) {
                double low[2] = {-3 + i, -2 + j}, expected = 0, step = 0.02;
                for (int a = 0; a < 50; a++)
                    for (int b = 0; b < 50; b++) {
                        double at[2] = {low[0] + (a + 0.5) * step, low[1] + (b + 0.5) * step}, logq;
                        ais_components_logq(&components, 1, at, &logq, NULL, NULL);
                        expected += exp(logq) * step * step;
                    }
                double share = 0;
                for (int c = 0; c < N; c++)
                    share += x[2 * c] >= low[0] && x[2 * c] < low[0] + 1 && x[2 * c + 1] >= low[1] &&
                             x[2 * c + 1] < low[1] + 1;
                assert_near(share / N, expected, 5 * sqrt(expected / N) + 1e-4);
            }
    }
    ais_arena_free(&arena);
}

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
    double x[2];
    for (uint32_t c = 0; c < N; c++) {
        ais_start_draw(start, 77, 5, c, x);
        weight[c] = target->logp(x, target->data) - ais_start_logq(start, x);
    }
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

static void members_come_equally_often(void **state) {
    (void)state;
    ais_start *start = start_with("mog2", 0, false);
    size_t member[1000];
    int times[300] = {0};
    ais_start_resample(start, 3, 1000, member);
    for (int j = 0; j < 1000; j++) times[member[j]]++;
    for (int i = 0; i < 300; i++) assert_true(times[i] == 3 || times[i] == 4);
    ais_start_resample(start, 3, 100, member);
    memset(times, 0, sizeof times);
    for (int j = 0; j < 100; j++) times[member[j]]++;
    for (int i = 0; i < 300; i++) assert_true(times[i] <= 1);
    ais_start_free(start);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(density_integrates_to_one),    cmocka_unit_test(draws_follow_the_density),
        cmocka_unit_test(pareto_shape_is_found),        cmocka_unit_test(weights_are_weighed),
        cmocka_unit_test(resampling_rounds_up_or_down), cmocka_unit_test(threads_change_nothing),
        cmocka_unit_test(the_mixture_is_a_proposal),    cmocka_unit_test(members_come_equally_often),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
