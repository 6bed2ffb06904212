/* The discriminator of empirical kernels, by its weights and by its points, against central differences. */
#include "support.h"

#include "map/ratio.h"

enum { DIM = 3, LANES = 16 };
static const double h = 1e-5, tolerance = 2e-7;

/* L = sum of q D(u) with odd coefficients q. */
static double loss(const ais_ratio *ratio, const ais_ratio_tape *tape, const double *u, double *gradient_value) {
    double value[LANES], sum = 0;
    ais_ratio_forward(ratio, tape, u, value);
    for (int c = 0; c < LANES; c++) {
        double q = odd(6, (uint64_t)c, -2, 2);
        sum += q * value[c];
        if (gradient_value) gradient_value[c] = q;
    }
    return sum;
}

static double difference(const ais_ratio *ratio, const ais_ratio_tape *tape, const double *u, double *at) {
    double keep = *at;
    *at = keep + h;
    double up = loss(ratio, tape, u, NULL);
    *at = keep - h;
    double down = loss(ratio, tape, u, NULL);
    *at = keep;
    return (up - down) / (2 * h);
}

static void agrees_with_differences(void **state) {
    (void)state;
    ais_arena arena = {0};
    ais_ratio ratio = ais_ratio_shape(DIM, 12, 2);
    ais_ratio_tape tape;
    double u[DIM * LANES], by_value[LANES], by_u[DIM * LANES], most = 0;
    ais_real *by_weight = AIS_TAKE(&arena, ais_real, ratio.count);
    ratio.weights = AIS_TAKE(&arena, ais_real, ratio.count);
    assert_true(by_weight && ratio.weights && ais_ratio_tape_new(&ratio, LANES, &arena, &tape));
    for (size_t i = 0; i < ratio.count; i++) ratio.weights[i] = odd(1, i, -0.8, 0.9);
    for (size_t i = 0; i < DIM * LANES; i++) u[i] = odd(2, i, -2, 2.3);
    loss(&ratio, &tape, u, by_value);
    ais_ratio_backward(&ratio, &tape, by_value, by_u, by_weight);
    for (size_t i = 0; i < DIM * LANES; i++) {
        assert_near(by_u[i], difference(&ratio, &tape, u, &u[i]), tolerance);
        most = fmax(most, fabs(by_u[i]));
    }
    for (size_t i = 0; i < ratio.count; i++)
        assert_near(by_weight[i], difference(&ratio, &tape, u, &ratio.weights[i]), tolerance);
    assert_true(most > 0.1); /* else a gradient of zeros would pass */
    ais_arena_free(&arena);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(agrees_with_differences)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
