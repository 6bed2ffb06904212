/* Public functions that no other test calls by name: those that the command and the Python package take, once each.
 * scripts/coverage.py looks whether a public function is left out of all tests. */
#include "scratch.h" /* before all others: it says which of POSIX it wants */

#include "support.h"

#include <aisampler/aisampler.h>
#include <aisampler/bench.h>

static ais_target *open_target(const char *name) {
    ais_context context = {0};
    ais_target *target;
    assert_ok(context, ais_target_open(&context, name, &target));
    return target;
}

static void names(void **state) {
    (void)state;
    int major, minor, patch, length = 0;
    assert_int_equal(sscanf(ais_version(), "%d.%d.%d%n", &major, &minor, &patch, &length), 3);
    assert_int_equal((size_t)length, strlen(ais_version()));
    const char *const known[] = {"banana", "funnel", NULL};
    assert_string_equal(ais_nearest("bananna", known), "banana");
    assert_null(ais_nearest("xyzzy", known));
    char buffer[32];
    const ais_names named = {.count = 2, .name = known}, plain = {.count = 2};
    assert_string_equal(ais_name(&named, 1, buffer), "funnel");
    assert_string_equal(ais_name(&plain, 1, buffer), "x.2");
    assert_string_equal(ais_ending_name[AIS_ENDED_DRAWS], "draws");
    assert_string_equal(ais_ending_name[AIS_ENDED_STOPPED], "stopped");
    const ais_classical_entry *walk = ais_classical_builtin(0);
    assert_true(ais_classical_takes(walk, "scale"));
    assert_true(!ais_classical_takes(walk, "leapfrogs"));
    assert_true(!ais_classical_takes(walk, "cal"));
}

/* In the order of ais_map, as a kernel of that map is named. */
static void maps(void **state) {
    (void)state;
    ais_map_entry at;
    int count = 0;
    for (; ais_map_builtin(count, &at); count++) {
        ais_context context = {0};
        ais_kernel *kernel;
        ais_shape shape = {.map = (ais_map)count, .reversal = AIS_SWAP, .dim = 2};
        assert_ok(context, ais_kernel_learned(&context, &shape, 1, &kernel));
        assert_string_equal(ais_kernel_name(kernel), at.name);
        assert_int_equal(ais_kernel_shape(kernel)->layers, at.layers);
        assert_true(at.bins == (count == AIS_SPLINE));
        ais_kernel_free(kernel);
    }
    assert_int_equal(count, AIS_AFFINE + 1);
    assert_true(!ais_map_builtin(-1, &at));
}

static void targets(void **state) {
    (void)state;
    ais_target *target = open_target("banana"), *none = NULL;
    char buffer[32], text[256] = "something";
    assert_string_equal(ais_target_shown_name(target, 1, buffer), "x.2");
    ais_target_tell(target, text, sizeof text);
    assert_string_equal(text, "");
    ais_target_close(target);
    ais_context context = {0};
    assert_int_not_equal(ais_target_stan(&context, "/nonexistent.stan", NULL, NULL, &none), AIS_OK);
    assert_null(none);
    assert_true(strlen(context.message) > 20);
}

static void budgets(void **state) {
    (void)state;
    ais_context context = {0};
    const ais_budget all = {.effective = 100, .evaluations = 1000, .seconds = 10};
    ais_budget left;
    assert_ok(context, ais_budget_left(&context, &all, 400, 2.5, &left));
    assert_int_equal(left.evaluations, 600);
    assert_near(left.effective, 100, 0);
    assert_near(left.seconds, 6.5, 1e-12); /* a tenth is kept back */
    assert_int_equal(ais_budget_left(&context, &all, 1000, 0, &left), AIS_SPENT);
    assert_non_null(strstr(context.message, "1000 evaluations"));
    assert_int_equal(ais_budget_left(&context, &all, 0, 9, &left), AIS_SPENT);
    assert_non_null(strstr(context.message, "deadline of 10 s"));
    const ais_check check = {.densities = 3, .gradients = 2};
    const ais_sample_result result = {.densities = 20, .gradients = 10};
    ais_evaluations sum = ais_evaluations_of(&check, NULL, &result, 7);
    assert_int_equal(sum.densities + sum.gradients, 42);
    assert_int_equal(sum.start + sum.learning + sum.drawing + sum.judging, 42);
    assert_int_equal(sum.judging, 7);
}

static void summaries(void **state) {
    (void)state;
    ais_context context = {0};
    ais_draws *draws;
    ais_diagnosis *diagnosis;
    assert_ok(context, ais_draws_new(&context, 1, 2, 50, 0, &draws));
    for (int i = 0; i < 100; i++) draws->value[i] = odd(11, (uint64_t)i, -1, 1);
    assert_ok(context, ais_diagnose(&context, draws, NULL, &diagnosis));
    int numbers = 0, warnings = diagnosis->warnings, checks = diagnosis->checks;
    for (const ais_summary_number *number; (number = ais_summary_builtin(numbers)); numbers++) {
        double value = ais_summary_value(diagnosis->parameter, number);
        if (strcmp(number->name, "mean") == 0) assert_near(value, diagnosis->parameter[0].mean, 0);
        if (strcmp(number->name, "mcse_sd") == 0) assert_near(value, diagnosis->parameter[0].mcse_sd, 0);
    }
    assert_true(numbers > 5);
    assert_ok(context, ais_diagnosis_warn(&context, diagnosis, "the sky is green: look again"));
    assert_ok(context, ais_diagnosis_note(&context, diagnosis, "sky", false, "%d of %d looks", 3, 4));
    assert_int_equal(diagnosis->warnings, warnings + 1);
    assert_string_equal(diagnosis->warning[warnings], "the sky is green: look again");
    assert_int_equal(diagnosis->checks, checks + 1);
    assert_string_equal(diagnosis->check[checks].text, "3 of 4 looks");
    assert_true(!diagnosis->check[checks].passed);
    ais_diagnosis_free(diagnosis);
    ais_draws_free(draws);
}

static void a_page(void **state) {
    ais_context context = {0};
    ais_figure *figure;
    assert_ok(context, ais_figure_new(&context, "a & b", 1, &figure));
    ais_panel *panel = ais_figure_panel(figure, &(ais_panel_options){.title = "steps"});
    const double edge[] = {0, 1, 2.5}, height[] = {3, 1}, low[] = {0, 1, 2}, high[] = {1, 1.5, 3};
    ais_panel_steps(panel, edge, height, 2, true, &(ais_style){.colour = 1});
    ais_panel_band(panel, edge, low, high, 3, &(ais_style){.colour = 2});
    assert_int_equal(ais_figure_panels(figure), 1);
    assert_ok(context, ais_directory_make(&context, scratch_path(*state, "a/b")));
    assert_ok(context, ais_directory_make(&context, scratch_path(*state, "a/b")));
    const char *path = scratch_path(*state, "a/b/page.html"), *const heading[] = {"name", "value"},
               *const cell[] = {"<x>", "1", "y", "2"};
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    ais_document_begin(file, "Title & more");
    ais_document_heading(file, "First");
    ais_document_paragraph(file, "1 < 2");
    ais_document_note(file, "small");
    ais_document_table(file, heading, cell, 2, 2);
    assert_ok(context, ais_document_figure(&context, file, figure, "one"));
    assert_ok(context, ais_document_end(&context, file));
    fclose(file);
    ais_figure_free(figure);
    char *page = scratch_read(path, NULL);
    const char *const wanted[] = {"<!DOCTYPE html>", "Title &amp; more", "First", "1 &lt; 2", "small", "&lt;x&gt;",
                                  "value",           "</html>",          NULL};
    for (int i = 0; wanted[i]; i++)
        if (!strstr(page, wanted[i])) fail_msg("the page lacks %s", wanted[i]);
    if (ais_figures_available()) assert_non_null(strstr(page, "<svg"));
    free(page);
    /* A disk that is full is told of at the end. */
    file = fopen("/dev/full", "w");
    if (!file) return;
    ais_document_begin(file, "lost");
    assert_int_equal(ais_document_end(&context, file), AIS_FILE_ERROR);
    fclose(file);
}

static void a_checkpoint_that_is_not_there(void **state) {
    ais_context context = {0};
    ais_target *target = open_target("mog2");
    ais_kernel *kernel;
    ais_training *training;
    assert_ok(context, ais_run_recall_learned(&context, scratch_path(*state, "none"), target, &kernel, &training));
    assert_null(kernel);
    assert_null(training);
    ais_target_close(target);
}

static void where_learning_has_been(void **state) {
    (void)state;
    ais_context context = {0};
    ais_target *target = open_target("mog2");
    ais_kernel *kernel;
    ais_training *training;
    const ais_train_options options = {.seed = 1, .threads = 1};
    assert_ok(context, ais_train(&context, target, &options, &kernel, &training));
    double start[16 * 2];
    for (int i = 0; i < 32; i++) start[i] = NAN;
    ais_training_starts(training, 16, start);
    for (int c = 0; c < 16; c++) assert_true(target->logp(start + 2 * (size_t)c, target->data) > -20);
    ais_training_free(training);
    ais_kernel_free(kernel);
    ais_target_close(target);
}

static void speeds(void **state) {
    (void)state;
    ais_context context = {0};
    ais_bench_limits limits;
    ais_bench_entry entry[AIS_BENCH_MOST];
    int count = 0;
    assert_ok(context, ais_bench_hot_paths(&context, "density mog6", 0.002, &limits, entry, &count));
    assert_int_equal(count, 1);
    assert_non_null(strstr(entry[0].name, "density mog6"));
    assert_true(entry[0].rate > 0 && limits.fma_per_second > 0 && limits.bytes_per_second > 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names),
        cmocka_unit_test(maps),
        cmocka_unit_test(targets),
        cmocka_unit_test(budgets),
        cmocka_unit_test(summaries),
        cmocka_unit_test_setup_teardown(a_page, scratch_setup, scratch_teardown),
        cmocka_unit_test_setup_teardown(a_checkpoint_that_is_not_there, scratch_setup, scratch_teardown),
        cmocka_unit_test(where_learning_has_been),
        cmocka_unit_test(speeds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
