/* ais_target_check must catch what is wrong: every target of the table, broken in every way. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <aisampler/target.h>

/* A target with one thing changed. */
typedef struct broken {
    const ais_target *inner;
    int coordinate;
    double factor;    /* of the gradient's coordinate */
    double shift;     /* of every batch result */
    int row_major;    /* batch reads its points the wrong way round */
    int calls;        /* counted when logp is to change from call to call */
    int restless;     /* it does */
    double value;     /* what logp is where x[0] > threshold */
    double threshold; /* */
} broken;

static double logp(const double *x, void *data) {
    broken *with = data;
    if (x[0] > with->threshold) return with->value;
    return with->inner->logp(x, with->inner->data) + (with->restless ? 1e-3 * with->calls++ : 0);
}

static double grad(const double *x, double *gradient, void *data) {
    broken *with = data;
    double value = with->inner->grad(x, gradient, with->inner->data);
    gradient[with->coordinate] *= with->factor;
    return value;
}

static void batch(size_t n, const double *x, double *result, void *data) {
    broken *with = data;
    double *copy = calloc(n * (size_t)with->inner->dim, sizeof *copy);
    size_t dim = (size_t)with->inner->dim;
    for (size_t i = 0; i < dim; i++)
        for (size_t c = 0; c < n; c++) copy[i * n + c] = with->row_major ? x[c * dim + i] : x[i * n + c];
    with->inner->batch(n, copy, result, with->inner->data);
    for (size_t c = 0; c < n; c++) result[c] += with->shift;
    free(copy);
}

static broken whole(const ais_target *inner) {
    return (broken){.inner = inner, .factor = 1, .threshold = INFINITY, .value = 0};
}

static ais_target target_of(broken *with) {
    return (ais_target){.name = with->inner->name,
                        .dim = with->inner->dim,
                        .logp = logp,
                        .batch = batch,
                        .grad = grad,
                        .names = with->inner->names,
                        .data = with};
}

static void refused(const broken *with, uint64_t seed, const char *word) {
    broken copy = *with;
    ais_target target = target_of(&copy);
    ais_context context = {0};
    ais_status status = ais_target_check(&context, &target, seed, NULL);
    if (status != AIS_BAD_DENSITY) fail_msg("%s with seed %d: not caught (%s)", target.name, (int)seed, word);
    if (!strstr(context.message, word)) fail_msg("'%s' is not in: %s", word, context.message);
    assert_non_null(strstr(context.message, target.name));
    assert_null(strchr(context.message, '\n'));
}

static void for_every_target(void (*test)(const ais_target *)) {
    for (int i = 0; ais_target_builtin(i); i++) {
        ais_context context = {0};
        ais_target *target;
        assert_int_equal(ais_target_open(&context, ais_target_builtin(i)->name, &target), AIS_OK);
        test(target);
        ais_target_close(target);
    }
}

static void unbroken_passes(const ais_target *inner) {
    broken with = whole(inner);
    ais_target target = target_of(&with);
    ais_context context = {0};
    ais_check check = {0};
    assert_int_equal(ais_target_check(&context, &target, 5, &check), AIS_OK);
    assert_int_equal(context.status, AIS_OK);
    assert_string_equal(check.note, "");
    if (check.densities + check.gradients > 700 + 110 * inner->dim)
        fail_msg("%s: %ld densities and %ld gradients", inner->name, check.densities, check.gradients);
}

static void wrong_gradients_are_caught(const ais_target *inner) {
    const double factor[] = {-1, 0, 1.1, 0.9, 2};
    for (size_t f = 0; f < sizeof factor / sizeof *factor; f++)
        for (int which = 0; which < 3; which++)
            for (uint64_t seed = 0; seed < 3; seed++) {
                broken with = whole(inner);
                char word[64], buffer[32];
                with.factor = factor[f];
                with.coordinate = which == 0 ? 0 : which == 1 ? inner->dim / 2 : inner->dim - 1;
                snprintf(word, sizeof word, "%s (coordinate %d)", ais_target_parameter(inner, with.coordinate, buffer),
                         with.coordinate + 1);
                refused(&with, seed, word);
            }
}

/* Off by a thousandth: told, and used. */
static void imprecise_gradients_are_told(const ais_target *inner) {
    for (int which = 0; which < 2; which++) {
        broken with = whole(inner);
        ais_context context = {0};
        ais_check check = {0};
        char word[64], buffer[32];
        with.factor = which ? 1.001 : 0.995;
        with.coordinate = inner->dim - 1;
        ais_target target = target_of(&with);
        if (ais_target_check(&context, &target, 3, &check) != AIS_OK) fail_msg("%s", context.message);
        snprintf(word, sizeof word, "%s (coordinate %d)", ais_target_parameter(inner, with.coordinate, buffer),
                 with.coordinate + 1);
        if (!strstr(check.note, word) || !strstr(check.note, "imprecise"))
            fail_msg("'%s': %s", inner->name, check.note);
        assert_null(strchr(check.note, '\n'));
    }
}

static void wrong_batches_are_caught(const ais_target *inner) {
    broken with = whole(inner);
    double zero[64] = {0};
    with.shift = 3e-8 * fmax(1000, fabs(inner->logp(zero, inner->data)));
    refused(&with, 1, "batch gives");
    with = whole(inner);
    with.row_major = 1;
    if (inner->dim > 1) refused(&with, 1, "x[i * n + c]");
}

static void wrong_values_are_caught(const ais_target *inner) {
    broken with = whole(inner);
    with.threshold = 1;
    with.value = NAN;
    refused(&with, 1, "logp is nan at ");
    with.value = INFINITY;
    refused(&with, 1, "logp is inf at ");
    with.value = -INFINITY;
    with.threshold = -INFINITY;
    refused(&with, 1, "-inf at all of 100 points");
    with = whole(inner);
    with.restless = 1;
    refused(&with, 1, "must depend on the point alone");
}

static void intact(void **state) {
    (void)state;
    for_every_target(unbroken_passes);
}
static void gradients(void **state) {
    (void)state;
    for_every_target(wrong_gradients_are_caught);
}
static void imprecise(void **state) {
    (void)state;
    for_every_target(imprecise_gradients_are_told);
}
static void batches(void **state) {
    (void)state;
    for_every_target(wrong_batches_are_caught);
}
static void values(void **state) {
    (void)state;
    for_every_target(wrong_values_are_caught);
}

/* Densities that are right, if awkward: none may be refused. */
static double half_line(const double *x, void *data) {
    (void)data;
    return x[0] > 0 ? -x[0] - 1e6 : -INFINITY;
}
static double half_line_gradient(const double *x, double *gradient, void *data) {
    gradient[0] = -1;
    return half_line(x, data);
}
static double cone(const double *x, void *data) { /* kinks everywhere: a saw of 1000 teeth per unit */
    (void)data;
    return -fabs(x[0] - 1e-3 * floor(1e3 * x[0] + 0.5)) - 0.5 * x[1] * x[1];
}
static double cone_gradient(const double *x, double *gradient, void *data) {
    gradient[0] = x[0] > 1e-3 * floor(1e3 * x[0] + 0.5) ? -1 : 1;
    gradient[1] = -x[1];
    return cone(x, data);
}
static double steep(const double *x, void *data) {
    (void)data;
    return -0.5e12 * (x[0] - 3e-5) * (x[0] - 3e-5) - 0.5 * x[1] * x[1];
}
static double steep_gradient(const double *x, double *gradient, void *data) {
    gradient[0] = -1e12 * (x[0] - 3e-5);
    gradient[1] = -x[1];
    return steep(x, data);
}
static double coarse(const double *x, void *data) { /* noise of single precision */
    (void)data;
    return (float)(-0.5 * x[0] * x[0] - 30);
}
static double coarse_gradient(const double *x, double *gradient, void *data) {
    gradient[0] = -x[0];
    return coarse(x, data);
}
static double flat(const double *x, void *data) {
    (void)x;
    (void)data;
    return 0;
}
static double flat_gradient(const double *x, double *gradient, void *data) {
    gradient[0] = 0;
    return flat(x, data);
}

/* A standard deviation of a hundred observations on the log scale, whose gradient has forgotten the Jacobian's 1. */
static double log_sd(const double *x, void *data) {
    (void)data;
    return -100 * x[0] - 50 * exp(-2 * x[0]) + x[0] - 0.5 * x[1] * x[1];
}
static double log_sd_gradient(const double *x, double *gradient, void *data) {
    gradient[0] = -100 + 100 * exp(-2 * x[0]) + (data ? 0 : 1);
    gradient[1] = -x[1];
    return log_sd(x, data);
}

static void a_forgotten_jacobian_is_caught(void **state) {
    (void)state;
    for (uint64_t seed = 0; seed < 100; seed++) {
        ais_context context = {0};
        ais_target target = {.name = "log_sd", .dim = 2, .logp = log_sd, .grad = log_sd_gradient};
        ais_check check = {0};
        if (ais_target_check(&context, &target, seed, &check) != AIS_OK) fail_msg("%s", context.message);
        assert_string_equal(check.note, "");
        target.data = &target;
        assert_int_equal(ais_target_check(&context, &target, seed, NULL), AIS_BAD_DENSITY);
        assert_non_null(strstr(context.message, "(coordinate 1)"));
    }
}

/* As an ODE solver gives it: log density and gradient off by a thousandth, otherwise at every point and in each of the
 * two functions. */
typedef struct solver {
    double noise;
    double factor; /* of the second coordinate's derivative */
} solver;
static double ripple(const double *x, double phase) {
    double wild = 1e5 * sin(1e4 * (x[0] + 0.7 * x[1] + 0.3 * x[2]) + phase);
    return 2 * (wild - floor(wild)) - 1;
}
static double smooth(const double *x, double *gradient) {
    const double centre[] = {1, 0.5, -0.3}, sd[] = {0.05, 0.2, 0.4};
    double sum = -40;
    for (int i = 0; i < 3; i++) {
        double off = (x[i] - centre[i]) / sd[i];
        sum -= 0.5 * off * off;
        if (gradient) gradient[i] = -off / sd[i];
    }
    return sum;
}
static double solved(const double *x, void *data) {
    const solver *by = data;
    return smooth(x, NULL) * (1 + by->noise * ripple(x, 0));
}
static double solved_gradient(const double *x, double *gradient, void *data) {
    const solver *by = data;
    double value = smooth(x, gradient);
    for (int i = 0; i < 3; i++) gradient[i] *= 1 + by->noise * ripple(x, i + 1);
    gradient[1] *= by->factor;
    return value * (1 + by->noise * ripple(x, 7));
}

/* A narrow density at (0.2, -0.1) whose derivative by the second coordinate is wrong where `data`, its distance, says.
 */
static double narrow(const double *x, void *data) {
    (void)data;
    double a = (x[0] - 0.2) / 0.01, b = (x[1] + 0.1) / 0.01;
    return -0.5 * (a * a + b * b);
}
static double narrow_gradient(const double *x, double *gradient, void *data) {
    const double *from = data;
    double away = hypot(x[0] - 0.2, x[1] + 0.1);
    gradient[0] = -(x[0] - 0.2) / 1e-4;
    gradient[1] = -(x[1] + 0.1) / 1e-4 * (away > *from ? 0.4 : 1);
    return narrow(x, data);
}

/* Where p is e^-1000 of what it is uphill, no chain will ever be: at 0.447 and more from the top. */
static void a_mistake_where_nothing_is_counts_little(void **state) {
    (void)state;
    int noted = 0;
    for (uint64_t seed = 0; seed < 50; seed++) {
        ais_context context = {0};
        ais_check check = {0};
        double from = 0.46;
        ais_target target = {.name = "narrow", .dim = 2, .logp = narrow, .grad = narrow_gradient, .data = &from};
        if (ais_target_check(&context, &target, seed, &check) != AIS_OK) fail_msg("%s", context.message);
        noted += strstr(check.note, "imprecise") != NULL;
        from = 0;
        assert_int_equal(ais_target_check(&context, &target, seed, NULL), AIS_BAD_DENSITY);
        assert_non_null(strstr(context.message, "(coordinate 2)"));
    }
    assert_int_equal(noted, 50);
}

/* All starts are far out, and the top is at a corner of the support, which a step to the wrong side leaves. */
static double corner(const double *x, void *data) {
    (void)data;
    double sum = 0;
    for (int i = 0; i < 4; i++) {
        if (x[i] < 0) return -INFINITY;
        sum -= 0.5 * x[i] * x[i] / 1e-4;
    }
    return sum;
}
static double corner_gradient(const double *x, double *gradient, void *data) {
    for (int i = 0; i < 4; i++) gradient[i] = -x[i] / 1e-4;
    if (data) gradient[1] *= 0.4;
    return corner(x, NULL);
}

static void mistakes_at_a_corner_are_caught(void **state) {
    (void)state;
    for (uint64_t seed = 0; seed < 20; seed++) {
        ais_context context = {0};
        ais_target target = {.name = "corner", .dim = 4, .logp = corner, .grad = corner_gradient};
        if (ais_target_check(&context, &target, seed, NULL) != AIS_OK) fail_msg("%s", context.message);
        target.data = &target;
        assert_int_equal(ais_target_check(&context, &target, seed, NULL), AIS_BAD_DENSITY);
        assert_non_null(strstr(context.message, "(coordinate 2)"));
    }
}

static void solvers_are_believed_but_not_mistakes(void **state) {
    (void)state;
    const double noise[] = {1e-6, 1e-4, 1e-3}, wrong[] = {1.1, -1, 0.5};
    for (uint64_t seed = 0; seed < 50; seed++)
        for (int k = 0; k < 3; k++) {
            ais_context context = {0};
            ais_check check = {0};
            solver by = {.noise = noise[k], .factor = 1};
            ais_target target = {.name = "solved", .dim = 3, .logp = solved, .grad = solved_gradient, .data = &by};
            if (ais_target_check(&context, &target, seed, &check) != AIS_OK) fail_msg("%s", context.message);
            if (k == 2) assert_non_null(strstr(check.note, "imprecise"));
            for (int w = k == 2; w < 3; w++) { /* a tenth drowns in the loudest noise: a whole unit of logp far out */
                by.factor = wrong[w];
                if (ais_target_check(&context, &target, seed, NULL) == AIS_OK)
                    fail_msg("noise %g, seed %d: a factor of %g was not caught", noise[k], (int)seed, wrong[w]);
                assert_non_null(strstr(context.message, "(coordinate 2)"));
            }
        }
}

static void a_budget_is_kept(void **state) {
    (void)state;
    ais_context context = {0};
    ais_target target = {.name = "log_sd", .dim = 2, .logp = log_sd, .grad = log_sd_gradient};
    ais_check free = {0};
    assert_int_equal(ais_target_check(&context, &target, 1, &free), AIS_OK);
    ais_check just = {.evaluations = free.densities + free.gradients}, less = {.evaluations = just.evaluations - 1};
    assert_int_equal(ais_target_check(&context, &target, 1, &just), AIS_OK);
    assert_int_equal(ais_target_check(&context, &target, 1, &less), AIS_BAD_ARGUMENT);
    assert_non_null(strstr(context.message, "too few to start with"));
    assert_true(less.densities + less.gradients <= less.evaluations);
}

static void awkward_densities_pass(void **state) {
    (void)state;
    const ais_target target[] = {
        {.name = "half_line", .dim = 1, .logp = half_line, .grad = half_line_gradient},
        {.name = "cone", .dim = 2, .logp = cone, .grad = cone_gradient},
        {.name = "steep", .dim = 2, .logp = steep, .grad = steep_gradient},
        {.name = "coarse", .dim = 1, .logp = coarse, .grad = coarse_gradient},
        {.name = "flat", .dim = 1, .logp = flat, .grad = flat_gradient, .start_scale = 1e6},
        {.name = "plain", .dim = 300, .logp = flat},
    };
    for (size_t k = 0; k < sizeof target / sizeof *target; k++)
        for (uint64_t seed = 0; seed < 1000; seed++) {
            ais_context context = {0};
            if (ais_target_check(&context, &target[k], seed, NULL) != AIS_OK) fail_msg("%s", context.message);
        }
}

static void incomplete_targets_are_refused(void **state) {
    (void)state;
    ais_context context = {0};
    assert_int_equal(ais_target_check(&context, &(ais_target){.name = "a", .dim = 1}, 1, NULL), AIS_BAD_ARGUMENT);
    assert_non_null(strstr(context.message, "logp is missing"));
    assert_int_equal(ais_target_check(&context, &(ais_target){.name = "a", .logp = flat}, 1, NULL), AIS_BAD_ARGUMENT);
    assert_non_null(strstr(context.message, "dim is 0"));
    assert_int_equal(
        ais_target_check(&context, &(ais_target){.name = "a", .dim = 1, .logp = flat, .start_scale = -1}, 1, NULL),
        AIS_BAD_ARGUMENT);
    assert_non_null(strstr(context.message, "start_scale is -1"));
}

/* Positive between 2 and 7 in the first coordinate and above 0 in eleven more, which no point from N(0, I) is. */
static double boxed(const double *x, void *data) {
    (void)data;
    if (x[0] < 2 || x[0] > 7) return -INFINITY;
    for (int i = 1; i < 12; i++)
        if (x[i] <= 0) return -INFINITY;
    return 0;
}

static void bounds_that_are_missing_are_told(void **state) {
    (void)state;
    ais_context context = {0};
    ais_check check = {0};
    const ais_target target = {.name = "boxed", .dim = 12, .logp = boxed};
    assert_int_equal(ais_target_check(&context, &target, 1, &check), AIS_BAD_DENSITY);
    assert_non_null(strstr(context.message, "x.1 lies between about 2 and 7, x.2 is above about 0"));
    assert_non_null(strstr(context.message, "give these bounds"));
    assert_true(check.densities < 2000);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(intact),
        cmocka_unit_test(gradients),
        cmocka_unit_test(imprecise),
        cmocka_unit_test(a_forgotten_jacobian_is_caught),
        cmocka_unit_test(solvers_are_believed_but_not_mistakes),
        cmocka_unit_test(a_mistake_where_nothing_is_counts_little),
        cmocka_unit_test(mistakes_at_a_corner_are_caught),
        cmocka_unit_test(a_budget_is_kept),
        cmocka_unit_test(batches),
        cmocka_unit_test(values),
        cmocka_unit_test(awkward_densities_pass),
        cmocka_unit_test(incomplete_targets_are_refused),
        cmocka_unit_test(bounds_that_are_missing_are_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
