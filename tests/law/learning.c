/* Learning from nothing but the density: good kernels where they are promised, the same kernel for any number of
 * threads, and a clear sentence where there is nothing to learn. */
#include "support.h"

#include <aisampler/aisampler.h>

#include "brief.h"

typedef struct outcome {
    ais_target *target;
    ais_kernel *kernel;
    ais_training *training;
} outcome;

static outcome train(const char *spec, ais_train_options options) {
    ais_context context = {0};
    outcome out = {0};
    assert_ok(context, ais_target_open(&context, spec, &out.target));
    assert_ok(context, ais_train(&context, out.target, &options, &out.kernel, &out.training));
    print_message("%-16s %.2f s, acceptance %.3f, worst ESS %.3f, log Z off by %+.4f, %s\n", spec,
                  out.training->start_seconds + out.training->train_seconds, out.training->acceptance,
                  out.training->worst_ess, out.training->log_z - out.target->reference->log_z,
                  ais_kernel_name(out.kernel));
    return out;
}

static void forget(outcome *out) {
    ais_training_free(out->training);
    ais_kernel_free(out->kernel);
    ais_target_close(out->target);
}

/* Chains from the population, judged with the truth at hand. */
static ais_diagnosis *judge(const outcome *out, int chains, int draws) {
    ais_context context = {0};
    ais_sink *memory;
    ais_diagnosis *diagnosis;
    ais_sample_options options = {
        .seed = 77, .chains = chains, .warmup = 50, .draws = draws, .start = out->training->x};
    assert_ok(context, ais_sink_memory(&context, &memory));
    assert_ok(context, ais_sample(&context, out->target, out->kernel, &options, &memory, 1, NULL));
    ais_draws *taken = ais_sink_memory_take(memory);
    assert_ok(context, ais_diagnose(&context, taken, out->target, &diagnosis));
    ais_draws_free(taken);
    ais_sink_free(memory);
    return diagnosis;
}

static void many_modes(void **state) {
    (void)state;
    if (brief()) skip(); /* needs the whole training */
    const char *const specs[] = {"mog6", "triangle"};
    for (int t = 0; t < 2; t++) {
        outcome out = train(specs[t], (ais_train_options){.seed = 3, .effective = 200000});
        assert_true(out.training->worst_ess > 0.85 && out.training->trusted);
        assert_near(out.training->log_z, 0, 0.02);
        ais_diagnosis *diagnosis = judge(&out, 200, 1000);
        assert_int_equal(diagnosis->fewest_modes, diagnosis->modes);
        assert_true(diagnosis->worst_ess_song > 880 && diagnosis->worst_ess_error > 700);
        assert_true(diagnosis->worst_rhat < 1.004);
        for (int m = 0; m < diagnosis->modes; m++)
            assert_near(diagnosis->mode_share[m], out.target->reference->mode_weight[m], 0.01);
        ais_diagnosis_free(diagnosis);
        forget(&out);
    }
}

static void a_regression(void **state) {
    (void)state;
    if (brief()) skip(); /* needs the whole training */
    outcome out = train("heart", (ais_train_options){.seed = 3, .effective = 2e6});
    assert_true(out.training->acceptance > 0.95 && out.training->modes == 1);
    assert_near(out.training->log_z, out.target->reference->log_z, 0.01);
    ais_diagnosis *diagnosis = judge(&out, 50, 1000);
    for (int i = 0; i < diagnosis->dim; i++) assert_true(fabs(diagnosis->parameter[i].z_mean) < 4.5);
    assert_true(diagnosis->worst_ess > 880);
    ais_diagnosis_free(diagnosis);
    forget(&out);
}

static void far_apart_in_eight_dimensions(void **state) {
    (void)state;
    if (brief()) skip(); /* needs the whole training */
    outcome out = train("twomodes:dim=8,sd2=0.25", (ais_train_options){.seed = 3, .scale = 10, .screen = 32000});
    assert_near(out.training->log_z, 0, 0.02);
    ais_diagnosis *diagnosis = judge(&out, 200, 1000);
    assert_near(diagnosis->mode_share[0], 0.3, 0.01);
    ais_diagnosis_free(diagnosis);
    forget(&out);
}

static void threads_change_nothing(void **state) {
    (void)state;
    outcome out[2];
    size_t count[2];
    const char *const specs[] = {"mog2", "heart"};
    for (int t = 0; t < (brief() ? 1 : 2); t++) {
        const float *weights[2];
        for (int k = 0; k < 2; k++) {
            out[k] = train(specs[t], (ais_train_options){.seed = 5, .threads = k ? 3 : 1, .steps = 60});
            weights[k] = ais_kernel_weights(out[k].kernel, &count[k]);
        }
        assert_int_equal(count[0], count[1]);
        assert_memory_equal(weights[0], weights[1], count[0] * sizeof(float));
        assert_memory_equal(out[0].training->x, out[1].training->x,
                            (size_t)out[0].training->count * (size_t)out[0].training->dim * sizeof(double));
        forget(&out[0]);
        forget(&out[1]);
    }
}

/* A budget is kept to the last evaluation, and leaves a kernel that draws exactly. */
static void budgets(void **state) {
    (void)state;
    const char *const specs[] = {"heart", "mog6", "banana"};
    for (int t = 0; t < 3; t++)
        for (long most = 2000; most <= 8000; most += 3000) {
            outcome out = train(specs[t], (ais_train_options){.seed = 2, .evaluations = most});
            assert_true(out.training->densities + out.training->gradients <= most);
            forget(&out);
        }
    ais_context context = {0};
    ais_target *target;
    ais_kernel *kernel;
    ais_training *training;
    assert_ok(context, ais_target_open(&context, "heart", &target));
    ais_train_options none = {.seed = 2, .evaluations = 20};
    assert_int_equal(ais_train(&context, target, &none, &kernel, &training), AIS_SPENT);
    assert_non_null(strstr(context.message, "20 evaluations"));
    ais_target_close(target);
}

static void given_shapes(void **state) {
    (void)state;
    const ais_shape henon = {.map = AIS_HENON, .dim = 2, .layers = 6, .hidden = 16, .activation = AIS_TANH};
    const ais_shape realnvp = {.map = AIS_REALNVP, .dim = 2, .layers = 4, .reversal = AIS_SWAP, .activation = AIS_TANH};
    const struct {
        const ais_shape *shape;
        const char *objective;
        bool rlogr;
    } row[] = {{&henon, "likelihood", false},
               {&henon, "likelihood+exact", false},
               {&henon, "adversarial", true},
               {&realnvp, "likelihood+exact", false},
               {&realnvp, "fisher", false}};
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        outcome out = train("ring", (ais_train_options){.seed = 1,
                                                        .shape = row[i].shape,
                                                        .objective = row[i].objective,
                                                        .rlogr = row[i].rlogr,
                                                        .population = row[i].shape == &henon ? 128 : 0,
                                                        .steps = 60});
        assert_int_equal(ais_kernel_shape(out.kernel)->map, row[i].shape->map);
        forget(&out);
    }
}

/* ---- nothing to learn ---------------------------------------------------------------------------- */

static double constant(const double *x, void *data) { return (void)x, (void)data, 1.5; }
static double nowhere(const double *x, void *data) { return (void)x, (void)data, -INFINITY; }
static double pole(const double *x, void *data) {
    (void)data;
    double r = x[0] * x[0] + x[1] * x[1];
    return -1.5 * log(r) - 0.5 * r; /* its integral diverges at 0 */
}
static double broken(const double *x, void *data) { return (void)data, x[0] > 1 ? NAN : -x[0] * x[0]; }
static double far_away(const double *x, void *data) { return (void)data, -0.5 * (x[0] - 100) * (x[0] - 100); }

static void refused(ais_logp *logp, int dim, const char *says) {
    ais_context context = {0};
    ais_kernel *kernel;
    ais_training *training;
    const ais_target target = {.name = "odd", .dim = dim, .logp = logp};
    ais_status status = ais_train(&context, &target, &(ais_train_options){.seed = 1}, &kernel, &training);
    if (status == AIS_OK) fail_msg("a density without a kernel was learned (%s)", says);
    print_message("%s\n", context.message);
    assert_non_null(strstr(context.message, says));
    assert_null(kernel);
    assert_null(training);
}

static void odd_densities(void **state) {
    (void)state;
    refused(constant, 2, "constant");
    refused(nowhere, 3, "zero");
    refused(pole, 2, "pole");
    refused(broken, 1, "nan");
    ais_context context = {0};
    ais_kernel *kernel;
    ais_training *training;
    const ais_target away = {.name = "away", .dim = 1, .logp = far_away};
    assert_ok(context, ais_train(&context, &away, &(ais_train_options){.seed = 1}, &kernel, &training));
    assert_true(training->worst_ess > 0.8);
    assert_near(training->log_z, 0.9189385332046727, 0.01);
    ais_kernel_free(kernel);
    ais_training_free(training);
}

static void bad_options(void **state) {
    (void)state;
    ais_context context = {0};
    ais_target *target;
    ais_kernel *kernel;
    ais_training *training;
    assert_ok(context, ais_target_open(&context, "ring", &target));
    const ais_shape wrong = {.map = AIS_SPLINE, .dim = 3};
    const struct {
        ais_train_options options;
        const char *says;
    } bad[] = {{{.objective = "lik"}, "lik"},
               {{.shape = &wrong}, "dimension 3"},
               {{.method = AIS_START_DRAWS}, "no draws"},
               {{.ladder = true, .steps = 50}, "do not apply to it"},
               {{.ladder = true, .objective = "fisher"}, "do not apply to it"},
               {{.ladder = true, .method = AIS_START_NUTS}, "do not apply to it"},
               {{.ladder = true, .paper = true}, "do not apply to it"},
               {{.threads = -1}, "-1"}};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_int_equal(ais_train(&context, target, &bad[i].options, &kernel, &training), AIS_BAD_ARGUMENT);
        assert_non_null(strstr(context.message, bad[i].says));
        assert_null(kernel);
    }
    ais_target bare = *target;
    bare.grad = NULL;
    ais_train_options fisher = {.objective = "fisher"};
    assert_int_equal(ais_train(&context, &bare, &fisher, &kernel, &training), AIS_BAD_ARGUMENT);
    assert_non_null(strstr(context.message, "gradient"));
    volatile sig_atomic_t stop = 1;
    ais_train_options stopped = {.stop = &stop};
    assert_int_equal(ais_train(&context, target, &stopped, &kernel, &training), AIS_STOPPED);
    ais_kernel_free(kernel);
    ais_training_free(training);
    ais_target_close(target);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(many_modes),
        cmocka_unit_test(a_regression),
        cmocka_unit_test(far_apart_in_eight_dimensions),
        cmocka_unit_test(given_shapes),
        cmocka_unit_test(budgets),
        cmocka_unit_test(threads_change_nothing),
        cmocka_unit_test(odd_densities),
        cmocka_unit_test(bad_options),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
