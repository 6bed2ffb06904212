/* Files are complete or called NAME.part; nobody else's are touched; a full disk is said and survived. */
#include "draws_support.h"

#include <errno.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>

/* ---- the life of a file --------------------------------------------------------------------------- */

static void files_are_parts_until_the_end(void **state) {
    static const char *const name[] = {"draws-1.csv", "draws.nc"};
    demo_run run = a_run(1, 1, 10);
    for (int netcdf = 0; netcdf < 2; netcdf++) {
        ais_context context = {0};
        char directory[512], part[32];
        snprintf(directory, sizeof directory, "%s/one/two/%d/", (char *)*state, netcdf); /* all of it is made */
        snprintf(part, sizeof part, "%s.part", name[netcdf]);
        ais_sink *sink = file_sink(netcdf, directory);
        ais_run_header header = {.target = run.target.name,
                                 .x = {run.target.dim, run.target.names},
                                 .sampler = "rwm",
                                 .chains = 1,
                                 .draws = 10};
        assert_int_equal(sink->begin(&context, sink, &header), AIS_OK);
        assert_true(scratch_has(directory, part));
        assert_int_equal(demo_write(&context, &run, sink, 0), AIS_OK);
        assert_false(scratch_has(directory, name[netcdf]));
        sink->abandon(sink);
        assert_true(scratch_has(directory, part));
        assert_false(scratch_has(directory, name[netcdf]));
        assert_int_equal(demo_feed(&context, &run, sink), AIS_OK); /* the same sink, again */
        assert_true(scratch_has(directory, name[netcdf]));
        assert_false(scratch_has(directory, part));
        ais_sink_free(sink);
    }
}

static void chunks_out_of_order_are_refused(void **state) {
    demo_run run = a_run(1, 1, 10);
    for (int kind = 0; kind < 3; kind++) {
        ais_context context = {0};
        ais_sink *sink;
        if (kind == 2)
            assert_int_equal(ais_sink_memory(&context, &sink), AIS_OK);
        else
            sink = file_sink(kind, *state);
        ais_run_header header = {.target = run.target.name,
                                 .x = {run.target.dim, run.target.names},
                                 .sampler = "rwm",
                                 .chains = 1,
                                 .draws = 10,
                                 .warmup = 5};
        double x[12] = {0};
        ais_info info[12] = {{0}};
        assert_int_equal(sink->begin(&context, sink, &header), AIS_OK);
        assert_int_equal(sink->write(&context, sink, &(ais_chunk){true, 0, 5, x, x, info, x, x}),
                         AIS_OK); /* not saved */
        assert_int_equal(sink->write(&context, sink, &(ais_chunk){false, 1, 4, x, x, info, x, x}), AIS_BAD_ARGUMENT);
        assert_int_equal(sink->write(&context, sink, &(ais_chunk){false, 0, 4, x, x, info, x, x}), AIS_OK);
        assert_int_equal(sink->write(&context, sink, &(ais_chunk){false, 4, 7, x, x, info, x, x}), AIS_BAD_ARGUMENT);
        assert_non_null(strstr(context.message, "draw 10 of sampling came, but only 10 were planned"));
        sink->abandon(sink);
        header.chains = 0;
        assert_int_equal(sink->begin(&context, sink, &header), AIS_BAD_ARGUMENT);
        ais_sink_free(sink);
    }
}

static void older_files_go_when_the_new_are_complete(void **state) {
    ais_context context = {0};
    demo_run older = a_run(1, 5, 10), newer = a_run(1, 2, 10);
    newer.seed = 99;
    write_files(&older, 0, *state);
    ais_sink *sink = file_sink(0, *state);
    ais_run_header header = {.target = newer.target.name,
                             .x = {newer.target.dim, newer.target.names},
                             .sampler = "rwm",
                             .chains = 2,
                             .draws = 10};
    assert_int_equal(sink->begin(&context, sink, &header), AIS_OK);
    sink->abandon(sink); /* a failed run leaves the older one whole */
    ais_sink_free(sink);
    ais_draws_free(read_files(&older, 0, *state));
    write_files(&newer, 0, *state);
    assert_true(scratch_has(*state, "draws-2.csv"));
    assert_false(scratch_has(*state, "draws-3.csv") || scratch_has(*state, "draws-5.csv"));
    ais_draws *draws = read_files(&newer, 0, *state);
    assert_true(draws->value[0] == demo_value(&newer, 0, 0, 0, 0));
    ais_draws_free(draws);
}

static void files_of_others_are_left_alone(void **state) {
    for (int netcdf = 0; netcdf < 2; netcdf++) {
        ais_context context = {0};
        demo_run run = a_run(1, 1, 10);
        const char *path = scratch_path(*state, netcdf ? "draws.nc" : "draws-9.csv");
        scratch_write(path, "a,b\n1,2\n", 8);
        ais_sink *sink = file_sink(netcdf, *state);
        assert_int_equal(demo_feed(&context, &run, sink), AIS_FILE_ERROR);
        assert_non_null(strstr(context.message, path));
        assert_non_null(strstr(context.message, "not written by aisampler"));
        ais_sink_free(sink);
        size_t bytes = 0;
        char *text = scratch_read(path, &bytes);
        assert_int_equal(bytes, 8);
        free(text);
    }
    scratch_write(scratch_path(*state, "draws-0.csv"), "x", 1); /* these are no chains of anybody */
    scratch_write(scratch_path(*state, "draws-1.csv.bak"), "x", 1);
    remove(scratch_path(*state, "draws-9.csv"));
    demo_run run = a_run(1, 1, 10);
    write_files(&run, 0, *state);
    assert_true(scratch_has(*state, "draws-0.csv") && scratch_has(*state, "draws-1.csv.bak"));
}

static void a_bad_directory_is_named(void **state) {
    const char *file = scratch_path(*state, "file");
    scratch_write(file, "", 0);
    char below[600];
    snprintf(below, sizeof below, "%s/below", file);
    const char *bad[] = {below, file, "/proc/nothing/here"};
    demo_run run = a_run(1, 1, 10);
    for (int k = 0; k < 6; k++) {
        ais_context context = {0};
        ais_sink *sink = file_sink(k % 2, bad[k / 2]);
        assert_int_equal(demo_feed(&context, &run, sink), AIS_FILE_ERROR);
        assert_non_null(strstr(context.message, bad[k / 2]));
        assert_non_null(strstr(context.message, k < 4 ? strerror(ENOTDIR) : strerror(ENOENT)));
        ais_sink_free(sink);
    }
    if (geteuid() == 0) return; /* root may write everywhere */
    ais_context context = {0};
    mkdir(scratch_path(*state, "closed"), 0555);
    ais_sink *sink = file_sink(0, scratch_path(*state, "closed"));
    assert_int_equal(demo_feed(&context, &run, sink), AIS_FILE_ERROR);
    assert_non_null(strstr(context.message, strerror(EACCES)));
    ais_sink_free(sink);
}

/* ---- limits --------------------------------------------------------------------------------------- */

static void limit_files(rlim_t bytes) {
    struct rlimit limit;
    getrlimit(RLIMIT_FSIZE, &limit);
    limit.rlim_cur = bytes;
    setrlimit(RLIMIT_FSIZE, &limit);
}

/* A limit on the size of files makes writes fail as a full disk does. */
static void failed_writes_are_said(void **state) {
    signal(SIGXFSZ, SIG_IGN);
    demo_run run = a_run(3, 2, 6000);
    for (int netcdf = 0; netcdf < 2; netcdf++)
        for (int k = 0; k < 9; k++) {
            ais_context context = {0};
            ais_sink *sink = file_sink(netcdf, *state);
            limit_files((rlim_t[]){1, 300, 2048, 9000, 20000, 50000, 100000, 200000, 400000}[k]);
            ais_status status = demo_feed(&context, &run, sink);
            ais_sink_free(sink);
            limit_files(RLIM_INFINITY);
            assert_int_equal(status, AIS_FILE_ERROR);
            assert_non_null(
                strstr(context.message, netcdf ? "draws.nc.part: File too large" : ".csv.part: File too large"));
            assert_false(scratch_has(*state, "draws-1.csv") || scratch_has(*state, "draws.nc"));
        }
    for (int netcdf = 0; netcdf < 2; netcdf++) { /* and it works again */
        write_files(&run, netcdf, *state);
        ais_draws_free(read_files(&run, netcdf, *state));
    }
}

/* The last bytes are written when the file is closed, and may fail then. */
static void a_failed_close_is_said(void **state) {
    signal(SIGXFSZ, SIG_IGN);
    demo_run run = a_run(3, 2, 100);
    for (int netcdf = 0; netcdf < 2; netcdf++) {
        ais_context context = {0};
        ais_sink *sink = file_sink(netcdf, *state);
        ais_run_header header = {.target = run.target.name,
                                 .x = {run.target.dim, run.target.names},
                                 .sampler = "rwm",
                                 .chains = 2,
                                 .draws = 100,
                                 .info = ALL_INFO};
        assert_int_equal(sink->begin(&context, sink, &header), AIS_OK);
        assert_int_equal(demo_write(&context, &run, sink, 0), AIS_OK);
        limit_files(1);
        ais_status status = sink->end(&context, sink, &(ais_run_footer){100, 1, 1});
        limit_files(RLIM_INFINITY);
        if (status == AIS_OK) {
            /* HDF5 had nothing left to write: then the file must be whole. */
            assert_true(netcdf);
            ais_draws_free(read_files(&run, 1, *state));
        } else {
            assert_int_equal(status, AIS_FILE_ERROR);
            sink->abandon(sink);
            assert_false(scratch_has(*state, "draws-1.csv") || scratch_has(*state, "draws.nc"));
        }
        ais_sink_free(sink);
    }
}

static void many_chains_need_few_descriptors(void **state) {
    struct rlimit before, few;
    getrlimit(RLIMIT_NOFILE, &before);
    few = before;
    few.rlim_cur = 40;
    setrlimit(RLIMIT_NOFILE, &few);
    demo_run run = a_run(2, 400, 12);
    ais_draws *memory = in_memory(&run);
    write_files(&run, 0, *state);
    ais_draws *draws = read_files(&run, 0, *state);
    setrlimit(RLIMIT_NOFILE, &before);
    assert_same_draws(memory, draws);
    ais_draws_free(memory);
    ais_draws_free(draws);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(files_are_parts_until_the_end, scratch_setup, scratch_teardown),
        cmocka_unit_test_setup_teardown(chunks_out_of_order_are_refused, scratch_setup, scratch_teardown),
        cmocka_unit_test_setup_teardown(older_files_go_when_the_new_are_complete, scratch_setup, scratch_teardown),
        cmocka_unit_test_setup_teardown(files_of_others_are_left_alone, scratch_setup, scratch_teardown),
        cmocka_unit_test_setup_teardown(a_bad_directory_is_named, scratch_setup, scratch_teardown),
        cmocka_unit_test_setup_teardown(failed_writes_are_said, scratch_setup, scratch_teardown),
        cmocka_unit_test_setup_teardown(a_failed_close_is_said, scratch_setup, scratch_teardown),
        cmocka_unit_test_setup_teardown(many_chains_need_few_descriptors, scratch_setup, scratch_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
