/* The bodies of the instruction sets against each other: random bits equal, everything else within rounding; and
 * within one set a chain's draws equal to the bit whether it runs alone or among others. */
#include "support.h"

#include <aisampler/target.h>

#include "learned/learned.h"
#include "simd/normal.h"

enum { LANES = 64 };

static ais_learned *make(ais_shape shape, double scale) {
    ais_context context = {0};
    ais_kernel *kernel;
    assert_ok(context, ais_kernel_learned(&context, &shape, 5, &kernel));
    size_t count;
    float *weights = ais_kernel_weights(kernel, &count);
    for (size_t i = 0; i < count; i++) weights[i] = (float)(scale * odd(5, i, -1, 1));
    return (ais_learned *)kernel;
}

/* How many sets this machine has: the first ones of the enumeration. */
static int sets(void) {
    int count = 1;
    ais_isa now = ais_isa_now();
    while (count < AIS_ISA_COUNT && ais_isa_take((ais_isa)count)) count++;
    ais_isa_take(now);
    return count;
}

static double largest(size_t n, const double *a, const double *b) {
    double worst = 0;
    for (size_t i = 0; i < n; i++) {
        double miss = fabs(a[i] - b[i]) / (1 + fabs(a[i]));
        if (!(miss <= worst)) worst = miss;
    }
    return worst;
}

/* The uniform number that the first two normals leave: 34 bits, as ais_unit makes a number of 52. */
static double left_over(const ais_stream *stream) {
    uint32_t bits[4];
    ais_random_bits(stream, 0, bits);
    return ((double)((uint64_t)(bits[0] & 0xfff) << 22 | (bits[2] >> 2 & 0x3fffff)) + 0.5) * 0x1p-34 + 0x1p-53;
}

static void random_numbers(void **state) {
    (void)state;
    double uniform[AIS_ISA_COUNT][LANES], normal[AIS_ISA_COUNT][3 * LANES], test[LANES];
    ais_isa now = ais_isa_now();
    ais_stream stream = {.seed = 0x123456789abcdef, .step = 0x34567890ab, .chain = 0xfffffff0, .purpose = 7};
    int count = sets();
    for (int i = 0; i < count; i++) {
        assert_true(ais_isa_take((ais_isa)i));
        ais_uniforms_lanes(&stream, 3, LANES, uniform[i]);
        ais_numbers_first(&stream, 3, LANES, LANES, normal[i], test);
        for (uint32_t c = 0; c < LANES; c++) { /* the reference: one number at a time */
            ais_stream one = stream;
            one.chain += c;
            assert_true(uniform[i][c] == ais_random_uniform(&one, 3));
            assert_true(test[c] == left_over(&one));
        }
        double steps[3 * AIS_HALF], tests[AIS_HALF], wanted[3];
        ais_stream first = stream;
        first.step &= ~(uint64_t)(AIS_HALF - 1);
        ais_numbers_steps(&first, 3, steps, tests);
        for (uint32_t s = 0; s < AIS_HALF; s++) { /* lanes that are steps */
            ais_stream one = first;
            one.step += s;
            ais_normals(&one, 3, wanted);
            for (int k = 0; k < 3; k++) assert_true(steps[k * AIS_HALF + (int)s] == wanted[k]);
            assert_true(tests[s] == left_over(&one));
        }
        assert_memory_equal(uniform[i], uniform[0], sizeof uniform[0]);
        assert_true(largest(3 * LANES, normal[0], normal[i]) < 1e-14);
    }
    ais_isa_take(now);
    print_message("%d instruction sets, %s in use\n", count, ais_isa_name(now));
}

static const struct {
    ais_shape shape;
    double tolerance;
} shapes[] = {
    {{.map = AIS_HENON, .dim = 1}, 1e-5},
    {{.map = AIS_HENON, .dim = 2}, 1e-5},
    {{.map = AIS_HENON, .dim = 2, .activation = AIS_TANH, .reversal = AIS_SWAP, .hidden = 33}, 1e-5},
    {{.map = AIS_HENON, .dim = 15}, 1e-4},
    {{.map = AIS_REALNVP, .dim = 5, .activation = AIS_TANH, .reversal = AIS_SWAP}, 1e-5},
    {{.map = AIS_SPLINE, .dim = 2, .activation = AIS_TANH, .reversal = AIS_SWAP}, 1e-5},
};
enum { SHAPES = sizeof shapes / sizeof *shapes };

/* M at LANES points. */
static void images(const ais_learned *learned, double *image) {
    ais_context context = {0};
    size_t n = 2 * (size_t)learned->shape.dim * LANES;
    double *z = calloc(n, sizeof *z);
    for (size_t i = 0; i < n; i++) z[i] = odd(8, i, -2, 2);
    assert_ok(context, ais_kernel_involution(&context, &learned->kernel, LANES, z, image, NULL));
    free(z);
}

static void proposals(void **state) {
    (void)state;
    ais_isa now = ais_isa_now();
    int count = sets();
    for (int s = 0; s < SHAPES; s++) {
        ais_learned *learned = make(shapes[s].shape, 0.3);
        size_t n = 2 * (size_t)learned->shape.dim * LANES;
        double *first = calloc(n, sizeof *first), *other = calloc(n, sizeof *other);
        assert_true(ais_isa_take(AIS_BASE));
        images(learned, first);
        for (int i = 1; i < count; i++) {
            assert_true(ais_isa_take((ais_isa)i));
            images(learned, other);
            double miss = largest(n, first, other);
            learned->weights[0] += 0.02F; /* and a map that is another is seen to be */
            images(learned, other);
            learned->weights[0] -= 0.02F;
            double broken = largest(n, first, other);
            print_message("%s, dim %d: %s differs from base by %.2g (%.2g with one weight changed)\n",
                          ais_kernel_name(&learned->kernel), learned->shape.dim, ais_isa_name((ais_isa)i), miss,
                          broken);
            assert_true(miss < shapes[s].tolerance);
            assert_true(broken > shapes[s].tolerance);
        }
        ais_isa_take(now);
        free(first);
        free(other);
        ais_kernel_free(&learned->kernel);
    }
}

static void densities(void **state) {
    (void)state;
    const char *const names[] = {"mog6",   "triangle", "ring",   "ring5",   "heart",
                                 "german", "banana",   "funnel", "gaussian"};
    ais_isa now = ais_isa_now();
    int count = sets();
    for (size_t t = 0; t < sizeof names / sizeof *names; t++) {
        ais_context context = {0};
        ais_target *target;
        assert_ok(context, ais_target_open(&context, names[t], &target));
        size_t n = (size_t)target->dim * LANES;
        double *x = calloc(n, sizeof *x), logp[AIS_ISA_COUNT][LANES];
        for (size_t i = 0; i < n; i++) x[i] = odd(9, i, -4, 4);
        for (int i = 0; i < count; i++) {
            assert_true(ais_isa_take((ais_isa)i));
            target->batch(LANES, x, logp[i], target->data);
            assert_true(largest(LANES, logp[0], logp[i]) < 1e-12);
        }
        ais_isa_take(now);
        free(x);
        ais_target_close(target);
    }
}

/* A mixture has another way for points far from all its components: taken for one point, it changes no other's number,
 * and a point alone gets the same. */
static void far_points_keep_to_themselves(void **state) {
    (void)state;
    static const double odd_ones[] = {60, 1e3, 1e154, 1.2e154, 1e200, NAN};
    ais_context context = {0};
    ais_target *target;
    ais_isa now = ais_isa_now();
    int count = sets();
    assert_ok(context, ais_target_open(&context, "mog6", &target));
    for (int i = 0; i < count; i++) {
        double x[2 * LANES], near[LANES], with[LANES], alone;
        assert_true(ais_isa_take((ais_isa)i));
        for (size_t k = 0; k < 2 * LANES; k++) x[k] = odd(9, k, -8, 8);
        target->batch(LANES, x, near, target->data);
        for (size_t f = 0; f < sizeof odd_ones / sizeof *odd_ones; f++) {
            const double point[] = {odd_ones[f], 0};
            double kept[] = {x[21], x[LANES + 21]};
            x[21] = point[0];
            x[LANES + 21] = point[1];
            target->batch(LANES, x, with, target->data);
            target->batch(1, point, &alone, target->data);
            assert_memory_equal(&with[21], &alone, sizeof alone);
            with[21] = near[21];
            assert_memory_equal(with, near, sizeof near);
            if (f < 2) assert_near(alone, target->logp(point, target->data), 1e-9);
            x[21] = kept[0];
            x[LANES + 21] = kept[1];
        }
    }
    ais_isa_take(now);
    ais_target_close(target);
}

/* 40 steps of a block of chains; x is what the one in lane `which` went through, and how often it moved. */
static int run(const ais_learned *learned, const ais_target *target, uint32_t first, int chains, int which, bool single,
               double *x) {
    ais_context context = {0};
    ais_state *state;
    void *own;
    ais_info info[LANES];
    int moves = 0, dim = target->dim;
    assert_ok(context, ais_state_new(&context, target, 3, first, chains, 0, NULL, &state));
    state->single = single;
    assert_ok(context, learned->kernel.type->init(&context, &learned->kernel, state, &own));
    state->step = 5; /* the numbers of a chain alone are drawn from the last multiple of 8 on */
    for (int t = 0; t < 40; t++, state->step++) {
        uint32_t before = state->version[which];
        assert_ok(context, learned->kernel.type->step(&context, &learned->kernel, state, own, info));
        moves += state->version[which] != before;
        for (int i = 0; i < dim; i++) x[t * (dim + 2) + i] = state->x[i * state->lanes + which];
        x[t * (dim + 2) + dim] = state->logp[which];
        x[t * (dim + 2) + dim + 1] = info[which].accept_stat;
    }
    ais_state_free(state);
    return moves;
}

/* Among few, among many, alone in a block: the same bytes. The only chain of a run has other roundings where a small
 * henon map sums over hidden units in another order. */
static void company_does_not_matter(void **state) {
    (void)state;
    static const ais_shape made[] = {
        {.map = AIS_HENON, .dim = 2},
        {.map = AIS_HENON, .dim = 2, .hidden = 7, .layers = 4},
        {.map = AIS_HENON, .dim = 2, .hidden = 33, .activation = AIS_TANH, .reversal = AIS_SWAP},
        {.map = AIS_HENON, .dim = 1, .hidden = 45, .layers = 1},
        {.map = AIS_HENON, .dim = 1, .activation = AIS_TANH, .layers = 2},
        {.map = AIS_HENON, .dim = 5},
        {.map = AIS_SPLINE, .dim = 2, .reversal = AIS_SWAP, .activation = AIS_TANH},
        {.map = AIS_REALNVP, .dim = 3, .joint = true, .activation = AIS_TANH},
    };
    const int company[] = {1, 2, 3, 4, 9, 17, 64};
    ais_isa now = ais_isa_now();
    int count = sets();
    for (size_t s = 0; s < sizeof made / sizeof *made; s++) {
        ais_context context = {0};
        ais_target *target;
        char name[64];
        snprintf(name, sizeof name, made[s].dim == 2 ? "mog6:sd=2" : "gaussian:dim=%d", made[s].dim);
        assert_ok(context, ais_target_open(&context, name, &target));
        ais_learned *learned = make(made[s], made[s].dim > 2 ? 0.08 : 0.3);
        for (int i = 0; i < count; i++) {
            double wanted[40 * 8], x[40 * 8], other[40 * 8];
            size_t bytes = sizeof(double) * 40 * (size_t)(target->dim + 2);
            assert_true(ais_isa_take((ais_isa)i));
            int moves = run(learned, target, 0, LANES, 0, false, wanted);
            if (i == 0) print_message("shape %zu: %d of 40 steps moved\n", s, moves);
            assert_true(moves > 0);
            for (size_t k = 0; k < sizeof company / sizeof *company; k++) {
                run(learned, target, 0, company[k], 0, false, x);
                if (memcmp(x, wanted, bytes) != 0)
                    fail_msg("shape %zu, %s: one of %d chains differs from one of 64", s, ais_isa_name((ais_isa)i),
                             company[k]);
            }
            run(learned, target, 0, LANES, 1, false, other); /* another chain is not the same */
            assert_memory_not_equal(other, wanted, bytes);
            run(learned, target, 1, 1, 0, false, x);
            assert_memory_equal(x, other, bytes);
            run(learned, target, 0, 1, 0, true, x);
            if (ais_henon_is_small(&learned->henon))
                assert_true(largest((size_t)target->dim + 2, x, wanted) < 1e-4); /* of the first step */
            else
                assert_memory_equal(x, wanted, bytes);
        }
        ais_isa_take(now);
        ais_kernel_free(&learned->kernel);
        ais_target_close(target);
    }
}

/* M(M(z)) = z in every set, by both bodies. */
static void every_set_is_exact(void **state) {
    (void)state;
    ais_isa now = ais_isa_now();
    int count = sets();
    for (int s = 0; s < 4; s++)
        for (int i = 0; i < count; i++)
            for (int single = 0; single < 2; single++) {
                ais_learned *learned = make(shapes[s].shape, 0.7);
                ais_arena arena = {0};
                ais_proposal proposal;
                size_t rows = (size_t)learned->shape.dim * LANES;
                assert_true(ais_proposal_new(learned, LANES, &arena, &proposal));
                proposal.single = single;
                assert_true(ais_isa_take((ais_isa)i));
                for (size_t k = 0; k < rows; k++) {
                    proposal.u[k] = floor(odd(4, k, -3, 3) * 0x1p32) * 0x1p-32;
                    proposal.v[k] = floor(odd(5, k, -3, 3) * 0x1p32) * 0x1p-32;
                }
                double *u = AIS_TAKE(&arena, double, rows), *v = AIS_TAKE(&arena, double, rows);
                memcpy(u, proposal.u, rows * sizeof *u);
                memcpy(v, proposal.v, rows * sizeof *v);
                learned->propose(learned, &proposal);
                assert_true(proposal.z[0] != u[0]);
                memcpy(proposal.u, proposal.z, rows * sizeof *u);
                memcpy(proposal.v, proposal.z + rows, rows * sizeof *v);
                learned->propose(learned, &proposal);
                for (size_t k = 0; k < rows; k++)
                    if (k % LANES == 0 || !single) assert_true(proposal.z[k] == u[k] && proposal.z[rows + k] == v[k]);
                ais_arena_free(&arena);
                ais_kernel_free(&learned->kernel);
            }
    ais_isa_take(now);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(random_numbers),
                                       cmocka_unit_test(proposals),
                                       cmocka_unit_test(densities),
                                       cmocka_unit_test(far_points_keep_to_themselves),
                                       cmocka_unit_test(company_does_not_matter),
                                       cmocka_unit_test(every_set_is_exact)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
