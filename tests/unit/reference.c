/* What runs, in lanes, against the maps as they are written down (map/reference.h), with every instruction set that the
 * machine has; and the reference against itself. */
#include "support.h"

#include "map/element_lanes.h"
#include "map/reference.h"
#include "simd/isa.h"

enum { LANES = 64, MOST_DIM = 6 };

static double below_a_tick(double number) { return number - 0x1p-20 * floor(number * 0x1p20); }

/* Lattice points, weights at random: lanes agree with the reference to the rounding of float networks, the bits below a
 * tick to the last one, and the reference undoes itself bit for bit. */
static void henon_agrees(int dim, int depth, bool tanh) {
    ais_henon henon;
    ais_henon_build(&henon, dim, 4, 16, depth, tanh);
    float *weights = test_malloc(henon.weights * sizeof *weights);
    for (size_t i = 0; i < henon.weights; i++) weights[i] = (float)odd(5, i, -0.5, 0.5);
    ais_arena arena = {0};
    ais_henon_work work;
    assert_true(ais_henon_work_new(&henon, weights, LANES, &arena, &work));
    size_t rows = (size_t)dim * LANES;
    double *z = AIS_TAKE(&arena, double, 2 * rows), *image = AIS_TAKE(&arena, double, 2 * rows);
    for (size_t i = 0; i < 2 * rows; i++) z[i] = round(0x1p32 * odd(6, i, -3, 3)) * 0x1p-32;
    for (int inverse = 0; inverse < 2; inverse++) {
        ais_henon_lattice(&henon, &work, inverse ? AIS_HENON_INVERSE : AIS_HENON_FORWARD, z, z + rows, image);
        for (size_t c = 0; c < LANES; c++) {
            double x[MOST_DIM], y[MOST_DIM];
            for (size_t i = 0; i < (size_t)dim; i++) x[i] = z[i * LANES + c], y[i] = z[rows + i * LANES + c];
            ais_reference_henon(&henon, weights, inverse, x, y);
            for (size_t i = 0; i < (size_t)dim; i++) {
                assert_near(image[i * LANES + c], x[i], 5e-5);
                assert_near(image[rows + i * LANES + c], y[i], 5e-5);
                assert_true(below_a_tick(image[i * LANES + c]) == below_a_tick(x[i]));
                assert_true(below_a_tick(image[rows + i * LANES + c]) == below_a_tick(y[i]));
            }
            ais_reference_henon(&henon, weights, !inverse, x, y);
            for (size_t i = 0; i < (size_t)dim; i++)
                assert_true(x[i] == z[i * LANES + c] && y[i] == z[rows + i * LANES + c]);
        }
    }
    ais_arena_free(&arena);
    test_free(weights);
}

/* Runs `each` once for every instruction set. */
static void with_every_set(void (*each)(int, int, bool), int first, int second, bool third) {
    ais_isa now = ais_isa_now();
    for (int isa = 0; isa < AIS_ISA_COUNT && ais_isa_take((ais_isa)isa); isa++) each(first, second, third);
    ais_isa_take(now);
}

static void henon_lanes_agree(void **state) {
    (void)state;
    for (int dim = 1; dim <= MOST_DIM; dim += dim < 3 ? 1 : 3)
        for (int depth = 1; depth <= 2; depth++)
            for (int tanh = 0; tanh < 2; tanh++) with_every_set(henon_agrees, dim, depth, tanh);
}

/* Coupling splines, each lane with parameters of its own, and marginal ones, all with the same. */
static void spline_agrees(int bins, int unused, bool marginal) {
    (void)unused;
    int params = ais_spline_params(bins), index[1] = {0};
    const double bound = 3;
    ais_arena arena = {0};
    float *p = AIS_TAKE(&arena, float, (size_t)params *LANES), *free_p = AIS_TAKE(&arena, float, (size_t)params *LANES);
    double *table = AIS_TAKE(&arena, double, ais_marginal_size(1, bins)), *own = AIS_TAKE(&arena, double, params);
    double *z = AIS_TAKE(&arena, double, LANES), *x = AIS_TAKE(&arena, double, LANES),
           *det = AIS_TAKE(&arena, double, LANES), *at = AIS_TAKE(&arena, double, LANES);
    size_t lanes = marginal ? 1 : LANES;
    for (size_t i = 0; i < (size_t)params * lanes; i++) free_p[i] = (float)odd(8, i, -2, 2);
    for (size_t c = 0; c < LANES; c++) at[c] = odd(9, c, -3.5, 3.5);
    for (int inverse = 0; inverse < 2; inverse++) {
        ais_layer_call call = {.mapped = 1, .bins = bins, .index = index, .bound = bound, .lanes = LANES, .p = free_p};
        memcpy(p, free_p, (size_t)params * lanes * sizeof *p);
        memcpy(z, at, LANES * sizeof *z);
        memset(det, 0, LANES * sizeof *det);
        call.knots = p;
        if (marginal) {
            AIS_CHOOSE(ais_marginal_prepare)(&call, table);
            call.table = table;
            AIS_CHOOSE(ais_marginal_map)(&call, inverse, z, x, det);
        } else {
            AIS_CHOOSE(ais_spline_map)(&call, inverse, z, x, det);
        }
        for (size_t c = 0; c < LANES; c++) {
            double log_det = 0, back = 0;
            for (int k = 0; k < params; k++) own[k] = (double)free_p[(size_t)k * lanes + (marginal ? 0 : c)];
            double wanted = ais_reference_spline(bins, bound, own, inverse, at[c], &log_det);
            assert_near(z[c], wanted, 3e-6 * (1 + exp(log_det))); /* knots are sums of float shares, either way */
            assert_near(det[c], log_det, 1e-3);
            assert_near(ais_reference_spline(bins, bound, own, !inverse, wanted, &back), at[c], 1e-12);
            assert_near(log_det + back, 0, 1e-10);
        }
    }
    ais_arena_free(&arena);
}

static void spline_lanes_agree(void **state) {
    (void)state;
    for (int bins = 2; bins <= 32; bins *= 4)
        for (int marginal = 0; marginal < 2; marginal++) with_every_set(spline_agrees, bins, 0, marginal);
}

/* The derivative that the reference tells is that of its values. */
static void reference_spline_has_its_slope(void **state) {
    (void)state;
    enum { BINS = 5 };
    double p[3 * BINS - 1], ignored;
    for (int k = 0; k < 3 * BINS - 1; k++) p[k] = odd(3, (uint64_t)k, -1, 1);
    for (int k = 0; k < 100; k++) {
        double at = -2.95 + 0.059 * k, h = 1e-5, log_det = 0;
        ais_reference_spline(BINS, 3, p, false, at, &log_det);
        double up = ais_reference_spline(BINS, 3, p, false, at + h, &ignored),
               down = ais_reference_spline(BINS, 3, p, false, at - h, &ignored);
        assert_near(log((up - down) / (2 * h)), log_det, 1e-4);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(henon_lanes_agree),
        cmocka_unit_test(spline_lanes_agree),
        cmocka_unit_test(reference_spline_has_its_slope),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
