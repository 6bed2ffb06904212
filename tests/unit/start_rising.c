/* The search goes on, up to twice its effort, where its last optimisations found modes: of waves of which one has all
 * of the mass, that one is mostly found. */
#include "support.h"

#include "look/start.h"

enum { DIM = 5, SEEDS = 40 };

/* Waves along the diagonal, across which all is known well; the one at 1.3 is exp(14) times as high as the others. */
static double waves(const double *x, void *data) {
    (void)data;
    double u = 0, square = 0;
    for (int i = 0; i < DIM; i++) u += x[i] / sqrt(DIM), square += x[i] * x[i];
    double across = square - u * u, near = (u - 1.3) / 0.05;
    return 4 * cos(24 * (u - 1.3)) - u * u / 8 - across / (2 * 0.1 * 0.1) + 14 * exp(-near * near / 2);
}

static double one(const double *x, void *data) {
    (void)data;
    double sum = 0;
    for (int i = 0; i < DIM; i++) sum -= 0.5 * x[i] * x[i] / (1 + i);
    return sum;
}

static double search(double (*logp)(const double *, void *), uint64_t seed, long effort, long *used) {
    ais_context context = {0};
    const ais_target target = {.name = "waves", .dim = DIM, .logp = logp};
    const ais_start_options options = {.seed = seed, .screen = 100, .planes = 400, .effort = effort, .look_only = true};
    ais_start *start = NULL;
    assert_ok(context, ais_cold_start(&context, &target, &options, &start));
    double highest = logp(start->peak, NULL);
    *used = start->densities;
    ais_start_free(start);
    return highest;
}

static void the_high_wave_is_mostly_found(void **state) {
    (void)state;
    int found = 0;
    long used, all = 0;
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        found += search(waves, seed, 2000, &used) > 10;
        all += used;
    }
    print_message("%d of %d found, %ld evaluations each\n", found, SEEDS, all / SEEDS);
    assert_true(found >= 30);
}

static void one_mode_costs_no_more(void **state) {
    (void)state;
    long used, more;
    search(one, 1, 2000, &used);
    search(one, 1, 100000, &more);
    assert_int_equal(used, more);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_high_wave_is_mostly_found),
        cmocka_unit_test(one_mode_costs_no_more),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
