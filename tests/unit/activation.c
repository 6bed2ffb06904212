/* The fast tanh of the networks against the library's, in every instruction set that this machine has. */
#include "support.h"

#include "nn/dense_lanes.h"

enum { COUNT = 1 << 16 };

static void fast_tanh(void **state) {
    (void)state;
    static ais_real value[COUNT] __attribute__((aligned(64)));
    double worst = 0;
    for (int part = 0; part < 2; part++) {
        double width = part ? 40 : 3;
        for (int i = 0; i < COUNT; i++) value[i] = (ais_real)(width * (2.0 * i / COUNT - 1));
        AIS_CHOOSE(ais_activate)(true, COUNT, value);
        for (int i = 0; i < COUNT; i++) {
            double wanted = tanh((double)(ais_real)(width * (2.0 * i / COUNT - 1)));
            worst = fmax(worst, fabs((double)value[i] - wanted));
            assert_true(value[i] <= 1 && value[i] >= -1);
            /* odd, so that mirrored inputs stay mirrored */
            if (i) assert_true(value[i] == -value[COUNT - i]);
        }
    }
    assert_true(worst < 6e-7);
    assert_true(worst > 0);
}

static void odd_values(void **state) {
    (void)state;
    static ais_real value[AIS_LANES] __attribute__((aligned(64))) = {NAN, INFINITY, -INFINITY, 0, 1e-30F, -1e30F};
    AIS_CHOOSE(ais_activate)(true, AIS_LANES, value);
    assert_true(isnan(value[0]));
    assert_true(value[1] == 1 && value[2] == -1 && value[3] == 0 && value[5] == -1);
    assert_near(value[4], 1e-30, 1e-36);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(fast_tanh), cmocka_unit_test(odd_values)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
