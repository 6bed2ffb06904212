/* Products, gradients and Adam's steps of every instruction set against sums written out, for sizes around the tiles.
 */
#include "support.h"

#include "nn/adam.h"
#include "nn/batch_lanes.h"
#include "nn/dense_lanes.h"
#include "nn/exp.h"

enum { MOST_IN = 70, MOST_OUT = 20, MOST_LANES = 144 };

static ais_real in[MOST_IN * MOST_LANES] __attribute__((aligned(64))),
    out[MOST_OUT * MOST_LANES] __attribute__((aligned(64))), down[MOST_IN * MOST_LANES] __attribute__((aligned(64)));
static ais_real weights[MOST_IN * MOST_OUT + 1], gradient[MOST_IN * MOST_OUT + 1], bias[MOST_OUT];

static void fill(ais_real *to, size_t count, uint64_t seed) {
    for (size_t i = 0; i < count; i++) to[i] = (ais_real)odd(seed, i, -1, 1);
}

static double dot(const ais_real *a, size_t a_step, const ais_real *b, size_t b_step, size_t count) {
    double sum = 0;
    for (size_t k = 0; k < count; k++) sum += (double)a[k * a_step] * (double)b[k * b_step];
    return sum;
}

static void one_size(int inputs, int outputs, size_t lanes) {
    const double tolerance = 2e-5;
    fill(in, (size_t)inputs * lanes, 1);
    fill(weights, (size_t)(inputs * outputs), 2);
    fill(bias, (size_t)outputs, 3);
    AIS_CHOOSE(ais_dense)(inputs, outputs, lanes, weights, bias, in, out);
    for (int o = 0; o < outputs; o++)
        for (size_t c = 0; c < lanes; c++)
            assert_near(out[(size_t)o * lanes + c],
                        (double)bias[o] + dot(weights + o * inputs, 1, in + c, lanes, (size_t)inputs), tolerance);
    fill(out, (size_t)outputs * lanes, 4);
    AIS_CHOOSE(ais_dense_transposed)(inputs, outputs, lanes, weights, out, down);
    for (int i = 0; i < inputs; i++)
        for (size_t c = 0; c < lanes; c++)
            assert_near(down[(size_t)i * lanes + c], dot(weights + i, (size_t)inputs, out + c, lanes, (size_t)outputs),
                        tolerance);
    /* Gradients are added to what is there, at any address, and nothing behind them is touched. */
    size_t count = (size_t)(inputs * outputs);
    ais_real sums[MOST_OUT];
    for (size_t i = 0; i <= count; i++) gradient[i] = 3;
    for (int o = 0; o < outputs; o++) sums[o] = -2;
    AIS_CHOOSE(ais_dense_gradient)(inputs, outputs, lanes, in, out, gradient, sums);
    const ais_real one[1] = {1};
    for (int o = 0; o < outputs; o++) {
        const ais_real *row = out + (size_t)o * lanes;
        assert_near(sums[o], -2 + dot(row, 1, one, 0, lanes), tolerance);
        for (int i = 0; i < inputs; i++)
            assert_near(gradient[o * inputs + i], 3 + dot(row, 1, in + (size_t)i * lanes, 1, lanes), tolerance);
    }
    assert_true(gradient[count] == 3);
}

static void products(void **state) {
    (void)state;
    static const int input_counts[] = {1, 2, 3, 7, 8, 15, 16, 17, 18, 19, 33, 64, 70},
                     output_counts[] = {1, 2, 3, 4, 5, 6, 7, 12, 20};
    static const size_t lane_counts[] = {16, 48, 64, 80, 144};
    ais_isa now = ais_isa_now();
    for (int isa = 0; isa < AIS_ISA_COUNT && ais_isa_take((ais_isa)isa); isa++)
        for (size_t i = 0; i < sizeof input_counts / sizeof *input_counts; i++)
            for (size_t o = 0; o < sizeof output_counts / sizeof *output_counts; o++)
                for (size_t l = 0; l < sizeof lane_counts / sizeof *lane_counts; l++)
                    one_size(input_counts[i], output_counts[o], lane_counts[l]);
    ais_isa_take(now);
}

static void transposed_and_back(void **state) {
    (void)state;
    enum { ROWS = 48, COLUMNS = 144 };
    static ais_real from[ROWS * COLUMNS] __attribute__((aligned(64))), to[ROWS * COLUMNS] __attribute__((aligned(64)));
    ais_isa now = ais_isa_now();
    fill(from, ROWS * COLUMNS, 5);
    for (int isa = 0; isa < AIS_ISA_COUNT && ais_isa_take((ais_isa)isa); isa++) {
        memset(to, 0, sizeof to);
        AIS_CHOOSE(ais_transpose)(ROWS, COLUMNS, from, to);
        for (size_t r = 0; r < ROWS; r++)
            for (size_t c = 0; c < COLUMNS; c++) assert_true(to[c * ROWS + r] == from[r * COLUMNS + c]);
    }
    ais_isa_take(now);
}

/* Three steps of Adam written out in double. */
static void adam_steps(void **state) {
    (void)state;
    enum { COUNT = 37, STEPS = 3 };
    ais_isa now = ais_isa_now();
    for (int isa = 0; isa < AIS_ISA_COUNT && ais_isa_take((ais_isa)isa); isa++) {
        ais_arena arena = {0};
        ais_adam adam;
        ais_adam_options options = {.rate = 0.1, .final_share = 1, .beta2 = 0.95};
        ais_real value[COUNT], slope[COUNT], share[COUNT];
        double wanted[COUNT], m[COUNT] = {0}, v[COUNT] = {0};
        for (int i = 0; i < COUNT; i++) wanted[i] = value[i] = (ais_real)odd(5, (uint64_t)i, -1, 1);
        assert_true(ais_adam_new(&adam, &options, COUNT, value, &arena));
        for (int i = 0; i < COUNT; i++) share[i] = (ais_real)(i % 3);
        adam.share = share;
        for (int t = 1; t <= STEPS; t++) {
            fill(slope, COUNT, 100 + (uint64_t)t);
            double square = 0;
            for (int i = 0; i < COUNT; i++) {
                double g = slope[i];
                square += g * g;
                m[i] = 0.9 * m[i] + 0.1 * g;
                v[i] = 0.95 * v[i] + 0.05 * g * g;
                wanted[i] -=
                    0.1 * (double)share[i] * m[i] / (1 - pow(0.9, t)) / (sqrt(v[i] / (1 - pow(0.95, t))) + 1e-8);
            }
            assert_near(ais_adam_step(&adam, slope, value), sqrt(square), 1e-12);
            for (int i = 0; i < COUNT; i++) assert_near(value[i], wanted[i], 1e-5);
        }
        ais_real before = value[0];
        slope[5] = NAN; /* nothing is changed */
        assert_true(!isfinite(ais_adam_step(&adam, slope, value)) && value[0] == before && adam.step == STEPS);
        ais_arena_free(&arena);
    }
    ais_isa_take(now);
}

static void largest_gradient(void **state) {
    (void)state;
    enum { COUNT = 75 };
    static const ais_real odd_ones[] = {NAN, -NAN, INFINITY, -INFINITY};
    ais_real value[COUNT];
    ais_isa now = ais_isa_now();
    for (int isa = 0; isa < AIS_ISA_COUNT && ais_isa_take((ais_isa)isa); isa++)
        for (int at = 0; at < COUNT; at++) {
            fill(value, COUNT, 8);
            value[at] = -2.5F;
            assert_true(AIS_CHOOSE(ais_batch_largest)(value, COUNT) == 2.5);
            for (int k = 0; k < 4; k++) {
                value[at] = odd_ones[k];
                assert_true(AIS_CHOOSE(ais_batch_largest)(value, COUNT) == INFINITY);
            }
        }
    ais_isa_take(now);
}

static void fast_exp(void **state) {
    (void)state;
    double worst = 0;
    for (int i = 0; i <= 1 << 16; i++) {
        ais_real x = (ais_real)(-87.0 * i / (1 << 16));
        ais_reals y = ais_exp_real(ais_spread_real(x));
        worst = fmax(worst, fabs((double)y[0] / exp((double)x) - 1));
    }
    assert_true(worst < 3e-7 && worst > 0);
    assert_true(ais_exp_real(ais_spread_real(0))[0] == 1);
    assert_true(ais_exp_real(ais_spread_real(-1000))[0] < 1e-37F &&
                ais_exp_real(ais_spread_real(-INFINITY))[0] < 1e-37F);
    assert_true(isnan(ais_exp_real(ais_spread_real(NAN))[0]));
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(products), cmocka_unit_test(transposed_and_back),
                                       cmocka_unit_test(adam_steps), cmocka_unit_test(largest_gradient),
                                       cmocka_unit_test(fast_exp)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
