/* HMC on the regressions: posterior means of x and x^2 within Monte Carlo error of the stored
 * reference, which an independent program computed (bench/reference/regressions.py). */
#include "support.h"

#include <aisampler/aisampler.h>

static void means_agree(const char *name, double step_size, double shift, bool wanted) {
    ais_context context = {0};
    ais_target *target;
    ais_kernel *kernel;
    ais_sink *memory;
    ais_diagnosis *diagnosis;
    assert_ok(context, ais_target_open(&context, name, &target));
    assert_ok(context, ais_kernel_hmc(&context, &(ais_hmc_options){.step_size = step_size, .jitter = 0.2}, &kernel));
    assert_ok(context, ais_sink_memory(&context, &memory));
    ais_sample_options options = {.seed = 2385, .chains = 4, .warmup = 500, .draws = 2000};
    assert_ok(context, ais_sample(&context, target, kernel, &options, &memory, 1, NULL));
    ais_draws *draws = ais_sink_memory_take(memory);
    for (int t = 0; t < draws->chains * draws->draws; t++) draws->value[t] += shift;
    assert_ok(context, ais_diagnose(&context, draws, target, &diagnosis));
    double worst = 0, worst_square = 0;
    for (int i = 0; i < diagnosis->dim; i++) {
        worst = fmax(worst, fabs(diagnosis->parameter[i].z_mean));
        worst_square = fmax(worst_square, fabs(diagnosis->parameter[i].z_square));
        assert_false(isnan(diagnosis->parameter[i].z_mean) || isnan(diagnosis->parameter[i].z_square));
    }
    print_message("%-10s %2d parameters: largest |mean - reference| / mcse %.2f, of x^2 %.2f, R-hat %.4f\n", name,
                  diagnosis->dim, worst, worst_square, diagnosis->worst_rhat);
    assert_true((worst < 4 && worst_square < 4 && diagnosis->worst_rhat < 1.01) == wanted);
    ais_diagnosis_free(diagnosis);
    ais_draws_free(draws);
    ais_sink_free(memory);
    ais_kernel_free(kernel);
    ais_target_close(target);
}

static void tuned(void **state) {
    (void)state;
    const char *const names[] = {"heart", "german", "australian"};
    for (int i = 0; i < 3; i++) means_agree(names[i], 0, 0, true);
}

static void given_step(void **state) {
    (void)state;
    means_agree("heart", 0.05, 0, true);
}

/* A tenth of a posterior standard deviation is noticed. */
static void a_shift_is_caught(void **state) {
    (void)state;
    means_agree("heart", 0, 0.02, false);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(tuned), cmocka_unit_test(given_step),
                                       cmocka_unit_test(a_shift_is_caught)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
