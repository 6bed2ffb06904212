/* Learning from draws alone: the accept test is the discriminator's, what is drawn is near the truth, a wrong
 * discriminator is caught, and what cannot be learned from is refused. */
#include "support.h"

#include <unistd.h>

#include <aisampler/aisampler.h>

#include "learned/learned.h"

static char path[] = "/tmp/aisampler-draws-XXXXXX";
static char spec[64];

static void write_exact(const char *name, int count) {
    ais_context context = {0};
    ais_target *truth;
    double x[2];
    assert_ok(context, ais_target_open(&context, name, &truth));
    FILE *file = fopen(path, "w");
    fprintf(file, "east,north\n");
    for (int k = 0; k < count; k++) {
        truth->reference->draw(7, (uint64_t)k, x, truth->data);
        fprintf(file, "%.17g,%.17g\n", x[0], x[1]);
    }
    fclose(file);
    ais_target_close(truth);
}

static ais_draws *sample(const ais_target *data, const ais_kernel *kernel, int chains, int draws) {
    ais_context context = {0};
    ais_sink *sink;
    assert_ok(context, ais_sink_memory(&context, &sink));
    ais_sample_options options = {.seed = 3, .chains = chains, .draws = draws, .warmup = 50};
    assert_ok(context, ais_sample(&context, data, kernel, &options, &sink, 1, NULL));
    ais_draws *taken = ais_sink_memory_take(sink);
    ais_sink_free(sink);
    return taken;
}

/* T the identity and D(x) = 2 tanh(1.5 x - 0.3): the chains must draw from N(0, 1) e^D, whatever the data were. */
static void discriminator_is_the_test(void **state) {
    (void)state;
    ais_context context = {0};
    enum { CHAINS = 64, DRAWS = 4000 };
    double start = 0.1, mean = 0, square = 0, mass = 0;
    ais_draws one = {.dim = 1, .chains = 1, .draws = 1, .value = &start};
    ais_target *gaussian;
    assert_ok(context, ais_target_open(&context, "gaussian:dim=1", &gaussian));
    ais_target data = {.name = "data", .dim = 1, .logp = gaussian->logp, .data = gaussian->data, .draws = &one};
    ais_kernel *kernel;
    ais_shape shape = {.map = AIS_REALNVP, .reversal = AIS_SWAP, .dim = 1};
    assert_ok(context, ais_kernel_learned(&context, &shape, 1, &kernel));
    size_t count;
    float *weights = ais_kernel_weights(kernel, &count);
    memset(weights, 0, count * sizeof *weights);
    assert_ok(context, ais_learned_add_ratio(&context, kernel, 1, 1, 0));
    memcpy(((ais_learned *)kernel)->ratio.weights, (float[]){1.5F, -0.3F, 2, 0.7F}, 4 * sizeof(float));
    for (double x = -9; x < 9; x += 1e-3) {
        double density = exp(-0.5 * x * x + 2 * tanh(1.5 * x - 0.3));
        mass += density;
        mean += density * x;
        square += density * x * x;
    }
    mean /= mass;
    square /= mass;
    ais_draws *draws = sample(&data, kernel, CHAINS, DRAWS);
    double error = ais_mcse_mean(draws->value, CHAINS, DRAWS), sum = 0;
    assert_near(ais_mean(draws->value, (size_t)CHAINS * DRAWS), mean, 5 * error);
    assert_true(mean > 50 * error); /* without the discriminator it would be 0 */
    for (int k = 0; k < CHAINS * DRAWS; k++) sum += draws->value[k] * draws->value[k];
    assert_near(sum / (CHAINS * DRAWS), square, 0.02);
    ais_draws_free(draws);
    ais_kernel_free(kernel);
    ais_target_close(gaussian);
}

typedef struct distance {
    double weight, variation;
} distance;

static distance from_truth(const ais_target *data, const ais_kernel *kernel, const char *name) {
    ais_context context = {0};
    ais_target *truth;
    ais_diagnosis *diagnosis;
    ais_draws *draws = sample(data, kernel, 32, 500);
    assert_ok(context, ais_target_open(&context, name, &truth));
    assert_ok(context, ais_diagnose(&context, draws, truth, &diagnosis));
    distance result = {.variation = diagnosis->total_variation};
    for (int k = 0; k < diagnosis->modes; k++)
        result.weight = fmax(result.weight, fabs(diagnosis->mode_share[k] - truth->reference->mode_weight[k]));
    ais_diagnosis_free(diagnosis);
    ais_draws_free(draws);
    ais_target_close(truth);
    return result;
}

static ais_target *open_data(void) {
    ais_context context = {0};
    ais_target *data;
    assert_ok(context, ais_target_open(&context, spec, &data));
    assert_ok(context, ais_target_check(&context, data, 1, NULL));
    return data;
}

static ais_kernel *train_for(const char *objective, const ais_target *data, const ais_shape *shape, int threads,
                             long steps) {
    ais_context context = {0};
    ais_kernel *kernel;
    ais_training *training;
    ais_train_options options = {.seed = 5, .threads = threads, .steps = steps, .shape = shape, .objective = objective};
    assert_ok(context, ais_train(&context, data, &options, &kernel, &training));
    assert_true(training->worst_ess > 0 && training->acceptance > 0 && training->points > 0);
    ais_training_free(training);
    return kernel;
}

static ais_kernel *train(const ais_target *data, const ais_shape *shape, int threads, long steps) {
    return train_for(NULL, data, shape, threads, steps);
}

static void near_the_truth(void **state) {
    (void)state;
    static const char *const names[] = {"mog6", "triangle"};
    const ais_shape small = {
        .map = AIS_SPLINE, .reversal = AIS_SWAP, .dim = 2, .hidden = 32, .bins = 16, .activation = AIS_TANH};
    for (int k = 0; k < 2; k++) {
        write_exact(names[k], 20000);
        ais_target *data = open_data();
        assert_string_equal(data->names[1], "north");
        assert_string_equal(data->reference->source, "the data");
        ais_kernel *kernel = train(data, &small, 0, k == 0 ? 400 : 250);
        distance learned = from_truth(data, kernel, names[k]);
        print_message("%s: weights off by %.4f, total variation %.4f\n", names[k], learned.weight, learned.variation);
        assert_true(learned.weight < 0.03);
        assert_true(learned.variation < 0.12);
        ais_kernel_free(kernel);
        ais_target_close(data);
    }
}

/* A map too stiff for six modes: the discriminator must make up for it, and its opposite must do harm. */
static void discriminator_repairs(void **state) {
    (void)state;
    const ais_shape stiff = {.map = AIS_REALNVP, .reversal = AIS_SWAP, .dim = 2, .activation = AIS_TANH};
    write_exact("mog6", 20000);
    ais_target *data = open_data();
    ais_kernel *kernel = train(data, &stiff, 0, 300);
    ais_ratio *ratio = &((ais_learned *)kernel)->ratio;
    distance learned = from_truth(data, kernel, "mog6");
    ais_real *last = ratio->weights + ratio->count - (size_t)ratio->net.hidden - 1;
    for (int i = 0; i < ratio->net.hidden; i++) last[i] = -last[i];
    distance opposite = from_truth(data, kernel, "mog6");
    memset(ratio->weights, 0, ratio->count * sizeof *ratio->weights);
    distance map = from_truth(data, kernel, "mog6");
    print_message("total variation: map %.4f, learned %.4f, opposite %.4f\n", map.variation, learned.variation,
                  opposite.variation);
    assert_true(learned.variation < 0.7 * map.variation);
    assert_true(opposite.variation > 1.2 * map.variation);
    ais_kernel_free(kernel);
    ais_target_close(data);
}

static void same_on_any_threads(void **state) {
    (void)state;
    static const char *const objective[] = {NULL, "adversarial", "likelihood+adversarial"};
    write_exact("triangle", 1500);
    ais_target *data = open_data();
    for (int k = 0; k < 3; k++) {
        long steps = k ? 10 : 40;
        ais_kernel *a = train_for(objective[k], data, NULL, 1, steps),
                   *b = train_for(objective[k], data, NULL, 3, steps);
        const ais_learned *one = (ais_learned *)a, *three = (ais_learned *)b;
        assert_memory_equal(one->weights, three->weights, one->weight_count * sizeof *one->weights);
        assert_memory_equal(one->ratio.weights, three->ratio.weights, one->ratio.count * sizeof *one->ratio.weights);
        ais_kernel_free(a);
        ais_kernel_free(b);
    }
    ais_target_close(data);
}

static void other_kernels_are_refused(void **state) {
    (void)state;
    ais_context context = {0};
    write_exact("triangle", 1500);
    ais_target *data = open_data(), *density;
    ais_kernel *rwm, *nuts, *learned = train(data, NULL, 0, 20), *cycle;
    ais_sample_options options = {.seed = 1, .chains = 2, .draws = 5};
    assert_ok(context, ais_kernel_rwm(&context, NULL, &rwm));
    assert_ok(context, ais_kernel_nuts(&context, NULL, &nuts));
    assert_ok(context, ais_target_open(&context, "triangle", &density));
    assert_int_equal(ais_sample(&context, data, rwm, &options, NULL, 0, NULL), AIS_BAD_ARGUMENT);
    assert_non_null(strstr(context.message, "set of draws"));
    assert_int_equal(ais_sample(&context, data, nuts, &options, NULL, 0, NULL), AIS_BAD_ARGUMENT);
    assert_non_null(strstr(context.message, "set of draws"));
    assert_int_equal(ais_sample(&context, density, learned, &options, NULL, 0, NULL), AIS_BAD_ARGUMENT);
    assert_non_null(strstr(context.message, "learned from draws"));
    assert_ok(context, ais_kernel_cycle(&context, (ais_kernel *[]){learned, rwm}, 2, &cycle));
    assert_int_equal(ais_sample(&context, data, cycle, &options, NULL, 0, NULL), AIS_BAD_ARGUMENT);
    assert_int_equal(ais_sample(&context, density, cycle, &options, NULL, 0, NULL), AIS_BAD_ARGUMENT);
    ais_kernel_free(cycle);
    ais_kernel_free(nuts);
    ais_target_close(density);
    ais_target_close(data);
}

static void wrong_options_are_refused(void **state) {
    (void)state;
    ais_context context = {0};
    ais_kernel *kernel;
    ais_training *training;
    write_exact("triangle", 1500);
    ais_target *data = open_data();
    const ais_shape henon = {.map = AIS_HENON, .dim = 2}, flat = {.map = AIS_SPLINE, .reversal = AIS_SWAP, .dim = 1};
    const ais_train_options wrong[] = {{.paper = true},
                                       {.ladder = true},
                                       {.rlogr = true},
                                       {.objective = "likelihood+exact"},
                                       {.objective = "adversarial+likelihood"},
                                       {.method = AIS_START_ANNEAL},
                                       {.shape = &henon},
                                       {.shape = &flat},
                                       {.scale = 3},
                                       {.screen = 3},
                                       {.population = 100},
                                       {.seconds = 2}};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        assert_int_equal(ais_train(&context, data, &wrong[i], &kernel, &training), AIS_BAD_ARGUMENT);
        assert_null(kernel);
    }
    ais_target_close(data);
}

static void bad_draws(void **state) {
    (void)state;
    static const struct {
        const char *second; /* how column b is written */
        int rows, odd_row;
        const char *odd, *says;
    } cases[] = {{"%.17g", 999, -1, "", "999 draws"},
                 {"1.25", 1500, -1, "", "column b is 1.25 in all draws"},
                 {"%.0f", 1500, -1, "", "different values"},
                 {"%.17g", 1500, 700, "0.5,nan\n", "b is nan in draw 701"},
                 {"%.17g", 1500, 700, "0.5,inf\n", "b is inf in draw 701"},
                 {"%.17g", 1500, 700, "0.5,1e200\n", "b is 1e+200 in draw 701"},
                 {"%.17g", 1500, 700, "0.5\n", ":702"},
                 {"%.17g", 1500, 700, "0.5,word\n", ":702"},
                 {"%.17g", 0, -1, "", "draws"}};
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        ais_context context = {0};
        ais_target *data = NULL;
        FILE *file = fopen(path, "w");
        fprintf(file, "a,b\n");
        for (int k = 0; k < cases[c].rows; k++) {
            if (k == cases[c].odd_row) fputs(cases[c].odd, file);
            if (k == cases[c].odd_row) continue;
            fprintf(file, "%.17g,", odd(1, (uint64_t)k, -1, 1));
            double b = odd(2, (uint64_t)k, -3, 3);
            if (strcmp(cases[c].second, "1.25") == 0)
                fputs("1.25", file);
            else if (strcmp(cases[c].second, "%.0f") == 0)
                fprintf(file, "%.0f", b);
            else
                fprintf(file, "%.17g", b);
            fputc('\n', file);
        }
        fclose(file);
        assert_true(ais_target_open(&context, spec, &data) != AIS_OK);
        assert_null(data);
        if (!strstr(context.message, cases[c].says)) fail_msg("case %zu says: %s", c, context.message);
    }
    ais_context context = {0};
    ais_target *data = NULL;
    assert_int_equal(ais_target_open(&context, "data:", &data), AIS_BAD_ARGUMENT);
    assert_int_equal(ais_target_open(&context, "data", &data), AIS_BAD_ARGUMENT);
    assert_int_equal(ais_target_open(&context, "data:/nonexistent.csv", &data), AIS_FILE_ERROR);
}

int main(void) {
    int file = mkstemp(path);
    if (file < 0) return 1;
    close(file);
    snprintf(spec, sizeof spec, "data:%s", path);
    const struct CMUnitTest tests[] = {cmocka_unit_test(discriminator_is_the_test),
                                       cmocka_unit_test(near_the_truth),
                                       cmocka_unit_test(discriminator_repairs),
                                       cmocka_unit_test(same_on_any_threads),
                                       cmocka_unit_test(other_kernels_are_refused),
                                       cmocka_unit_test(wrong_options_are_refused),
                                       cmocka_unit_test(bad_draws)};
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    unlink(path);
    return failed;
}
