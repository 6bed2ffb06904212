/* A-NICE-MC's kernel: f^-1 undoes f bit for bit; exact draws stay exact under it, before and after training, and
 * kernels broken on purpose are caught; training learns, and gives the same kernel for any number of threads. */
#include "invariance.h"

#include "base/fixed.h"
#include "learned/nice.h"

/* ---- the map ------------------------------------------------------------------------------------- */

static ais_nice_kernel *make(int dim, int velocities, int depth, float scale) {
    ais_context context = {0};
    ais_kernel *kernel;
    ais_anice_shape shape = {.dim = dim, .velocities = velocities, .hidden = 24, .depth = depth};
    assert_ok(context, ais_kernel_anice(&context, &shape, 5, &kernel));
    size_t count;
    float *weights = ais_kernel_weights(kernel, &count);
    for (size_t i = 0; i < count; i++) weights[i] = scale * (float)odd(7, i, -1, 1);
    return (ais_nice_kernel *)kernel;
}

/* Odd lattice points, some of them at the ends of the integers, where sums wrap. */
static int64_t lattice_point(uint64_t i) {
    ais_stream stream = {.seed = 3, .step = i, .purpose = AIS_FOR_USER};
    uint32_t bits[4];
    ais_random_bits(&stream, 0, bits);
    int64_t wild = (int64_t)((uint64_t)bits[1] << 32 | bits[0]);
    return bits[2] % 4 == 0 ? wild : ais_fixed_from(odd(4, i, -6, 6));
}

static void backward_undoes_forward(void **state) {
    (void)state;
    enum { LANES = 64, ROUNDS = 40 };
    const int shapes[][3] = {{1, 1, 1}, {2, 2, 1}, {3, 7, 2}, {14, 28, 2}, {5, 2, 3}};
    long points = 0;
    for (size_t k = 0; k < sizeof shapes / sizeof *shapes; k++)
        for (int round = 0; round < ROUNDS; round++) {
            ais_nice_kernel *kernel = make(shapes[k][0], shapes[k][1], shapes[k][2], round % 2 ? 0.5F : 30);
            ais_arena arena = {0};
            ais_nice_work work;
            size_t rows = (size_t)shapes[k][0] * LANES, others = (size_t)shapes[k][1] * LANES;
            int64_t *x = AIS_TAKE(&arena, int64_t, rows), *v = AIS_TAKE(&arena, int64_t, others);
            bool forward[LANES];
            assert_true(ais_nice_work_new(&kernel->nice, LANES, &arena, &work));
            for (size_t i = 0; i < rows; i++) x[i] = lattice_point((uint64_t)round * rows + i);
            for (size_t i = 0; i < others; i++) v[i] = lattice_point(1000000 + (uint64_t)round * others + i);
            for (size_t c = 0; c < LANES; c++) forward[c] = odd(9, c + (size_t)round * LANES, 0, 1) < 0.5;
            kernel->map(&kernel->nice, kernel->weights, &work, forward, x, v);
            size_t moved = 0;
            for (size_t i = 0; i < rows; i++) moved += x[i] != lattice_point((uint64_t)round * rows + i);
            assert_true(moved > rows / 2);
            for (size_t c = 0; c < LANES; c++) forward[c] = !forward[c];
            kernel->map(&kernel->nice, kernel->weights, &work, forward, x, v);
            for (size_t i = 0; i < rows; i++) assert_true(x[i] == lattice_point((uint64_t)round * rows + i));
            for (size_t i = 0; i < others; i++)
                assert_true(v[i] == lattice_point(1000000 + (uint64_t)round * others + i));
            points += LANES;
            ais_arena_free(&arena);
            ais_kernel_free(&kernel->kernel);
        }
    print_message("%ld lattice points: there and back bit for bit\n", points);
}

/* ---- invariance ---------------------------------------------------------------------------------- */

static const float scale = 0.25F;

static double deviation(const char *name, const char *what, const ais_kernel *kernel, double *acceptance) {
    ais_context context = {0};
    ais_target *target;
    assert_ok(context, ais_target_open(&context, name, &target));
    double z = worst_z(target, kernel, 0, acceptance);
    print_message("%-22s %-22s acceptance %.3f, largest deviation %.2f standard errors\n", name, what, *acceptance, z);
    ais_target_close(target);
    return z;
}

static void exact_draws_stay_exact(void **state) {
    (void)state;
    for (int velocities = 2; velocities <= 5; velocities += 3)
        for (int t = 0; t < TARGETS; t++) {
            double acceptance;
            ais_nice_kernel *kernel = make(2, velocities, velocities == 2 ? 1 : 2, scale);
            double z = deviation(targets[t], velocities == 2 ? "anice" : "anice, five velocities", &kernel->kernel,
                                 &acceptance);
            assert_true(z < 4);
            assert_true(acceptance > 0.02); /* a kernel that never moves would prove nothing */
            ais_kernel_free(&kernel->kernel);
        }
}

/* The direction is not drawn: f at every step, which nothing leads back from. */
static void always_forward(const ais_nice *nice, const ais_real *weights, ais_nice_work *work, const bool *forward,
                           int64_t *x, int64_t *v) {
    bool all[64];
    (void)forward;
    for (int c = 0; c < 64; c++) all[c] = true;
    ais_nice_lattice(nice, weights, work, all, x, v);
}

/* v' = v: the test leaves out what the velocities became. */
static void forgotten_velocities(const ais_nice *nice, const ais_real *weights, ais_nice_work *work,
                                 const bool *forward, int64_t *x, int64_t *v) {
    _Alignas(64) int64_t before[64 * 8];
    size_t count = (size_t)nice->velocities * work->lanes;
    memcpy(before, v, count * sizeof *v);
    ais_nice_lattice(nice, weights, work, forward, x, v);
    memcpy(v, before, count * sizeof *v);
}

/* The backward direction takes a for c and c for a. */
static void inverse_in_wrong_order(const ais_nice *nice, const ais_real *weights, ais_nice_work *work,
                                   const bool *forward, int64_t *x, int64_t *v) {
    ais_nice other = *nice;
    bool all[64] = {0};
    _Alignas(64) int64_t at[64 * 2];
    _Alignas(64) int64_t velocities[64 * 8];
    size_t lanes = work->lanes, rows = (size_t)nice->dim * lanes, others = (size_t)nice->velocities * lanes;
    other.offset[0] = nice->offset[2];
    other.offset[2] = nice->offset[0];
    memcpy(at, x, rows * sizeof *x);
    memcpy(velocities, v, others * sizeof *v);
    ais_nice_lattice(nice, weights, work, forward, x, v);
    ais_nice_lattice(&other, weights, work, all, at, velocities);
    for (size_t i = 0; i < rows; i++)
        if (!forward[i % lanes]) x[i] = at[i];
    for (size_t i = 0; i < others; i++)
        if (!forward[i % lanes]) v[i] = velocities[i];
}

/* The smallest of these deviations is 2.3 standard errors of 2,000 draws and 7 of 20,000: each is caught on every
 * target, or with fewer draws on one at least. */
static void broken_kernels_are_caught(void **state) {
    (void)state;
    enum { ENOUGH = 20000 };
    const struct {
        const char *name;
        void (*map)(const ais_nice *, const ais_real *, ais_nice_work *, const bool *, int64_t *, int64_t *);
    } broken[] = {{"always forward", always_forward},
                  {"forgotten velocities", forgotten_velocities},
                  {"inverse in wrong order", inverse_in_wrong_order}};
    for (size_t b = 0; b < sizeof broken / sizeof *broken; b++) {
        int caught = 0;
        for (int t = 0; t < TARGETS; t++) {
            double acceptance;
            ais_nice_kernel *kernel = make(2, 2, 1, scale);
            kernel->map = broken[b].map;
            double z = deviation(targets[t], broken[b].name, &kernel->kernel, &acceptance);
            if (z > 4) caught++;
            if (z <= 4 && draws_wanted() >= ENOUGH) fail_msg("%s was not caught on %s", broken[b].name, targets[t]);
            ais_kernel_free(&kernel->kernel);
        }
        assert_true(caught > 0);
    }
}

/* ---- training ------------------------------------------------------------------------------------ */

static void learn(const char *name, long iterations, int threads, ais_kernel **kernel, ais_training **training) {
    ais_context context = {0};
    ais_target *target;
    ais_anice_shape shape = {.dim = 2, .hidden = 64};
    ais_anice_options options = {.seed = 2,
                                 .threads = threads,
                                 .shape = &shape,
                                 .iterations = iterations,
                                 .critic = 64,
                                 .epoch = 100,
                                 .rate = 1e-3,
                                 .draws = 500};
    assert_ok(context, ais_target_open(&context, name, &target));
    assert_ok(context, ais_train_anice(&context, target, &options, kernel, training));
    ais_target_close(target);
}

static void training_learns_and_stays_exact(void **state) {
    (void)state;
    ais_kernel *kernel;
    ais_training *training;
    double acceptance;
    learn("ring", 500, 1, &kernel, &training);
    for (int i = 0; i < training->points; i++)
        print_message("critic %.3f, kernel %.3f, acceptance %.3f, worst ESS %.4f\n",
                      training->point[i].discriminator_loss, training->point[i].loss, training->point[i].acceptance,
                      training->point[i].worst_ess);
    assert_int_equal(training->points, 5);
    assert_true(training->worst_ess > 3 * training->point[0].worst_ess);
    assert_true(fabs(training->point[4].discriminator_loss) < fabs(training->point[0].discriminator_loss));
    assert_true(deviation("ring", "trained", kernel, &acceptance) < 4);
    ais_training_free(training);
    ais_kernel_free(kernel);
}

static void threads_change_nothing(void **state) {
    (void)state;
    ais_kernel *kernel[2];
    ais_training *training[2];
    for (int k = 0; k < 2; k++) learn("mog2", 20, 1 + 2 * k, &kernel[k], &training[k]);
    size_t count;
    const float *one = ais_kernel_weights(kernel[0], &count), *other = ais_kernel_weights(kernel[1], &count);
    assert_memory_equal(one, other, count * sizeof *one);
    for (int k = 0; k < 2; k++) {
        ais_training_free(training[k]);
        ais_kernel_free(kernel[k]);
    }
}

int main(void) {
    setenv("AIS_INVARIANCE_DRAWS", "20000", 0); /* a fifth of law_invariance: these networks are larger */
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(backward_undoes_forward),         cmocka_unit_test(exact_draws_stay_exact),
        cmocka_unit_test(broken_kernels_are_caught),       cmocka_unit_test(threads_change_nothing),
        cmocka_unit_test(training_learns_and_stays_exact),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
