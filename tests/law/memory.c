/* Draws that go to disk as the run goes do not stay in memory: ten times the draws have the same peak of resident size.
 * Each run is a process of its own, whose peak the system tells. */
#include "scratch.h" /* first: it asks for nftw */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <sys/resource.h>
#include <sys/wait.h>

#include <aisampler/aisampler.h>

enum { SAME_MEGABYTES = 6 };

typedef ais_status sink_maker(ais_context *, const char *directory, ais_sink **);

static ais_status into_memory(ais_context *context, const char *directory, ais_sink **sink) {
    (void)directory;
    return ais_sink_memory(context, sink);
}

static void draw(sink_maker *make, const char *directory, int chains, int draws) {
    ais_context context = {0};
    ais_target *target;
    ais_kernel *kernel;
    ais_sink *sink;
    const ais_sample_options options = {.seed = 3, .chains = chains, .draws = draws, .threads = 1};
    ais_status status = ais_target_open(&context, "mog6", &target);
    if (status == AIS_OK) status = ais_kernel_rwm(&context, NULL, &kernel);
    if (status == AIS_OK) status = make(&context, directory, &sink);
    if (status == AIS_OK) status = ais_sample(&context, target, kernel, &options, &sink, 1, NULL);
    _exit(status != AIS_OK);
}

static double peak_megabytes(sink_maker *make, const char *directory, int chains, int draws) {
    pid_t child = fork();
    if (child == 0) draw(make, directory, chains, draws);
    struct rusage usage = {0};
    int status = 1;
    assert_true(child > 0 && wait4(child, &status, 0, &usage) == child);
    assert_int_equal(status, 0);
    return (double)usage.ru_maxrss / 1024;
}

/* A sanitizer keeps what was freed. */
static bool can_tell(void) {
#ifdef __SANITIZE_ADDRESS__
    return false;
#else
    return true;
#endif
}

static void files_hold_the_draws(void **state) {
    static const struct {
        sink_maker *make;
        int chains, few, many;
    } run[] = {{ais_sink_netcdf, 100, 1000, 10000},
               {ais_sink_netcdf, 1, 100000, 1000000},
               {ais_sink_netcdf, 5000, 20, 200},
               {ais_sink_stan_csv, 100, 1000, 4000}};
    if (!can_tell()) skip();
    for (size_t i = 0; i < sizeof run / sizeof *run; i++) {
        double few = peak_megabytes(run[i].make, *state, run[i].chains, run[i].few);
        double many = peak_megabytes(run[i].make, *state, run[i].chains, run[i].many);
        if (many > few + SAME_MEGABYTES)
            fail_msg("run %zu: %d draws of %d chains have a peak of %.1f MB, %d one of %.1f", i, run[i].few,
                     run[i].chains, few, run[i].many, many);
    }
}

/* A sink that keeps its draws is seen: 10^6 of them are 24 MB and more. */
static void the_measure_sees_memory(void **state) {
    if (!can_tell()) skip();
    double few = peak_megabytes(into_memory, *state, 100, 1000);
    assert_true(peak_megabytes(into_memory, *state, 100, 10000) > few + 2 * SAME_MEGABYTES);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(files_hold_the_draws, scratch_setup, scratch_teardown),
        cmocka_unit_test_setup_teardown(the_measure_sees_memory, scratch_setup, scratch_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
