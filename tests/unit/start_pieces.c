/* The parts of the cold start: optimiser, eigenvectors, Laplace fits, annealing, clusters, points of a box. */
#include "support.h"

#include <stdbool.h>

#include "look/anneal.h"
#include "look/box.h"
#include "look/eigen.h"
#include "look/join.h"
#include "look/laplace.h"
#include "look/local.h"
#include "look/search.h"
#include "look/suspect.h"
#include "normal_mixture.h"

static double rosenbrock(const double *x, void *data) {
    (void)data;
    double a = 1 - x[0], b = x[1] - x[0] * x[0];
    return -(a * a + 100 * b * b);
}
static double rosenbrock_grad(const double *x, double *gradient, void *data) {
    double b = x[1] - x[0] * x[0];
    gradient[0] = 2 * (1 - x[0]) + 400 * x[0] * b;
    gradient[1] = -200 * b;
    return rosenbrock(x, data);
}

enum { DIM = 7 };
static double curve(int i) { return pow(10, -0.5 * i); }
static double quadratic(const double *x, void *data) {
    const double *centre = data;
    double sum = 0;
    for (int i = 0; i < DIM; i++) sum -= 0.5 * curve(i) * (x[i] - centre[i]) * (x[i] - centre[i]);
    return sum;
}

static ais_evaluator evaluator_of(ais_context *context, const ais_target *target) {
    return (ais_evaluator){.context = context, .target = target, .difference = 1e-5};
}

static const ais_lbfgs_options usual = {
    .iterations = 200, .tolerance = 1e-10, .scale = 1, .longest = 3, .farthest = 1e9};

static void climbs_rosenbrock(void **state) {
    (void)state;
    ais_context context = {0};
    for (int gradient = 0; gradient < 2; gradient++) {
        ais_target target = {.name = "rosenbrock", .dim = 2, .logp = rosenbrock};
        if (gradient) target.grad = rosenbrock_grad;
        ais_evaluator evaluator = evaluator_of(&context, &target);
        double x[] = {-1.2, 1, 2.385, -1.7, 0, 0}, logp[3];
        ais_ending ending[3];
        assert_ok(context, ais_maximise(&evaluator, &usual, 3, x, logp, ending));
        for (int i = 0; i < 6; i++) assert_near(x[i], 1, 2e-4);
        for (int r = 0; r < 3; r++) assert_int_equal(ending[r], AIS_CONVERGED);
        assert_true(gradient ? evaluator.gradients > 0 : evaluator.gradients == 0);
        assert_true(evaluator.gradients < 400);
        ais_evaluator_free(&evaluator);
    }
}

/* A run's way does not depend on which others run beside it. */
static void runs_are_independent(void **state) {
    (void)state;
    ais_context context = {0};
    double centre[DIM], x[3 * DIM], alone[DIM], logp[3], logp_alone;
    ais_ending ending[3];
    for (int i = 0; i < DIM; i++) centre[i] = odd(1, (uint64_t)i, -3, 3);
    for (int i = 0; i < 3 * DIM; i++) x[i] = odd(2, (uint64_t)i, -30, 30);
    memcpy(alone, x + DIM, sizeof alone);
    ais_target target = {.name = "quadratic", .dim = DIM, .logp = quadratic, .data = centre};
    ais_evaluator evaluator = evaluator_of(&context, &target);
    assert_ok(context, ais_maximise(&evaluator, &usual, 3, x, logp, ending));
    assert_ok(context, ais_maximise(&evaluator, &usual, 1, alone, &logp_alone, ending));
    assert_memory_equal(alone, x + DIM, sizeof alone);
    for (int i = 0; i < 3 * DIM; i++) assert_near(x[i], centre[i % DIM], 1e-2);
    ais_evaluator_free(&evaluator);
}

static double slope_only(const double *x, void *data) {
    (void)data;
    return x[0] - 2 * x[1];
}
static double inside_only(const double *x, void *data) {
    (void)data;
    return x[0] > 0 ? -x[0] * x[0] : -INFINITY;
}

static void says_how_a_run_ended(void **state) {
    (void)state;
    ais_context context = {0};
    double x[2] = {0.3, 0.1}, logp;
    ais_ending ending;
    ais_target target = {.name = "slope", .dim = 2, .logp = slope_only};
    ais_evaluator evaluator = evaluator_of(&context, &target);
    assert_ok(context, ais_maximise(&evaluator, &usual, 1, x, &logp, &ending));
    assert_int_equal(ending, AIS_FLED);
    target.logp = inside_only;
    x[0] = -1;
    assert_ok(context, ais_maximise(&evaluator, &usual, 1, x, &logp, &ending));
    assert_int_equal(ending, AIS_OUTSIDE);
    ais_evaluator_free(&evaluator);
}

static void eigenvectors_rebuild_the_matrix(void **state) {
    (void)state;
    enum { N = 9 };
    double a[N * N], work[N * N], value[N], vector[N * N];
    for (int i = 0; i < N; i++)
        for (int j = 0; j <= i; j++) a[i * N + j] = a[j * N + i] = odd(3, (uint64_t)(i * N + j), -2, 2);
    memcpy(work, a, sizeof a);
    assert_true(ais_eigen(N, work, value, vector));
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++) {
            double sum = 0, product = 0;
            for (int k = 0; k < N; k++) {
                sum += value[k] * vector[k * N + i] * vector[k * N + j];
                product += vector[i * N + k] * vector[j * N + k];
            }
            assert_near(sum, a[i * N + j], 1e-12);
            assert_near(product, i == j, 1e-13);
        }
    for (int k = 1; k < N; k++) assert_true(value[k] >= value[k - 1]);
    a[4] = NAN;
    assert_false(ais_eigen(N, a, value, vector));
    double one = 2.385, one_value, one_vector;
    assert_true(ais_eigen(1, &one, &one_value, &one_vector));
    assert_true(one_value == 2.385 && one_vector == 1);
}

static void laplace_is_exact_on_a_normal(void **state) {
    (void)state;
    ais_context context = {0};
    ais_arena arena = {0};
    double centre[DIM], x[DIM];
    for (int i = 0; i < DIM; i++) centre[i] = odd(1, (uint64_t)i, -3, 3);
    for (int i = 0; i < DIM; i++) x[i] = centre[i] + 0.05; /* short of the optimum */
    ais_target target = {.name = "quadratic", .dim = DIM, .logp = quadratic, .data = centre};
    ais_evaluator evaluator = evaluator_of(&context, &target);
    ais_modes modes;
    bool added;
    assert_true(ais_modes_take(&modes, &arena, DIM, 4));
    assert_ok(context, ais_laplace(&evaluator, 1, x, quadratic(x, centre), &modes, &added));
    assert_true(added && modes.mixture.count == 1 && !modes.unbounded[0]);
    for (int i = 0; i < DIM; i++) {
        assert_near(modes.mixture.mean[i], centre[i], 0.02 / sqrt(curve(i)));
        double variance = 0;
        for (int j = 0; j < DIM; j++) variance += pow(modes.mixture.factor[i * DIM + j], 2);
        assert_near(sqrt(variance), 1 / sqrt(curve(i)), 1e-3 / sqrt(curve(i)));
    }
    double log_z = 0;
    for (int i = 0; i < DIM; i++) log_z += 0.5 * log(2 * 3.14159265358979 / curve(i));
    assert_near(ais_modes_evidence(&modes, 0), log_z, 1e-2);
    ais_arena_free(&arena);
    ais_evaluator_free(&evaluator);
}

static double turned(const double *x, void *data) {
    (void)data;
    return -0.5 * (2 * x[0] * x[0] + x[1] * x[1] - 2 * 0.8 * x[0] * x[1]);
}

/* Six values of the density a step: what the axes are turned by comes from two of them. */
static void laplace_sees_correlations(void **state) {
    (void)state;
    ais_context context = {0};
    ais_arena arena = {0};
    ais_target target = {.name = "turned", .dim = 2, .logp = turned};
    ais_evaluator evaluator = evaluator_of(&context, &target);
    ais_modes modes;
    bool added;
    double x[] = {0.01, -0.02}, det = 2 - 0.8 * 0.8, wanted[] = {1 / det, 0.8 / det, 2 / det};
    assert_true(ais_modes_take(&modes, &arena, 2, 4));
    assert_ok(context, ais_laplace(&evaluator, 1, x, turned(x, NULL), &modes, &added));
    assert_true(added);
    const double *f = modes.mixture.factor;
    assert_near(f[0] * f[0] + f[1] * f[1], wanted[0], 1e-3);
    assert_near(f[0] * f[2] + f[1] * f[3], wanted[1], 1e-3);
    assert_near(f[2] * f[2] + f[3] * f[3], wanted[2], 1e-3);
    assert_true(evaluator.densities <= 2 * (6 + 1) + 4);
    ais_arena_free(&arena);
    ais_evaluator_free(&evaluator);
}

static double in_a_corner(const double *x, void *data) {
    (void)data;
    return x[0] > 0 || x[1] > 0 ? -INFINITY : -50 * (x[0] * x[0] + x[1] * x[1]) + 5 * x[0] * x[1];
}

/* The axes of this Hessian are the diagonals, of which one leaves the support on both sides of the corner. */
static void laplace_fits_in_a_corner(void **state) {
    (void)state;
    ais_context context = {0};
    ais_arena arena = {0};
    ais_target target = {.name = "corner", .dim = 2, .logp = in_a_corner};
    ais_evaluator evaluator = evaluator_of(&context, &target);
    ais_modes modes;
    bool added;
    double x[] = {-5e-5, -5e-5}; /* beside the walls for the Hessian, not for a gradient */
    assert_true(ais_modes_take(&modes, &arena, 2, 4));
    assert_ok(context, ais_laplace(&evaluator, 1, x, in_a_corner(x, NULL), &modes, &added));
    assert_true(added);
    for (int i = 0; i < 2; i++)
        assert_near(hypot(modes.mixture.factor[2 * i], modes.mixture.factor[2 * i + 1]), 0.1, 0.01);
    ais_arena_free(&arena);
    ais_evaluator_free(&evaluator);
}

static double ring_in_a_box(const double *x, void *data) {
    (void)data;
    double radius = hypot(x[0], x[1]) - 3;
    return fabs(x[0]) > 10 || fabs(x[1]) > 10 ? -INFINITY : -25 * radius * radius;
}

/* Along a ring the Hessian says next to nothing, and what it says reaches out of the box on both sides: no corner. */
static void laplace_on_a_ring_stays_in_its_box(void **state) {
    (void)state;
    ais_context context = {0};
    ais_arena arena = {0};
    ais_target target = {.name = "ring", .dim = 2, .logp = ring_in_a_box};
    ais_evaluator evaluator = evaluator_of(&context, &target);
    ais_modes modes;
    bool added;
    double x[] = {3, 0};
    evaluator.difference = 1e-4;
    assert_true(ais_modes_take(&modes, &arena, 2, 4));
    assert_ok(context, ais_laplace(&evaluator, 10, x, ring_in_a_box(x, NULL), &modes, &added));
    assert_true(added);
    for (int i = 0; i < 4; i++) assert_true(fabs(modes.mixture.factor[i]) < 3);
    ais_arena_free(&arena);
    ais_evaluator_free(&evaluator);
}

/* A ring, and a normal apart from it. */
static double ring_and_normal(const double *x, void *data) {
    (void)data;
    double radius = hypot(x[0], x[1]) - 3, apart = hypot(x[0] - 9, x[1]);
    return fmax(-50 * radius * radius, -0.5 * apart * apart);
}

static void modes_along_a_ridge_are_one(void **state) {
    (void)state;
    enum { AROUND = 24 };
    ais_context context = {0};
    ais_arena arena = {0};
    ais_target target = {.name = "ring and normal", .dim = 2, .logp = ring_and_normal};
    ais_evaluator evaluator = evaluator_of(&context, &target);
    ais_modes modes;
    int group[AROUND + 1], groups;
    const double sd[] = {0.3, 0.3}, axis[] = {1, 0, 0, 1}, apart[] = {9, 0};
    assert_true(ais_modes_take(&modes, &arena, 2, AROUND + 1));
    for (int k = 0; k < AROUND; k++) {
        double angle = 2 * 3.14159265358979 * k / AROUND, x[] = {3 * cos(angle), 3 * sin(angle)};
        assert_true(ais_modes_add(&modes, x, 0, sd, axis, false));
    }
    assert_true(ais_modes_add(&modes, apart, 0, sd, axis, false));
    assert_ok(context, ais_join_modes(&evaluator, &modes, group, &groups));
    assert_int_equal(groups, 2);
    for (int k = 1; k < AROUND; k++) assert_int_equal(group[k], group[0]);
    assert_true(group[AROUND] != group[0]);
    assert_true(evaluator.densities < 9 * 4 * AROUND / 2); /* every pair once, not all the way */
    ais_arena_free(&arena);
    ais_evaluator_free(&evaluator);
}

/* Two bananas, whose arms meet at (0, 6) far below both. */
static double two_bananas(const double *x, void *data) {
    (void)data;
    double best = -INFINITY;
    for (int side = -1; side <= 1; side += 2) {
        double a = x[0] - 4 * side, b = x[1] - 0.375 * a * a;
        best = fmax(best, -0.5 * a * a - 2 * b * b);
    }
    return best;
}

static void modes_whose_arms_meet_below_are_two(void **state) {
    (void)state;
    ais_context context = {0};
    ais_arena arena = {0};
    ais_target target = {.name = "two bananas", .dim = 2, .logp = two_bananas};
    ais_evaluator evaluator = evaluator_of(&context, &target);
    ais_modes modes;
    int group[3], groups;
    const double sd[] = {1, 0.5}, axis[] = {1, 0, 0, 1}, place[3][2] = {{-4, 0}, {0, 6}, {4, 0}};
    assert_true(ais_modes_take(&modes, &arena, 2, 3));
    for (int k = 0; k < 3; k++)
        assert_true(ais_modes_add(&modes, place[k], two_bananas(place[k], NULL), sd, axis, false));
    assert_ok(context, ais_join_modes(&evaluator, &modes, group, &groups));
    assert_int_equal(groups, 2);
    assert_true(group[0] != group[2]);
    assert_true(group[1] == group[0] || group[1] == group[2]); /* where they meet is an arm of either */
    ais_arena_free(&arena);
    ais_evaluator_free(&evaluator);
}

/* As many points in each of 64 cells, to two or so; another seed shifts them; the density is that of a box. */
static void points_of_a_box_lie_evenly(void **state) {
    (void)state;
    enum { N = 1024, SIDE = 8 };
    static double x[2 * N], other[2 * N];
    double low[] = {-1, 10}, high[] = {3, 12};
    ais_box box = {low, high};
    int cell[SIDE][SIDE] = {0};
    ais_box_points(&box, 1, 5, N, 2, x);
    ais_box_points(&box, 2, 5, N, 2, other);
    for (int c = 0; c < N; c++) {
        double u = (x[2 * c] + 1) / 4, v = (x[2 * c + 1] - 10) / 2;
        assert_true(u >= 0 && u < 1 && v >= 0 && v < 1);
        cell[(int)(SIDE * u)][(int)(SIDE * v)]++;
        assert_near(ais_box_logq(&box, 2, x + 2 * c), -log(8), 1e-12);
    }
    for (int i = 0; i < SIDE * SIDE; i++) assert_near(cell[i / SIDE][i % SIDE], N / (SIDE * SIDE), 4);
    assert_true(fabs(x[0] - other[0]) > 1e-6 && fabs(x[1] - other[1]) > 1e-6);
    const double outside[] = {3.01, 11};
    assert_true(ais_box_logq(&box, 2, outside) == -INFINITY);
}

static void annealing_gives_log_z(void **state) {
    (void)state;
    enum { N = 512 };
    ais_context context = {0};
    normal_mixture m = {.dim = 3, .count = 1, .mean = {{2, -1, 0.5}}, .sd = {0.4}, .weight = {1}};
    ais_target target = normal_mixture_target(&m, "normal");
    ais_evaluator evaluator = evaluator_of(&context, &target);
    ais_anneal_options options = {.scale = 5, .population = N, .moves = 10, .temperatures = 100};
    double x[N * 3], logp[N], mean = 0, worst = 0;
    for (uint64_t seed = 1; seed <= 4; seed++) {
        ais_annealing result;
        options.seed = seed;
        assert_ok(context, ais_anneal(&evaluator, &options, x, logp, &result));
        assert_true(result.reached == 1);
        mean += result.log_z / 4;
        worst = fmax(worst, fabs(result.log_z));
        double square = 0;
        for (int c = 0; c < N; c++) square += (x[3 * c] - 2) * (x[3 * c] - 2) / N;
        assert_near(sqrt(square), 0.4, 0.06);
    }
    assert_near(mean, 0, 0.15);
    assert_near(worst, 0, 0.4);
    options.temperatures = 2;
    ais_annealing result;
    assert_ok(context, ais_anneal(&evaluator, &options, x, logp, &result));
    assert_true(result.reached < 1);
    ais_evaluator_free(&evaluator);
}

static void clusters_are_what_valleys_divide(void **state) {
    (void)state;
    ais_context context = {0};
    normal_mixture m = {.dim = 2, .count = 3, .mean = {{0}, {4}, {4.8}}, .sd = {0.5, 0.5, 0.5}, .weight = {.4, .3, .3}};
    ais_target target = normal_mixture_target(&m, "three");
    ais_evaluator evaluator = evaluator_of(&context, &target);
    double x[] = {0.1, 0.1, 4, 0.1, 4.8, -0.1, -0.3, 0.2}, logp[4];
    int label[4], clusters;
    assert_ok(context, ais_evaluate(&evaluator, 4, x, logp));
    assert_ok(context, ais_clusters(&evaluator, 4, x, logp, 3, 8, label, &clusters));
    assert_int_equal(clusters, 2);
    assert_true(label[1] == label[2] && label[0] == label[3] && label[0] != label[1]);
    ais_evaluator_free(&evaluator);
}

/* Half of the points reach out to s sqrt(dim), none of the radial ones is nearer than s / 2. */
static void search_points_cover_all_radii(void **state) {
    (void)state;
    enum { N = 4000, D = 16 };
    static double x[N * D];
    double unit[D];
    for (int i = 0; i < D; i++) unit[i] = 1;
    ais_search_points(1, 0, N, D, 10, unit, x);
    int near = 0, middle = 0;
    for (int c = 0; c < N / 2; c++) {
        double square = 0;
        for (int i = 0; i < D; i++) square += x[c * D + i] * x[c * D + i];
        double r = sqrt(square);
        assert_true(r > 4.999 && r < 40.001);
        near += r < 10;
        middle += r < sqrt(5.0 * 40);
    }
    assert_near(near / (N / 2.0), log(2) / log(8), 0.04);
    assert_near(middle / (N / 2.0), 0.5, 0.04);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(climbs_rosenbrock),
        cmocka_unit_test(runs_are_independent),
        cmocka_unit_test(says_how_a_run_ended),
        cmocka_unit_test(eigenvectors_rebuild_the_matrix),
        cmocka_unit_test(laplace_is_exact_on_a_normal),
        cmocka_unit_test(laplace_sees_correlations),
        cmocka_unit_test(laplace_fits_in_a_corner),
        cmocka_unit_test(laplace_on_a_ring_stays_in_its_box),
        cmocka_unit_test(modes_whose_arms_meet_below_are_two),
        cmocka_unit_test(modes_along_a_ridge_are_one),
        cmocka_unit_test(points_of_a_box_lie_evenly),
        cmocka_unit_test(annealing_gives_log_z),
        cmocka_unit_test(clusters_are_what_valleys_divide),
        cmocka_unit_test(search_points_cover_all_radii),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
