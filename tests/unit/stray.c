/* Chains that explore where next to no mass is, told from those in parts of p whose density is low and volume large. */
#include <math.h>
#include <stdlib.h>

#include "explore/chains.h"
#include "explore/stray.h"
#include "simd/normal.h"
#include "support.h"

enum { DIM = 5, CHAINS = 3, PIECES = 4, DRAWS = 160 };

static double state[DIM * CHAINS * DRAWS], logp[CHAINS * DRAWS];
static bool stray[CHAINS * PIECES];

/* A chain's draws of N(place, width^2 I), with a density `mass` times that. */
static void put(int chain, double place, double width, double log_mass) {
    double *normal = malloc(DIM * DRAWS * sizeof *normal);
    assert_non_null(normal);
    ais_normals(&(ais_stream){.seed = 3, .chain = (uint32_t)chain, .purpose = AIS_FOR_USER}, DIM * DRAWS, normal);
    for (int t = 0; t < DRAWS; t++) {
        double *sum = &logp[chain * DRAWS + t];
        *sum = log_mass - DIM * log(width);
        for (int i = 0; i < DIM; i++) {
            double z = normal[i * DRAWS + t];
            state[(i * CHAINS + chain) * DRAWS + t] = place + width * z;
            *sum -= 0.5 * z * z;
        }
    }
    free(normal);
}

static int find(void) { return ais_find_stray(DIM, CHAINS, DRAWS, PIECES, state, logp, stray); }

static void mass_counts_and_not_density(void **unused) {
    (void)unused;
    put(0, 0, 1e-4, 0); /* a spike and a slab, of equal mass */
    put(1, 5, 10, 0);
    put(2, -40, 1, -40); /* a mode without mass, whose density is the second highest */
    int best = find();
    assert_in_range(best, 0, 1);
    assert_true(logp[2 * DRAWS] < logp[0] && logp[2 * DRAWS] > logp[DRAWS] - 40);
    for (int k = 0; k < CHAINS * PIECES; k++) assert_int_equal(stray[k], k >= 2 * PIECES);
    put(2, -40, 1, -5); /* half a percent of the mass is no stray */
    find();
    for (int k = 0; k < CHAINS * PIECES; k++) assert_false(stray[k]);
}

static void pieces_are_judged_by_themselves(void **unused) {
    (void)unused;
    put(0, 0, 1, 0);
    put(1, 1, 1, 0);
    put(2, -40, 1, -60);
    for (int t = DRAWS / 2; t < DRAWS; t++) { /* it came home in the middle */
        for (int i = 0; i < DIM; i++) state[(i * CHAINS + 2) * DRAWS + t] = state[i * CHAINS * DRAWS + t];
        logp[2 * DRAWS + t] = logp[t];
    }
    find();
    for (int k = 0; k < CHAINS * PIECES; k++) assert_int_equal(stray[k], k == 2 * PIECES || k == 2 * PIECES + 1);
}

static void chains_that_never_move_have_no_mass_beside_others(void **unused) {
    (void)unused;
    for (int c = 0; c < CHAINS; c++) put(c, 0, 0, 0);
    for (int k = 0; k < CHAINS * DRAWS; k++) logp[k] = -1;
    find();
    for (int k = 0; k < CHAINS * PIECES; k++) assert_false(stray[k]); /* nothing is known of any */
    put(1, 0, 1, 0);
    assert_int_equal(find(), 1);
    for (int k = 0; k < CHAINS * PIECES; k++) assert_int_equal(stray[k], k / PIECES != 1);
}

/* Two modes, the second of e^-60 of the mass, far away. */
static double two(const double *x, double *gradient, void *data) {
    (void)data;
    double middle[2] = {0, 30}, q[2] = {0, -60};
    for (int k = 0; k < 2; k++)
        for (int i = 0; i < DIM; i++) q[k] -= 0.5 * (x[i] - middle[k]) * (x[i] - middle[k]);
    int near = q[1] > q[0];
    for (int i = 0; i < DIM; i++) gradient[i] = middle[near] - x[i];
    return q[near];
}
static double density(const double *x, void *data) {
    double gradient[DIM];
    return two(x, gradient, data);
}

static void a_stray_chain_goes_on_from_the_best(void **unused) {
    (void)unused;
    ais_context context = {0};
    const ais_target target = {.name = "two", .dim = DIM, .logp = density, .grad = two, .start_scale = 1};
    ais_archive archive;
    ais_pool *pool;
    double x[2 * DIM];
    for (int i = 0; i < 2 * DIM; i++) x[i] = i < DIM ? 0.1 : 30.1;
    ais_stretch run = {.seed = 1, .chains = 2, .warmup = 40, .draws = 80, .max_depth = 6, .x = x};
    double *draws = malloc(2 * DIM * 80 * sizeof *draws), mean[DIM] = {0}, factor[DIM * DIM] = {0};
    assert_non_null(draws);
    run.state = draws;
    for (int i = 0; i < DIM; i++) factor[i * (DIM + 1)] = 1;
    assert_ok(context, ais_kernel_learned(&context, &(ais_shape){.map = AIS_AFFINE, .reversal = AIS_SWAP, .dim = DIM},
                                          0, &run.map));
    assert_ok(context, ais_kernel_whiten(&context, run.map, mean, factor));
    assert_ok(context, ais_pool_new(&context, 2, &pool));
    ais_archive_begin(&archive, DIM, true, 65536);
    assert_ok(context, ais_explore_stretch(&context, &target, pool, &run, &archive));
    assert_true(draws[2 * 80 - 1] > 20); /* it was there to the end, */
    for (int i = 0; i < DIM; i++) assert_true(x[DIM + i] == x[i]);
    for (size_t k = 0; k < archive.count; k++) /* and what it saw is kept, but not as draws */
        if (archive.x[k * DIM] > 20) assert_int_equal(archive.from[k], AIS_FROM_PATH);
    int kept = 0;
    for (size_t k = 0; k < archive.count; k++) kept += archive.from[k] == AIS_FROM_CHAIN;
    assert_true(kept > 40);
    ais_archive_free(&archive);
    ais_pool_free(pool);
    free(draws);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(mass_counts_and_not_density),
        cmocka_unit_test(pieces_are_judged_by_themselves),
        cmocka_unit_test(chains_that_never_move_have_no_mass_beside_others),
        cmocka_unit_test(a_stray_chain_goes_on_from_the_best),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
