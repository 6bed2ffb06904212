/* What a run's judgement adds to draws.nc: all of it or nothing. */
#include "support.h"

#include <netcdf.h>
#include <sys/stat.h>
#include <unistd.h>

#include <aisampler/run.h>

static char folder[] = "/tmp/aisampler-verdict-XXXXXX", path[64], part[64];

static double number_of(int file, const char *name) {
    double value;
    assert_int_equal(nc_get_att_double(file, NC_GLOBAL, name, &value), NC_NOERR);
    return value;
}

static void text_of(int file, const char *name, char *text, size_t size) {
    size_t length;
    assert_int_equal(nc_inq_attlen(file, NC_GLOBAL, name, &length), NC_NOERR);
    assert_true(length < size);
    assert_int_equal(nc_get_att_text(file, NC_GLOBAL, name, text), NC_NOERR);
    text[length] = 0;
}

static ais_run_result *run(const char *name, const ais_run_options *how, ais_sink *sink) {
    ais_context context = {0};
    ais_target *target;
    ais_run_result *result;
    assert_ok(context, ais_target_open(&context, name, &target));
    ais_run_options options = *how;
    options.sinks = &sink;
    options.sink_count = 1;
    assert_ok(context, ais_run(&context, target, &options, &result));
    ais_target_close(target);
    return result;
}

static ais_sink *new_sink(void) {
    ais_context context = {0};
    ais_sink *sink;
    assert_ok(context, ais_sink_netcdf(&context, folder, &sink));
    return sink;
}

static void trusted_draws(void **state) {
    (void)state;
    ais_sink *sink = new_sink();
    ais_run_result *result = run("mog2", &(ais_run_options){AIS_RUN_HEAD, .seed = 1}, sink);
    int file;
    char text[512];
    assert_true(result->trust && isfinite(result->log_z));
    assert_int_equal(nc_open(path, NC_NOWRITE, &file), NC_NOERR);
    assert_true(number_of(file, "log_z") == result->log_z);
    assert_true(number_of(file, "log_z_error") == result->log_z_error);
    assert_true(number_of(file, "trust") == 1);
    assert_true(number_of(file, "evaluations") ==
                (double)(result->evaluations.densities + result->evaluations.gradients));
    assert_true(number_of(file, "evaluations_gradients") == (double)result->evaluations.gradients);
    text_of(file, "verdict", text, sizeof text);
    assert_string_equal(text, result->verdict);
    assert_int_equal(nc_inq_attid(file, NC_GLOBAL, "warnings", &(int){0}), NC_ENOTATT);
    assert_true(number_of(file, "seed") == 1); /* what was there before */
    nc_close(file);
    assert_int_not_equal(access(part, F_OK), 0);
    ais_run_free(result);
    ais_sink_free(sink);
}

/* A random walk in one of two modes, and no learning: no log Z, but warnings. */
static void distrusted_draws(void **state) {
    (void)state;
    ais_context context = {0};
    ais_sink *sink = new_sink();
    ais_kernel *kernel;
    assert_ok(context, ais_kernel_rwm(&context, &(ais_rwm_options){0}, &kernel));
    const ais_run_options options = {AIS_RUN_HEAD, .seed = 3, .chains = 4, .draws = 100, .before.kernel = kernel};
    ais_run_result *result = run("mog6", &options, sink);
    int file;
    char text[4096];
    assert_false(result->trust);
    assert_int_equal(nc_open(path, NC_NOWRITE, &file), NC_NOERR);
    assert_true(number_of(file, "trust") == 0);
    text_of(file, "warnings", text, sizeof text);
    int lines = 1;
    for (const char *at = text; *at; at++) lines += *at == '\n';
    assert_int_equal(lines, result->diagnosis->warnings);
    assert_memory_equal(text, result->diagnosis->warning[0], strlen(result->diagnosis->warning[0]));
    if (isnan(result->log_z)) assert_int_equal(nc_inq_attid(file, NC_GLOBAL, "log_z", &(int){0}), NC_ENOTATT);
    nc_close(file);
    ais_run_free(result);
    ais_kernel_free(kernel);
    ais_sink_free(sink);
}

static size_t bytes_of(char **bytes) {
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    fseek(file, 0, SEEK_END);
    size_t size = (size_t)ftell(file);
    rewind(file);
    *bytes = malloc(size);
    assert_int_equal(fread(*bytes, 1, size, file), size);
    fclose(file);
    return size;
}

/* No place for the copy: the file stays as it was, and the message says so. */
static void a_failure_leaves_the_draws(void **state) {
    (void)state;
    ais_context context = {0};
    ais_sink *sink = new_sink();
    ais_run_free(run("mog2", &(ais_run_options){AIS_RUN_HEAD, .seed = 2, .draws = 50}, sink));
    char *before, *after;
    size_t size = bytes_of(&before);
    assert_int_equal(mkdir(part, 0777), 0);
    const ais_run_judgement judgement = {.log_z = NAN, .log_z_error = NAN, .verdict = "another", .warnings = ""};
    assert_int_equal(sink->judged(&context, sink, &judgement), AIS_FILE_ERROR);
    assert_non_null(strstr(context.message, "the draws in it are complete"));
    assert_int_equal(bytes_of(&after), size);
    assert_memory_equal(before, after, size);
    rmdir(part);
    free(before);
    free(after);
    ais_sink_free(sink);
}

int main(void) {
    if (!mkdtemp(folder)) return 1;
    snprintf(path, sizeof path, "%s/draws.nc", folder);
    snprintf(part, sizeof part, "%s/draws.nc.part", folder);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(trusted_draws),
        cmocka_unit_test(distrusted_draws),
        cmocka_unit_test(a_failure_leaves_the_draws),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    unlink(path);
    rmdir(folder);
    return failed;
}
