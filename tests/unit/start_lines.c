/* Modes that differ in one coordinate where the others are known well: found on the lines through the first one, for a
 * few evaluations. */
#include "support.h"

#include <string.h>

#include "look/laplace.h"
#include "look/lines.h"

enum { DIM = 5 };

/* Two images of an angle, 3.25 apart, the second one with a tenth of the mass; all else to two hundredths. */
static double images(const double *x, void *data) {
    (void)data;
    double sum = 0, a = (x[1] + 1.1) / 0.2, b = (x[1] - 2.15) / 0.2;
    for (int i = 0; i < DIM; i++) sum -= i == 1 ? 0 : 0.5 * pow((x[i] - 0.1 * i) / 0.02, 2);
    return sum + log(0.9 * exp(-0.5 * a * a) + 0.1 * exp(-0.5 * b * b));
}

static double one(const double *x, void *data) {
    (void)data;
    double sum = 0;
    for (int i = 0; i < DIM; i++) sum -= 0.5 * x[i] * x[i] / (1 + i);
    return sum;
}

static int modes_along(double (*logp)(const double *, void *), const double *start, long *used, double *place) {
    ais_context context = {0};
    const ais_target target = {.name = "lines", .dim = DIM, .logp = logp};
    ais_evaluator evaluator = {.context = &context, .target = &target, .difference = 1e-5};
    ais_arena arena = {0};
    ais_modes modes;
    ais_search search;
    bool added;
    assert_ok(context, ais_search_new(&search, &evaluator, 1, 1, 8, &modes, &arena));
    assert_ok(context, ais_laplace(&evaluator, 1, start, logp(start, NULL), &modes, &added));
    assert_true(added);
    long before = evaluator.densities;
    assert_ok(context, ais_search_lines(&search));
    *used = evaluator.densities - before;
    if (modes.mixture.count > 1) memcpy(place, modes.mixture.mean + DIM, DIM * sizeof *place);
    int count = modes.mixture.count;
    ais_evaluator_free(&evaluator);
    ais_arena_free(&arena);
    return count;
}

static void the_other_image_is_found(void **state) {
    (void)state;
    const double start[DIM] = {0, -1.1, 0.2, 0.3, 0.4};
    double place[DIM];
    long used;
    assert_int_equal(modes_along(images, start, &used, place), 2);
    for (int i = 0; i < DIM; i++) assert_near(place[i], i == 1 ? 2.15 : 0.1 * i, 0.01);
    assert_true(used < 1000);
}

static void one_mode_costs_its_lines_alone(void **state) {
    (void)state;
    const double start[DIM] = {0};
    double place[DIM];
    long used;
    assert_int_equal(modes_along(one, start, &used, place), 1);
    assert_int_equal(used, 24 * DIM);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_other_image_is_found),
        cmocka_unit_test(one_mode_costs_its_lines_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
