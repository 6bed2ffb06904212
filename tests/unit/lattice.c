/* The lattice of henon maps: rounding, ticks, and chains that it does not reach. */
#include "support.h"

#include <aisampler/target.h>

#include "learned/learned.h"
#include "map/lattice_lanes.h"

enum { N = 64 };

static void rounding(void **state) {
    (void)state;
    const double end = AIS_LATTICE_END;
    _Alignas(64) double from[AIS_LANES] = {0, 0x1p-33, -0x1.8p-32, 1, end, 0x1p18, -INFINITY, 3e300, -end, 0.1};
    const double wanted[AIS_LANES] = {0, 0, -0x1p-31, 1, end, end, -end, end, -end, 429496730 * 0x1p-32};
    _Alignas(64) double to[AIS_LANES];
    AIS_CHOOSE(ais_lattice_round)(AIS_LANES, from, to);
    for (int i = 0; i < AIS_LANES; i++) assert_true(to[i] == wanted[i]);
}

/* With other ticks a number has those, and the rest of it is where it was. */
static void ticks_are_replaced(void **state) {
    (void)state;
    _Alignas(64) double from[N], to[N], back[N];
    _Alignas(64) int32_t before[N], wanted[N], after[N];
    const double odd_ones[] = {0,
                               -0x1p-32,
                               0x1p-20,
                               -0x1p-20,
                               AIS_LATTICE_END - 0x1p-32,
                               AIS_LATTICE_END - 0x1p-20,
                               -AIS_LATTICE_END,
                               0x1p-32 - AIS_LATTICE_END};
    for (uint64_t round = 0; round < 200; round++) {
        for (size_t i = 0; i < N; i++) {
            double any = odd(1, round * N + i, -1, 1);
            from[i] = i % 4 ? floor(any * 0x1p35) * 0x1p-32 : floor(any * AIS_LATTICE_END * 0x1p32) * 0x1p-32;
            if (i < 8) from[i] = odd_ones[i];
            wanted[i] = (int32_t)(uint32_t)(odd(2, round * N + i, 0, 1) * 0x1p32);
            if (i % 16 == 5) wanted[i] = round % 2 ? INT32_MAX : INT32_MIN;
        }
        AIS_CHOOSE(ais_ticks_of)(N, from, before);
        AIS_CHOOSE(ais_ticks_put)(N, from, wanted, to);
        AIS_CHOOSE(ais_ticks_of)(N, to, after);
        assert_memory_equal(after, wanted, sizeof after);
        AIS_CHOOSE(ais_ticks_put)(N, to, before, back);
        for (size_t i = 0; i < N; i++) {
            assert_true(back[i] == from[i]);
            assert_true(fabs(to[i] - from[i]) < 0x1p12);
            assert_true(to[i] >= -AIS_LATTICE_END && to[i] < AIS_LATTICE_END);
        }
    }
}

/* A chain beyond the ends stays where it is, and only it; brought back it moves again. */
static void beyond_the_ends(void **state) {
    (void)state;
    ais_context context = {0};
    ais_target *target;
    ais_kernel *kernel;
    ais_state *chains;
    void *own;
    ais_info info[3] = {{0}};
    const ais_shape shape = {.map = AIS_HENON, .dim = 2};
    const double start[] = {0.5, 0.5, 0.5, 0.5, 0.5, 0.5};
    assert_ok(context, ais_target_open(&context, "gaussian:dim=2", &target));
    assert_ok(context, ais_kernel_learned(&context, &shape, 1, &kernel));
    ais_kernel_set_tolerance(kernel, INFINITY); /* nor does it then */
    assert_ok(context, ais_state_new(&context, target, 1, 0, 3, 0, start, &chains));
    assert_ok(context, kernel->type->init(&context, kernel, chains, &own));
    chains->x[1] = 1e6; /* another kernel's doing */
    chains->version[1]++;
    int moved[3] = {0};
    for (; chains->step < 20; chains->step++) {
        double before[3] = {chains->x[0], chains->x[1], chains->x[2]};
        assert_ok(context, kernel->type->step(&context, kernel, chains, own, info));
        for (int c = 0; c < 3; c++) moved[c] += chains->x[c] != before[c];
        assert_true(chains->x[1] == 1e6 && info[1].accept_stat == 0 && info[1].round_trip == 0);
        assert_true(chains->logp[1] < -1e11);
    }
    assert_true(moved[0] > 0 && moved[1] == 0 && moved[2] > 0);
    chains->x[1] = 0.25;
    chains->version[1]++;
    for (; chains->step < 40; chains->step++) {
        double before = chains->x[1];
        assert_ok(context, kernel->type->step(&context, kernel, chains, own, info));
        moved[1] += chains->x[1] != before;
    }
    assert_true(moved[1] > 0);
    ais_state_free(chains);
    ais_kernel_free(kernel);
    ais_target_close(target);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(rounding), cmocka_unit_test(ticks_are_replaced),
                                       cmocka_unit_test(beyond_the_ends)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
