/* A-NICE-MC from outside: a kernel is saved and loaded, a small training gives a kernel and a record, and wrong values
 * are refused with a sentence. */
#include "support.h"

#include <unistd.h>

#include <aisampler/aisampler.h>

static char path[] = "/tmp/aisampler-anice-XXXXXX";

static double logp(const double *x, void *data) {
    (void)data;
    return -0.5 * (x[0] * x[0] + x[1] * x[1] / 2.385);
}

static double nowhere(const double *x, void *data) {
    (void)data;
    return fabs(x[0]) < 3.5 ? logp(x, data) : NAN;
}

static const ais_target target = {.name = "mine", .dim = 2, .logp = logp};
static const ais_anice_shape shape = {.dim = 2, .velocities = 3, .hidden = 9, .depth = 2};

static void put_bytes(const unsigned char *bytes, size_t count) {
    FILE *file = fopen(path, "wb");
    assert_int_equal(fwrite(bytes, 1, count, file), count);
    fclose(file);
}

static void saved_and_loaded(void **state) {
    (void)state;
    ais_context context = {0};
    ais_kernel *made, *loaded;
    size_t count, other;
    assert_ok(context, ais_kernel_anice(&context, &shape, 3, &made));
    assert_string_equal(ais_kernel_name(made), "anice");
    assert_int_equal(ais_kernel_dim(made), 2);
    assert_ok(context, ais_kernel_save(&context, made, &target, path));
    assert_ok(context, ais_kernel_load(&context, path, &target, &loaded));
    const float *one = ais_kernel_weights(made, &count), *two = ais_kernel_weights(loaded, &other);
    /* a and c: 2 -> 9 -> 3; b: 3 -> 9 -> 9 -> 2 */
    assert_int_equal(count, 2 * (3 * 9 + 10 * 3) + 4 * 9 + 10 * 9 + 10 * 2);
    assert_int_equal(count, other);
    assert_memory_equal(one, two, count * sizeof *one);
    assert_string_equal(ais_kernel_name(loaded), "anice");
    ais_kernel_free(loaded);
    const ais_target larger = {.name = "larger", .dim = 3, .logp = logp};
    assert_int_equal(ais_kernel_load(&context, path, &larger, &loaded), AIS_BAD_ARGUMENT);
    ais_kernel_free(made);
}

/* Every byte that is changed and every end that is missing is noticed. */
static void damaged_files(void **state) {
    (void)state;
    ais_context context = {0};
    ais_kernel *made, *loaded = NULL;
    assert_ok(context, ais_kernel_anice(&context, &shape, 3, &made));
    assert_ok(context, ais_kernel_save(&context, made, NULL, path));
    unsigned char bytes[8192];
    FILE *file = fopen(path, "rb");
    size_t count = fread(bytes, 1, sizeof bytes, file);
    fclose(file);
    assert_true(count > 100 && count < sizeof bytes);
    for (size_t i = 0; i < count; i += 7) {
        bytes[i] ^= 4;
        put_bytes(bytes, count);
        assert_int_equal(ais_kernel_load(&context, path, NULL, &loaded), AIS_BAD_FORMAT);
        bytes[i] ^= 4;
        put_bytes(bytes, i);
        assert_int_equal(ais_kernel_load(&context, path, NULL, &loaded), AIS_BAD_FORMAT);
    }
    ais_kernel_free(made);
}

static ais_status train_small(ais_context *context, const ais_target *of, const volatile sig_atomic_t *stop,
                              ais_kernel **kernel, ais_training **training) {
    const ais_anice_options options = {
        .seed = 4, .shape = &shape, .iterations = 6, .critic = 16, .epoch = 3, .draws = 30, .stop = stop};
    return ais_train_anice(context, of, &options, kernel, training);
}

static void small_training(void **state) {
    (void)state;
    ais_context context = {0};
    ais_kernel *kernel;
    ais_training *training;
    assert_ok(context, train_small(&context, &target, NULL, &kernel, &training));
    assert_int_equal(training->points, 2);
    assert_string_equal(training->point[1].stage, "anice");
    assert_true(training->acceptance > 0 && training->acceptance <= 1);
    assert_true(training->worst_ess > 0 && isnan(training->log_z));
    assert_non_null(strstr(training->sentence, "random walks"));
    for (int c = 0; c < training->count; c++) assert_true(isfinite(logp(training->x + 2 * (size_t)c, NULL)));
    ais_training_free(training);
    ais_kernel_free(kernel);
    const volatile sig_atomic_t stop = 1;
    assert_int_equal(train_small(&context, &target, &stop, &kernel, &training), AIS_STOPPED);
    assert_null(kernel);
    assert_null(training);
}

typedef struct told {
    double worst[2], other[2];
    int count;
} told;

static void keep_judgement(const ais_train_progress *p, void *data) {
    told *to = data;
    if (isnan(p->worst_ess) || to->count == 2) return;
    to->worst[to->count] = p->worst_ess;
    to->other[to->count++] = p->other_ess;
}

/* However kernels are chosen, both numbers are told, and training goes the same way. */
static void both_choices_are_told(void **state) {
    (void)state;
    told by[2] = {0};
    for (int mean = 0; mean < 2; mean++) {
        ais_context context = {0};
        ais_kernel *kernel;
        ais_training *training;
        const ais_anice_options options = {.seed = 4,
                                           .shape = &shape,
                                           .iterations = 6,
                                           .critic = 16,
                                           .epoch = 3,
                                           .draws = 100,
                                           .mean_only = mean,
                                           .progress = keep_judgement,
                                           .progress_data = &by[mean]};
        assert_ok(context, ais_train_anice(&context, &target, &options, &kernel, &training));
        ais_training_free(training);
        ais_kernel_free(kernel);
    }
    assert_int_equal(by[0].count, 2);
    assert_int_equal(by[1].count, 2);
    for (int k = 0; k < 2; k++) {
        assert_true(by[0].worst[k] == by[1].other[k] && by[0].other[k] == by[1].worst[k]);
        assert_true(by[0].worst[k] != by[1].worst[k]);
    }
}

static void bad_density(void **state) {
    (void)state;
    ais_context context = {0};
    ais_kernel *kernel;
    ais_training *training;
    const ais_target broken = {.name = "broken", .dim = 2, .logp = nowhere};
    assert_int_equal(train_small(&context, &broken, NULL, &kernel, &training), AIS_BAD_DENSITY);
    assert_non_null(strstr(context.message, "nan"));
}

static void wrong_values(void **state) {
    (void)state;
    ais_context context = {0};
    ais_kernel *kernel = NULL;
    ais_training *training = NULL;
    const ais_anice_shape wrong_shapes[] = {{0}, {.dim = 2, .hidden = -1}, {.dim = 2, .velocities = 100000}};
    for (size_t i = 0; i < sizeof wrong_shapes / sizeof *wrong_shapes; i++)
        assert_int_equal(ais_kernel_anice(&context, &wrong_shapes[i], 1, &kernel), AIS_BAD_ARGUMENT);
    const ais_anice_shape three = {.dim = 3};
    const ais_anice_options wrong[] = {{.iterations = -1}, {.critic = 30},    {.rate = 3},       {.rate = NAN},
                                       {.discard = 1.5},   {.shape = &three}, {.pair_steps = -2}};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        assert_int_equal(ais_train_anice(&context, &target, &wrong[i], &kernel, &training), AIS_BAD_ARGUMENT);
    assert_null(kernel);
    assert_null(training);
}

/* The lattice ends at 2^30: a chain beyond is refused, not moved. */
static void beyond_the_lattice(void **state) {
    (void)state;
    ais_context context = {0};
    ais_kernel *kernel;
    ais_sink *memory;
    const double start[2] = {3e10, 1};
    const ais_sample_options options = {.chains = 1, .draws = 2, .start = start};
    assert_ok(context, ais_kernel_anice(&context, &shape, 3, &kernel));
    assert_ok(context, ais_sink_memory(&context, &memory));
    assert_int_equal(ais_sample(&context, &target, kernel, &options, &memory, 1, NULL), AIS_BAD_ARGUMENT);
    assert_non_null(strstr(context.message, "3e+10"));
    ais_sink_free(memory);
    ais_kernel_free(kernel);
}

int main(void) {
    int file = mkstemp(path);
    if (file < 0) return 1;
    close(file);
    const struct CMUnitTest tests[] = {cmocka_unit_test(saved_and_loaded),  cmocka_unit_test(damaged_files),
                                       cmocka_unit_test(small_training),    cmocka_unit_test(both_choices_are_told),
                                       cmocka_unit_test(bad_density),       cmocka_unit_test(wrong_values),
                                       cmocka_unit_test(beyond_the_lattice)};
    int failures = cmocka_run_group_tests(tests, NULL, NULL);
    unlink(path);
    return failures;
}
