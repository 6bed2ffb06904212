/* The discriminator that a training hands out: d(Mz) = -d(z) through the public functions, on trained weights, with and
 * without whitening; blocks of any size; and trainings that have none. */
#include "support.h"

#include <string.h>

#include <aisampler/aisampler.h>

#include "brief.h"

enum { N = 67, MOST_DIM = 14 }; /* not a multiple of anything that is computed together */

static void train(const char *name, long steps, bool paper, ais_kernel **kernel, ais_training **training) {
    ais_context context = {0};
    ais_target *target;
    assert_ok(context, ais_target_open(&context, name, &target));
    const ais_train_options options = {
        .seed = 3, .threads = 1, .paper = paper, .steps = steps, .population = paper ? (brief() ? 128 : 512) : 0};
    assert_ok(context, ais_train(&context, target, &options, kernel, training));
    ais_target_close(target);
}

/* The last point alone must say what it says among the others. */
static void in_blocks_of_any_size(const ais_training *training, const double *z, const double *image,
                                  const double *value) {
    double last[2 * MOST_DIM], last_image[2 * MOST_DIM], alone = 0;
    ais_context context = {0};
    for (int i = 0; i < 2 * training->dim; i++) {
        last[i] = z[i * N + N - 1];
        last_image[i] = image[i * N + N - 1];
    }
    assert_ok(context, ais_discriminator_evaluate(&context, training->discriminator, 1, last, last_image, &alone));
    assert_true(alone == value[N - 1]);
}

static void antisymmetric(const char *name, long steps) {
    ais_kernel *kernel;
    ais_training *training;
    ais_context context = {0};
    double z[2 * MOST_DIM * N], image[2 * MOST_DIM * N], back[2 * MOST_DIM * N], there[N], again[N], largest = 0;
    train(name, steps, true, &kernel, &training);
    assert_non_null(training->discriminator);
    size_t rows = (size_t)training->dim * N;
    assert_true(training->dim <= MOST_DIM && training->count >= N);
    for (size_t i = 0; i < rows; i++) {
        z[i] = training->x[i % N * (size_t)training->dim + i / N];
        z[rows + i] = odd(5, i, -2, 2);
    }
    /* M rounds z to its lattice first: from the image's image on, M is an involution to the last bit. */
    assert_ok(context, ais_kernel_involution(&context, kernel, N, z, image, NULL));
    assert_ok(context, ais_kernel_involution(&context, kernel, N, image, back, NULL));
    for (size_t i = 0; i < 2 * rows; i++) assert_true(fabs(back[i] - z[i]) < 1e-6 * (1 + fabs(z[i])));
    assert_ok(context, ais_discriminator_evaluate(&context, training->discriminator, N, back, image, there));
    assert_ok(context, ais_discriminator_evaluate(&context, training->discriminator, N, image, back, again));
    for (int k = 0; k < N; k++) {
        assert_true(isfinite(there[k]) && again[k] == -there[k]);
        largest = fmax(largest, fabs(there[k]));
    }
    assert_true(largest > 1e-3); /* 0 everywhere would pass */
    in_blocks_of_any_size(training, back, image, there);
    ais_kernel_free(kernel);
    ais_training_free(training);
}

static long usual_steps(void) { return brief() ? 12 : 60; }

static void on_a_plane(void **state) {
    (void)state;
    antisymmetric("mog6", usual_steps());
}

static void whitened(void **state) {
    (void)state;
    antisymmetric("heart", 10);
}

/* What has been learned is not what was drawn at random. */
static void is_trained(void **state) {
    (void)state;
    const double z[4] = {0, 5, 0, 0}, image[4] = {0.3, -4.1, 0.2, 0.1};
    double value[2];
    for (int k = 0; k < 2; k++) {
        ais_kernel *kernel;
        ais_training *training;
        ais_context context = {0};
        train("mog6", k ? usual_steps() : 1, true, &kernel, &training);
        assert_ok(context, ais_discriminator_evaluate(&context, training->discriminator, 1, z, image, &value[k]));
        ais_kernel_free(kernel);
        ais_training_free(training);
    }
    assert_true(fabs(value[0] - value[1]) > 1e-3);
}

static void none_without_an_adversary(void **state) {
    (void)state;
    ais_kernel *kernel;
    ais_training *training;
    ais_context context = {0};
    const double z[4] = {0};
    double value = 7;
    train("mog2", 20, false, &kernel, &training);
    assert_null(training->discriminator);
    assert_int_equal(ais_discriminator_evaluate(&context, training->discriminator, 1, z, z, &value), AIS_BAD_ARGUMENT);
    assert_non_null(strstr(context.message, "no discriminator"));
    assert_true(value == 7);
    ais_kernel_free(kernel);
    ais_training_free(training);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(on_a_plane), cmocka_unit_test(whitened),
                                       cmocka_unit_test(is_trained), cmocka_unit_test(none_without_an_adversary)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
