/* What is shown of a draw instead of x: in memory, in both kinds of files, for any number of threads, with x beside it;
 * and what a density tells after a run. */
#include "scratch.h"

#include <netcdf.h>

#include <aisampler/aisampler.h>

#include "support.h"

/* x is normal; shown are exp(x.1), x.2 / 2, a constant and a number of the row's own. */
static double logp(const double *x, void *data) {
    (void)data;
    return -0.5 * (x[0] - 0.5) * (x[0] - 0.5) - 0.5 * x[1] * x[1];
}
static double grad(const double *x, double *gradient, void *data) {
    gradient[0] = 0.5 - x[0];
    gradient[1] = -x[1];
    return logp(x, data);
}
static double nowhere(const double *x, void *data) {
    (void)x;
    (void)data;
    return NAN;
}
static double here_and_there(const double *x, void *data) { return x[0] > 2.6 ? NAN : logp(x, data); }
enum { SHOWN = 4 };
static void show(size_t n, const double *x, uint64_t stream, double *value, double *slope, void *data) {
    (void)data;
    for (size_t r = 0; r < n; r++, x += 2, value += SHOWN) {
        value[0] = exp(x[0]);
        value[1] = x[1] / 2;
        value[2] = 7;
        uint64_t mixed = (stream + r) * 0x9e3779b97f4a7c15;
        value[3] = (double)((mixed ^ mixed >> 29) * 0xbf58476d1ce4e5b9 >> 11);
        slope[r] = x[0] - log(2);
    }
}
static void tell(char *text, size_t size, void *data) {
    (void)data;
    snprintf(text, size, "it could not be computed at 3 points");
}
static const char *const names[SHOWN] = {"scale", "half", "fixed.1", "fixed.2"};
static const ais_view view = {.count = SHOWN, .names = names, .show = show};
static const ais_target target = {
    .name = "shown", .dim = 2, .logp = logp, .grad = grad, .view = &view, .tell = tell, .start_scale = 2};

static ais_run_result *run(int threads, int draws, const char *directory) {
    ais_context context = {0};
    ais_sink *sink[2];
    ais_run_result *result;
    assert_ok(context, ais_sink_stan_csv(&context, directory, &sink[0]));
    assert_ok(context, ais_sink_netcdf(&context, directory, &sink[1]));
    const ais_run_options options = {AIS_RUN_HEAD,       .seed = 4,           .chains = 4,   .draws = draws,
                                     .threads = threads, .save_warmup = true, .sinks = sink, .sink_count = 2};
    assert_ok(context, ais_run(&context, &target, &options, &result));
    ais_sink_free(sink[0]);
    ais_sink_free(sink[1]);
    return result;
}

static void a_point_is_told_as_people_know_it(void **unused) {
    (void)unused;
    const double x[2] = {0, 0.2};
    const char *const own[2] = {"a", "b"};
    char text[200], little[40];
    ais_target plain = {.name = "plain", .dim = 2, .logp = logp};
    ais_target_point(&plain, x, text, sizeof text);
    assert_string_equal(text, "x = (0, 0.2)");
    plain.names = own;
    ais_target_point(&plain, (double[]){0.1 + 0.2, -1e300}, text, sizeof text);
    assert_string_equal(text, "a = 0.30000000000000004, b = -1e+300");
    ais_target_point(&target, x, text, sizeof text);
    assert_string_equal(text, "scale = 1, half = 0.1, fixed.1 = 7, fixed.2 = 0");
    ais_target_point(&target, x, little, sizeof little);
    assert_string_equal(little, "scale = 1, ... and 3 more");
    ais_context context = {0};
    ais_target holed = target; /* what the check and a run say */
    holed.logp = nowhere;
    holed.grad = NULL;
    assert_int_equal(ais_target_check(&context, &holed, 1, &(ais_check){0}), AIS_BAD_DENSITY);
    assert_non_null(strstr(context.message, "logp is nan at scale = "));
    holed.logp = here_and_there;
    ais_run_result *result;
    assert_int_equal(ais_run(&context, &holed, &(ais_run_options){AIS_RUN_HEAD, .draws = 2000}, &result),
                     AIS_BAD_DENSITY);
    assert_non_null(strstr(context.message, "is nan at scale = "));
    ais_run_free(result);
}

static void assert_same_draws(const ais_draws *a, const ais_draws *b) {
    assert_int_equal(a->dim, b->dim);
    assert_int_equal(a->chains, b->chains);
    assert_int_equal(a->draws, b->draws);
    size_t n = (size_t)a->chains * (size_t)a->draws;
    for (int i = 0; i < a->dim; i++) assert_string_equal(a->name[i], b->name[i]);
    assert_memory_equal(a->value, b->value, (size_t)a->dim * n * sizeof(double));
    assert_memory_equal(a->logp, b->logp, n * sizeof(double));
}

static void memory_has_what_is_shown_and_x(void **state) {
    ais_run_result *result = run(1, 500, *state);
    const ais_draws *shown = result->draws, *x = result->unconstrained;
    assert_non_null(x);
    assert_int_equal(shown->dim, SHOWN);
    assert_int_equal(x->dim, 2);
    assert_string_equal(shown->name[2], "fixed.1");
    assert_string_equal(x->name[1], "x.2");
    size_t n = (size_t)shown->chains * (size_t)shown->draws;
    for (size_t k = 0; k < n; k++) {
        assert_true(shown->value[k] == exp(x->value[k]));
        assert_true(shown->value[n + k] == x->value[n + k] / 2);
        assert_true(shown->value[2 * n + k] == 7);
        assert_true(shown->logp[k] == x->logp[k] - (x->value[k] - log(2)));
        double point[2] = {x->value[k], x->value[n + k]};
        assert_near(x->logp[k], logp(point, NULL), 1e-13); /* the gradient's sum may be rounded otherwise */
    }
    /* Judged as shown; a constant is no reason for distrust. */
    const ais_parameter_summary *parameter = result->diagnosis->parameter;
    assert_string_equal(parameter[0].name, "scale");
    assert_near(parameter[0].mean, exp(1), 5 * parameter[0].mcse);
    assert_true(isnan(parameter[2].ess_bulk));
    assert_true(result->trust);
    ais_run_free(result);
}

static int by_value(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void every_row_has_a_number_of_its_own(void **state) {
    ais_run_result *result = run(2, 5000, *state); /* more than one round of the sampler */
    size_t n = (size_t)result->draws->chains * (size_t)result->draws->draws;
    double *number = result->draws->value + 3 * n;
    qsort(number, n, sizeof *number, by_value);
    for (size_t k = 1; k < n; k++) assert_true(number[k] > number[k - 1]);
    ais_run_free(result);
}

static void files_have_the_same_for_any_number_of_threads(void **state) {
    char one[600], two[600], path[4][700];
    snprintf(one, sizeof one, "%s/one", (char *)*state);
    snprintf(two, sizeof two, "%s/two", (char *)*state);
    ais_run_result *first = run(1, 300, one), *second = run(2, 300, two);
    assert_same_draws(first->draws, second->draws);
    assert_same_draws(first->unconstrained, second->unconstrained);
    static const char *const name[] = {"draws.nc", "draws-1.csv", "draws-2.csv", "draws-3.csv", "draws-4.csv"};
    for (int i = 0; i < 5; i++) {
        char other[700];
        snprintf(path[0], sizeof path[0], "%s/%s", one, name[i]);
        snprintf(other, sizeof other, "%s/%s", two, name[i]);
        assert_true(scratch_same(path[0], other));
    }
    const char *paths[4];
    for (int c = 0; c < 4; c++) {
        snprintf(path[c], sizeof path[c], "%s/draws-%d.csv", one, c + 1);
        paths[c] = path[c];
    }
    ais_context context = {0};
    ais_draws *read;
    assert_ok(context, ais_draws_read(&context, paths, 4, &read));
    assert_same_draws(read, first->draws);
    ais_draws_free(read);
    snprintf(path[0], sizeof path[0], "%s/draws.nc", one);
    assert_ok(context, ais_draws_read(&context, paths, 1, &read));
    assert_same_draws(read, first->draws);
    ais_draws_free(read);
    ais_run_free(first);
    ais_run_free(second);
}

static void netcdf_has_x_in_a_group_of_its_own(void **state) {
    ais_run_result *result = run(1, 50, *state);
    int file, group, variable;
    static double value[4][50][2];
    assert_int_equal(nc_open(scratch_path(*state, "draws.nc"), NC_NOWRITE, &file), NC_NOERR);
    assert_int_equal(nc_inq_grp_ncid(file, "warmup_unconstrained_posterior", &group), NC_NOERR);
    assert_int_equal(nc_inq_grp_ncid(file, "unconstrained_posterior", &group), NC_NOERR);
    assert_int_equal(nc_inq_varid(group, "x", &variable), NC_NOERR);
    assert_int_equal(nc_get_var_double(group, variable, &value[0][0][0]), NC_NOERR);
    nc_close(file);
    for (int c = 0; c < 4; c++)
        for (int t = 0; t < 50; t++)
            for (int i = 0; i < 2; i++)
                assert_true(value[c][t][i] == result->unconstrained->value[(i * 4 + c) * 50 + t]);
    ais_run_free(result);
}

static void what_the_density_tells_is_in_the_note_and_among_the_checks(void **state) {
    ais_run_result *result = run(1, 100, *state);
    assert_non_null(strstr(result->check.note, "could not be computed at 3 points"));
    const ais_diagnosis *diagnosis = result->diagnosis;
    const ais_diagnosis_check *last = &diagnosis->check[diagnosis->checks - 1];
    assert_string_equal(last->name, "errors of the density");
    assert_non_null(strstr(last->text, "could not be computed at 3 points"));
    assert_true(last->passed);
    ais_run_free(result);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_point_is_told_as_people_know_it),
        cmocka_unit_test_setup_teardown(memory_has_what_is_shown_and_x, scratch_setup, scratch_teardown),
        cmocka_unit_test_setup_teardown(every_row_has_a_number_of_its_own, scratch_setup, scratch_teardown),
        cmocka_unit_test_setup_teardown(files_have_the_same_for_any_number_of_threads, scratch_setup, scratch_teardown),
        cmocka_unit_test_setup_teardown(netcdf_has_x_in_a_group_of_its_own, scratch_setup, scratch_teardown),
        cmocka_unit_test_setup_teardown(what_the_density_tells_is_in_the_note_and_among_the_checks, scratch_setup,
                                        scratch_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
