/* M(M(z)) = z: bit for bit on the lattice, to rounding for flows; and |det J_M| as claimed. */
#include "support.h"

#include "learned/learned.h"
#include "map/lattice_lanes.h"
#include "simd/normal.h"

/* AIS_INVOLUTION_STATES is the number of states of the lattice, and the most of every flow; 10^7 without it. */
static long states_wanted(void) {
    const char *text = getenv("AIS_INVOLUTION_STATES");
    return text ? atol(text) : 10000000;
}

static ais_learned *make(ais_shape shape, uint64_t seed, double scale) {
    ais_context context = {0};
    ais_kernel *kernel;
    assert_ok(context, ais_kernel_learned(&context, &shape, seed, &kernel));
    size_t count;
    float *weights = ais_kernel_weights(kernel, &count);
    for (size_t i = 0; i < count; i++) weights[i] = (float)(scale * odd(seed, i, -1, 1));
    return (ais_learned *)kernel;
}

/* Mostly ordinary states; some huge, some at the ends of the lattice. */
static double lattice_number(uint64_t seed, uint64_t i) {
    ais_stream stream = {.seed = seed, .step = i, .purpose = AIS_FOR_USER + 1};
    uint32_t bits[4];
    ais_random_bits(&stream, 0, bits);
    int64_t any = (int64_t)((uint64_t)bits[1] << 32 | bits[0]);
    double sign = bits[3] % 2 ? 1 : -1;
    switch (bits[2] % 8) {
    case 0:
        return floor((double)any * 0x1p-31 * AIS_LATTICE_END) * 0x1p-32; /* anywhere */
    case 1:
        return sign * (AIS_LATTICE_END - (1 + bits[0] % 3) * 0x1p-32); /* the very ends */
    default:
        return (double)(any / (1 << 29)) * 0x1p-32; /* within +-4 */
    }
}

static long lattice_misses(ais_learned *learned, long states, uint64_t seed, bool broken) {
    enum { LANES = 64 };
    ais_arena arena = {0};
    ais_proposal proposal;
    assert_true(ais_proposal_new(learned, LANES, &arena, &proposal));
    size_t rows = (size_t)learned->shape.dim * LANES;
    double *z = AIS_TAKE(&arena, double, 2 * rows), *image = AIS_TAKE(&arena, double, 2 * rows);
    long misses = 0;
    for (long done = 0; done < states; done += LANES) {
        for (size_t i = 0; i < 2 * rows; i++) z[i] = lattice_number(seed, (uint64_t)done * 8192 + i);
        memcpy(image, z, 2 * rows * sizeof *z);
        ais_learned_lattice_involution(learned, &proposal, image);
        for (size_t i = 0; i < 2 * rows; i++) assert_true(image[i] >= -AIS_LATTICE_END && image[i] < AIS_LATTICE_END);
        /* eta of the first layer; the last one's cancels when R is flip */
        if (broken) learned->weights[learned->henon.layer_weights - 1] += 0.01F;
        ais_henon_work_set(&learned->henon, &proposal.henon_work);
        ais_learned_lattice_involution(learned, &proposal, image);
        if (broken) learned->weights[learned->henon.layer_weights - 1] -= 0.01F;
        ais_henon_work_set(&learned->henon, &proposal.henon_work);
        misses += memcmp(image, z, 2 * rows * sizeof *z) != 0;
    }
    ais_arena_free(&arena);
    return misses;
}

static void lattice_is_exact(void **state) {
    (void)state;
    const int dims[] = {1, 2, 3, 5, 8, 16, 33, 64};
    const int combinations = 8 * 20 * 2;
    long per_kernel = states_wanted() / combinations + 64, total = 0;
    for (int d = 0; d < 8; d++)
        for (int layers = 1; layers <= 20; layers++)
            for (int swap = 0; swap < 2; swap++) {
                uint64_t seed = (uint64_t)(layers * 100 + d);
                ais_shape shape = {.map = AIS_HENON,
                                   .reversal = swap ? AIS_SWAP : AIS_FLIP,
                                   .dim = dims[d],
                                   .layers = layers,
                                   .hidden = 7 + layers,
                                   .activation = layers % 2 ? AIS_RELU : AIS_TANH};
                /* tame and wild weights: V may even overflow to infinity or NaN */
                ais_learned *learned = make(shape, seed, layers % 5 == 4 ? 1e30 : 0.7);
                long misses = lattice_misses(learned, per_kernel, seed, false);
                if (misses) fail_msg("dim %d, %d layers, swap %d: %ld misses", dims[d], layers, swap, misses);
                total += (per_kernel + 63) / 64 * 64;
                ais_kernel_free(&learned->kernel);
            }
    print_message("%ld lattice states: M(M(z)) = z bit for bit\n", total);
}

static void unequal_eta_is_caught(void **state) {
    (void)state;
    ais_shape shape = {.map = AIS_HENON, .dim = 2};
    ais_learned *learned = make(shape, 3, 0.7);
    assert_int_equal(lattice_misses(learned, 640, 1, true), 10);
    assert_int_equal(lattice_misses(learned, 640, 1, false), 0);
    ais_kernel_free(&learned->kernel);
}

/* ---- flows ------------------------------------------------------------------------------------- */

static const ais_shape flow_shapes[] = {
    {.map = AIS_REALNVP, .dim = 1, .joint = true, .activation = AIS_TANH},
    {.map = AIS_REALNVP, .dim = 2, .joint = true, .activation = AIS_TANH},
    {.map = AIS_REALNVP, .dim = 3, .joint = true, .layers = 6, .depth = 2, .hidden = 6},
    {.map = AIS_REALNVP, .dim = 3, .reversal = AIS_SWAP, .marginal_bins = 5, .depth = -1},
    {.map = AIS_REALNVP, .dim = 3, .reversal = AIS_SWAP, .layers = 3, .depth = -1, .pivot = 1},
    {.map = AIS_REALNVP, .dim = 4, .reversal = AIS_SWAP, .layers = 3, .depth = -1, .pivot = 2},
    {.map = AIS_REALNVP, .dim = 4, .reversal = AIS_SWAP, .layers = 3, .depth = -1, .neck = 7},
    {.map = AIS_SPLINE, .dim = 1, .reversal = AIS_SWAP, .bins = 9},
    {.map = AIS_SPLINE, .dim = 2, .reversal = AIS_SWAP, .bins = 24, .activation = AIS_TANH},
    {.map = AIS_SPLINE, .dim = 3, .reversal = AIS_SWAP, .layers = 3, .marginal_bins = 24, .activation = AIS_TANH},
    {.map = AIS_SPLINE,
     .dim = 4,
     .reversal = AIS_SWAP,
     .layers = 3,
     .bins = 5,
     .hidden = 8,
     .pivot = 1,
     .activation = AIS_TANH},
};
enum { SHAPES = sizeof flow_shapes / sizeof *flow_shapes };

static void flows_come_back(void **state) {
    (void)state;
    enum { LANES = 64, BLOCKS = 200 };
    const long wanted = states_wanted() / LANES + 1, blocks = wanted < BLOCKS ? wanted : BLOCKS;
    for (int s = 0; s < SHAPES; s++) {
        ais_learned *learned = make(flow_shapes[s], 11, 0.5);
        ais_arena arena = {0};
        ais_proposal proposal;
        assert_true(ais_proposal_new(learned, LANES, &arena, &proposal));
        size_t rows = (size_t)learned->shape.dim * LANES;
        double worst = 0;
        for (uint64_t b = 0; b < (uint64_t)blocks; b++) {
            for (size_t i = 0; i < rows; i++) {
                proposal.u[i] = odd(12, b * 4 * rows + i, -3.5, 3.5);
                proposal.v[i] = odd(13, b * 4 * rows + i, -3.5, 3.5);
            }
            ais_propose_flow(learned, &proposal);
            for (size_t c = 0; c < LANES; c++) worst = fmax(worst, proposal.round_trip[c]);
        }
        print_message("flow %d: largest round trip %.2g\n", s, worst);
        assert_true(worst < 1e-6);
        ais_arena_free(&arena);
        ais_kernel_free(&learned->kernel);
    }
}

/* log|det| of an n x n matrix by elimination. */
static double log_det(int n, double *a) {
    double sum = 0;
    for (int k = 0; k < n; k++) {
        int pivot = k;
        for (int i = k; i < n; i++)
            if (fabs(a[i * n + k]) > fabs(a[pivot * n + k])) pivot = i;
        for (int j = 0; j < n; j++) {
            double swapped = a[k * n + j];
            a[k * n + j] = a[pivot * n + j];
            a[pivot * n + j] = swapped;
        }
        sum += log(fabs(a[k * n + k]));
        for (int i = k + 1; i < n; i++)
            for (int j = n - 1; j >= k; j--) a[i * n + j] -= a[i * n + k] / a[k * n + k] * a[k * n + j];
    }
    return sum;
}

/* log|det| of M's Jacobian at a point by differences, and as M claims it. A conditioner rounds what it sees to float,
 * so that a difference is taken over a step that is large against that rounding, and extrapolated. */
static void jacobian(const ais_learned *learned, uint64_t seed, double *measured, double *claimed) {
    enum { MOST = 8, MOVES = 4, POINTS = 1 + MOVES * MOST };
    const double moves[MOVES] = {8e-3, -8e-3, 4e-3, -4e-3};
    ais_context context = {0};
    double z[MOST * POINTS], image[MOST * POINTS], det[POINTS], slope[2][MOST * MOST];
    int n = 2 * learned->shape.dim, points = 1 + MOVES * n; /* the point, then MOVES along each coordinate */
    assert_true(n <= MOST);
    for (int i = 0; i < n; i++)
        for (int p = 0; p < points; p++)
            z[i * points + p] =
                odd(seed, (uint64_t)i, -2.5, 2.5) + (p && (p - 1) / MOVES == i ? moves[(p - 1) % MOVES] : 0);
    assert_ok(context, ais_kernel_involution(&context, &learned->kernel, (size_t)points, z, image, det));
    for (int s = 0; s < 2; s++)
        for (int i = 0; i < n; i++)
            for (int j = 0; j < n; j++) {
                const double *side = image + i * points + 1 + j * MOVES + 2 * s;
                slope[s][i * n + j] = (side[0] - side[1]) / (2 * moves[2 * s]);
            }
    for (int i = 0; i < n * n; i++) slope[0][i] = (4 * slope[1][i] - slope[0][i]) / 3;
    *measured = log_det(n, slope[0]);
    *claimed = det[0];
}

/* Splines have knots, where the second derivative jumps and differences are poor: most points must
 * agree closely, as they do nowhere when the claim is wrong. */
static void jacobians(void **state) {
    (void)state;
    enum { POINTS = 200 };
    for (int s = 0; s < SHAPES; s++) {
        ais_learned *learned = make(flow_shapes[s], 17, 0.25);
        int right = 0, right_when_broken = 0;
        for (uint64_t p = 0; p < POINTS; p++) {
            double measured, claimed;
            jacobian(learned, 100 + p, &measured, &claimed);
            right += fabs(measured - claimed) < 2e-3;
            right_when_broken += fabs(measured) < 2e-3;
        }
        print_message("flow %d: %d of %d points agree (%d when the determinant is left out)\n", s, right, POINTS,
                      right_when_broken);
        assert_true(right >= POINTS * 9 / 10);
        assert_true(right_when_broken <= POINTS / 4);
        ais_kernel_free(&learned->kernel);
    }
}

/* Weights of zero make a spline the identity: T = id, so that M swaps or flips. */
static void zero_weights(void **state) {
    (void)state;
    ais_context context = {0};
    ais_learned *learned = make((ais_shape){.map = AIS_SPLINE, .dim = 2, .reversal = AIS_SWAP}, 1, 0);
    const double z[4] = {2.385, -1.25, 0.5, 3.75};
    double image[4], det;
    assert_ok(context, ais_kernel_involution(&context, &learned->kernel, 1, z, image, &det));
    for (int i = 0; i < 4; i++) assert_near(image[i], z[(i + 2) % 4], 1e-6);
    assert_near(det, 0, 1e-6);
    ais_kernel_free(&learned->kernel);
}

/* The whitening alone: x' = m + A v and v' = A^-1 (x - m), which comes back to rounding; |det M'| = 1. */
static void affine(void **state) {
    (void)state;
    ais_context context = {0};
    ais_kernel *kernel;
    const ais_shape shape = {.map = AIS_AFFINE, .dim = 2, .reversal = AIS_SWAP};
    assert_ok(context, ais_kernel_learned(&context, &shape, 1, &kernel));
    const double mean[2] = {0.3, -1.2}, factor[4] = {1.5, 0.25, -0.5, 0.75}, z[4] = {2.385, -1.25, 0.5, 3.75};
    assert_ok(context, ais_kernel_whiten(&context, kernel, mean, factor));
    double image[4], back[4], det = 1;
    size_t weights = 1;
    assert_ok(context, ais_kernel_involution(&context, kernel, 1, z, image, &det));
    assert_ok(context, ais_kernel_involution(&context, kernel, 1, image, back, NULL));
    for (int i = 0; i < 2; i++) {
        assert_near(image[i], mean[i] + factor[2 * i] * z[2] + factor[2 * i + 1] * z[3], 1e-14);
        assert_near(mean[i] + factor[2 * i] * image[2] + factor[2 * i + 1] * image[3], z[i], 1e-14);
    }
    for (int i = 0; i < 4; i++) assert_near(back[i], z[i], 1e-14);
    assert_true(det == 0);
    assert_true(ais_kernel_weights(kernel, &weights) != NULL && weights == 0);
    assert_string_equal(ais_kernel_name(kernel), "affine");
    ais_kernel_free(kernel);
}

/* R_a of any angle comes back, keeps volume and the length of (z, v), and is swap at 90 degrees, to the bit. */
static void reflections(void **state) {
    (void)state;
    const ais_shape map[] = {{.map = AIS_AFFINE, .dim = 2, .reversal = AIS_SWAP},
                             {.map = AIS_REALNVP, .dim = 2, .reversal = AIS_SWAP, .activation = AIS_TANH},
                             {.map = AIS_SPLINE, .dim = 2, .reversal = AIS_SWAP, .activation = AIS_TANH}};
    const double degrees[] = {3, 35, 90, 120, 180};
    ais_context context = {0};
    for (int m = 0; m < 3; m++)
        for (int a = 0; a < 5; a++)
            for (uint64_t p = 0; p < 50; p++) {
                ais_learned *learned = make(map[m], 11, 0.2);
                double z[4], image[4], back[4], swapped[4], det, back_det;
                for (int i = 0; i < 4; i++) z[i] = odd(p, (uint64_t)i, -2, 2);
                assert_ok(context, ais_kernel_involution(&context, &learned->kernel, 1, z, swapped, NULL));
                assert_ok(context, ais_kernel_set_angles(&context, &learned->kernel, 1, &degrees[a]));
                assert_ok(context, ais_kernel_involution(&context, &learned->kernel, 1, z, image, &det));
                assert_ok(context, ais_kernel_involution(&context, &learned->kernel, 1, image, back, &back_det));
                for (int i = 0; i < 4; i++) assert_near(back[i], z[i], 1e-6);
                assert_near(det, -back_det, 1e-5);
                if (degrees[a] == 90) assert_memory_equal(image, swapped, sizeof image);
                if (map[m].map == AIS_AFFINE) { /* T is the identity here */
                    double before = 0, after = 0;
                    for (int i = 0; i < 4; i++) before += z[i] * z[i], after += image[i] * image[i];
                    assert_near(after, before, 1e-13);
                }
                ais_kernel_free(&learned->kernel);
            }
}

static void wrong_angles(void **state) {
    (void)state;
    ais_context context = {0};
    int count = -1;
    const double good[2] = {15, 180}, zero = 0, many[AIS_MOST_ANGLES + 1] = {1}, none = NAN;
    ais_learned *learned = make((ais_shape){.map = AIS_AFFINE, .dim = 2, .reversal = AIS_SWAP}, 1, 0);
    ais_kernel *kernel = &learned->kernel;
    assert_null(ais_kernel_angles(kernel, &count));
    assert_int_equal(ais_kernel_set_angles(&context, kernel, 1, &zero), AIS_BAD_ARGUMENT);
    assert_non_null(strstr(context.message, "angle 1 is 0 degrees"));
    assert_int_equal(ais_kernel_set_angles(&context, kernel, 1, &none), AIS_BAD_ARGUMENT);
    assert_int_equal(ais_kernel_set_angles(&context, kernel, AIS_MOST_ANGLES + 1, many), AIS_BAD_ARGUMENT);
    assert_int_equal(ais_kernel_set_angles(&context, kernel, -1, many), AIS_BAD_ARGUMENT);
    assert_ok(context, ais_kernel_set_angles(&context, kernel, 2, good));
    assert_memory_equal(ais_kernel_angles(kernel, &count), good, sizeof good);
    assert_int_equal(count, 2);
    assert_ok(context, ais_kernel_set_angles(&context, kernel, 0, NULL));
    assert_null(ais_kernel_angles(kernel, &count));
    ais_kernel_free(kernel);
    learned = make((ais_shape){.map = AIS_HENON, .dim = 2}, 1, 0);
    assert_int_equal(ais_kernel_set_angles(&context, &learned->kernel, 2, good), AIS_BAD_ARGUMENT);
    assert_non_null(strstr(context.message, "henon takes no angles"));
    ais_kernel_free(&learned->kernel);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(lattice_is_exact), cmocka_unit_test(unequal_eta_is_caught),
                                       cmocka_unit_test(flows_come_back),  cmocka_unit_test(jacobians),
                                       cmocka_unit_test(zero_weights),     cmocka_unit_test(affine),
                                       cmocka_unit_test(reflections),      cmocka_unit_test(wrong_angles)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
