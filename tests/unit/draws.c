/* What goes in comes out of memory, CSV and netCDF with the same bits, whatever the sizes of the chunks. */
#include "draws_support.h"

#include <locale.h>

#include "draws/columns.h"

/* ---- round trips --------------------------------------------------------------------------------- */

static void memory_holds_what_was_handed_over(void **state) {
    (void)state;
    demo_run run = a_run(3, 4, 25);
    ais_draws *draws = in_memory(&run);
    for (int i = 0; i < 3; i++)
        for (int c = 0; c < 4; c++)
            for (int t = 0; t < 25; t++)
                assert_true(draws->value[(i * 4 + c) * 25 + t] == demo_value(&run, 0, c, t, i));
    assert_ptr_equal(ais_draws_column(draws, "x.2"), draws->value + 100);
    assert_true(ais_draws_column(draws, "energy__")[30] == demo_info(&run, 0, 1, 5).energy);
    assert_true(ais_draws_column(draws, "lp__")[30] == demo_value(&run, 0, 1, 5, -1));
    assert_null(ais_draws_column(draws, "x.4"));
    ais_draws_free(draws);
}

static void files_give_the_same_bits(void **state) {
    static const char *const matrix[] = {"mu", "L.1.1", "L.2.1", "L.1.2", "L.2.2", "L.1.3", "L.2.3", "t.1", "t.2"};
    for (int k = 0; k < 6; k++) {
        demo_run run = a_run(k == 2 ? 9 : k + 1, k == 4 ? 300 : k + 1, 57);
        run.chunk = (int[]){1, 7, 57, 1000, 20, 56}[k];
        run.odd = k % 2;
        run.info = (unsigned[]){ALL_INFO, 1, ALL_INFO, 0, 1 << AIS_INFO_ROUND_TRIP, 0x55}[k];
        run.warmup = k > 2 ? 13 : 0;
        run.save_warmup = k > 3;
        if (k == 2) run.target.names = matrix;
        char name[16];
        snprintf(name, sizeof name, "run-%d", k);
        const char *directory = scratch_path(*state, name);
        ais_draws *memory = in_memory(&run);
        for (int netcdf = 0; netcdf < 2; netcdf++) {
            write_files(&run, netcdf, directory);
            ais_draws *draws = read_files(&run, netcdf, directory);
            assert_same_draws(memory, draws);
            ais_draws_free(draws);
        }
        ais_draws_free(memory);
    }
}

static void not_a_number_survives(void **state) {
    ais_context context = {0};
    double x[2] = {NAN, -NAN}, logp[2] = {-INFINITY, 1};
    ais_info info[2] = {{.accept_stat = NAN}, {.accept_stat = 1}};
    ais_run_header header = {.target = "nan", .x = {1, NULL}, .sampler = "rwm", .chains = 1, .draws = 2, .info = 1};
    ais_chunk chunk = {false, 0, 2, x, logp, info, x, logp};
    for (int netcdf = 0; netcdf < 2; netcdf++) {
        ais_sink *sink = file_sink(netcdf, *state);
        assert_int_equal(sink->begin(&context, sink, &header), AIS_OK);
        assert_int_equal(sink->write(&context, sink, &chunk), AIS_OK);
        assert_int_equal(sink->end(&context, sink, &(ais_run_footer){2, 0, 0}), AIS_OK);
        ais_sink_free(sink);
        demo_run run = a_run(1, 1, 2);
        ais_draws *draws = read_files(&run, netcdf, *state);
        assert_true(isnan(draws->value[0]) && isnan(draws->value[1]) && isnan(draws->stat[0]));
        assert_true(draws->logp[0] == -INFINITY);
        ais_draws_free(draws);
    }
    char *text = scratch_read(scratch_path(*state, "draws-1.csv"), NULL);
    assert_null(strstr(text, "-nan"));
    free(text);
}

static void stopping_early_leaves_the_draws_made(void **state) {
    demo_run run = a_run(2, 3, 5000); /* more than one block */
    run.warmup = 20;
    run.save_warmup = true;
    run.draws_stop = 4321;
    ais_draws *memory = in_memory(&run);
    assert_int_equal(memory->draws, 4321);
    for (int netcdf = 0; netcdf < 2; netcdf++) {
        write_files(&run, netcdf, *state);
        ais_draws *draws = read_files(&run, netcdf, *state);
        assert_same_draws(memory, draws);
        ais_draws_free(draws);
    }
    ais_draws_free(memory);
    char *text = scratch_read(scratch_path(*state, "draws-2.csv"), NULL);
    assert_non_null(strstr(text, "num_samples = 4321\n"));
    free(text);
    run.draws_stop = 0;
    run.warmup_stop = 7; /* stopped in warm-up: complete files without draws */
    for (int netcdf = 0; netcdf < 2; netcdf++) {
        ais_context context = {0};
        ais_draws *draws;
        write_files(&run, netcdf, *state);
        const char *path = scratch_path(*state, netcdf ? "draws.nc" : "draws-1.csv");
        assert_int_equal(ais_draws_read(&context, &path, 1, &draws), AIS_BAD_FORMAT);
        assert_non_null(strstr(context.message, netcdf ? "no draws" : "all of them warm-up (num_warmup = 7)"));
    }
}

static void equal_runs_give_equal_bytes(void **state) {
    demo_run run = a_run(3, 2, 4100);
    run.warmup = 50;
    run.save_warmup = true;
    for (int k = 0; k < 3; k++) {
        run.chunk = (int[]){1000, 17, 1000}[k];
        run.seed = k == 2 ? 4 : 3;
        const char *directory = scratch_path(*state, (const char *[]){"a", "b", "c"}[k]);
        write_files(&run, 0, directory);
        write_files(&run, 1, directory);
        if (k == 0) sleep(1); /* a time of day in the file would differ */
    }
    static const char *const file[] = {"draws.nc", "draws-1.csv", "draws-2.csv"};
    for (int f = 0; f < 3; f++) {
        char path[3][600];
        for (int k = 0; k < 3; k++) snprintf(path[k], sizeof path[k], "%s/%c/%s", (char *)*state, 'a' + k, file[f]);
        assert_true(scratch_same(path[0], path[1]));
        assert_false(scratch_same(path[0], path[2]));
    }
}

static void a_foreign_locale_changes_nothing(void **state) {
    if (!setlocale(LC_ALL, "de_DE.UTF-8") && !setlocale(LC_ALL, "fr_FR.UTF-8")) skip();
    demo_run run = a_run(2, 2, 30);
    write_files(&run, 0, *state);
    ais_draws *memory = in_memory(&run), *draws = read_files(&run, 0, *state);
    setlocale(LC_ALL, "C");
    assert_same_draws(memory, draws);
    ais_draws_free(memory);
    ais_draws_free(draws);
}

static void absurd_sizes_are_refused(void **state) {
    (void)state;
    ais_context context = {0};
    ais_draws *draws;
    assert_int_equal(ais_draws_new(&context, 1000000, 1000000, 1000000, 0, &draws), AIS_NO_MEMORY);
    assert_null(draws);
    assert_int_equal(ais_draws_new(&context, 2147483647, 2147483647, 2147483647, 2147483647, &draws), AIS_NO_MEMORY);
    assert_int_equal(ais_draws_new(&context, 1, -1, 1, 0, &draws), AIS_BAD_ARGUMENT);
    assert_int_equal(ais_draws_new(&context, 2, 0, 3, 1, &draws), AIS_OK);
    assert_string_equal(draws->name[1], "x.2");
    assert_string_equal(draws->stat_name[0], "");
    ais_draws_free(draws);
    ais_draws_free(NULL);
    ais_sink_free(NULL);
}

/* ---- names ----------------------------------------------------------------------------------------- */

static void names_become_safe_and_unique(void **state) {
    (void)state;
    static const struct {
        const char *given, *safe;
    } name[] = {
        {"mu", "mu"},
        {"a,b", "a_b"},
        {"a b", "a_b_2"},
        {"a\"b", "a_b_3"},
        {"#x", "__x"},
        {"x.1", "x.1"},
        {"x.2", "x.2"},
        {"x.3", "x.3"},
        {"mu.1", "mu_2.1"},
        {"mu.2", "mu_2.2"},
        {"y.2", "y_2"},
        {"y.3", "y_3"},
        {"z.age", "z_age"},
        {"u__", "u_"},
        {"__", "_"},
        {"chain", "chain_2"},
        {"draw.1", "draw_2.1"},
        {"", "__2"},
        {"x.01", "x_01"},
        {"q/r", "q_r"},
        {"L.1.1", "L.1.1"},
        {"L.2.1", "L.2.1"},
        {"L.1.2", "L.1.2"},
        {"L.2.2", "L.2.2"},
        {"T.1.1", "T_1_1"},
        {"T.2.1", "T_2_1"},
        {"T.2.2", "T_2_2"},
        {"\xc3\xa9", "\xc3\xa9"},
        {"\xe9t", "_t"},
        {"v.1", "v_1"},
        {"v.1", "v_1_2"},
        {"x_dim_0", "x_dim_0_2"},
        {"new\nline", "new_line"},
        {"w[1,2]", "w[1_2]"},
    };
    enum { COUNT = sizeof name / sizeof *name };
    const char *given[COUNT];
    for (int i = 0; i < COUNT; i++) given[i] = name[i].given;
    ais_names names = {COUNT, given};
    ais_context context = {0};
    ais_columns *columns;
    assert_int_equal(ais_columns_new(&context, &names, &columns), AIS_OK);
    for (int i = 0; i < COUNT; i++) assert_string_equal(columns->name[i], name[i].safe);
    ais_columns_free(columns);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(memory_holds_what_was_handed_over),
        cmocka_unit_test_setup_teardown(files_give_the_same_bits, scratch_setup, scratch_teardown),
        cmocka_unit_test_setup_teardown(not_a_number_survives, scratch_setup, scratch_teardown),
        cmocka_unit_test_setup_teardown(stopping_early_leaves_the_draws_made, scratch_setup, scratch_teardown),
        cmocka_unit_test_setup_teardown(equal_runs_give_equal_bytes, scratch_setup, scratch_teardown),
        cmocka_unit_test_setup_teardown(a_foreign_locale_changes_nothing, scratch_setup, scratch_teardown),
        cmocka_unit_test(absurd_sizes_are_refused),
        cmocka_unit_test(names_become_safe_and_unique),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
