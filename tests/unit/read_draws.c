/* Readers: CSV of any sampler, damaged files, files that do not belong together. */
#include "scratch.h" /* first: it asks for nftw */

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <sys/resource.h>

#include <netcdf.h>

#include "demo_run.h"

static ais_status read_text(ais_context *context, const char *directory, const char *text, ais_draws **draws) {
    const char *path = scratch_path(directory, "a.csv");
    scratch_write(path, text, strlen(text));
    return ais_draws_read(context, &path, 1, draws);
}

/* ---- CSV ------------------------------------------------------------------------------------------- */

typedef struct good_csv {
    const char *text;
    int dim, stats, draws;
    bool logp;
    double first, last; /* of the first parameter */
} good_csv;

static void good_csv_is_read(void **state) {
    static const good_csv good[] = {
        {"a,b\n1,2\n3,4\n", 2, 0, 2, false, 1, 3},
        {"a,b\r\n1,2\r\n3,4\r\n", 2, 0, 2, false, 1, 3},
        {"\xef\xbb\xbf"
         "a\n1.5\n",
         1, 0, 1, false, 1.5, 1.5},
        {"lp__,x.1.2\n-1,2e-3\n# in the middle\n\n-2,0x1p-3\n", 1, 0, 2, true, 2e-3, 0.125},
        {"x,lp__,energy__,__\n1,2,3,4\n", 2, 1, 1, true, 1, 1},
        {" a , b\n 1 ,\t2 \n", 2, 0, 1, false, 1, 1},
        {"\"a,1\",\"b\"\"c\"\n1,2\n", 2, 0, 1, false, 1, 1},
        {"a\nnan\nNaN\n-inf\nInfinity\n", 1, 0, 4, false, NAN, INFINITY},
        {"# num_warmup = 3\n# save_warmup = 1\na\n1\n2\n3\n4\n5\n", 1, 0, 2, false, 4, 5},
        {"#     num_warmup = 3\n#     save_warmup = true\n#   thin = 1 (Default)\na\n1\n2\n3\n4\n5\n", 1, 0, 2, false,
         4, 5},
        {"# num_warmup = 3\n# save_warmup = 0 (Default)\na\n1\n2\n3\n4\n5\n", 1, 0, 5, false, 1, 5},
        {"# num_warmup = 3\n# save_warmup = false (Default)\na\n1\n2\n", 1, 0, 2, false, 1, 2},
        {"# num_warmup = 3\n# save_warmup = 1\n# thin = 2\na\n1\n2\n3\n4\n", 1, 0, 2, false, 3, 4},
        {"# num_warmup = 4\n# save_warmup = 1\n# thin = 3\na\n1\n2\n3\n4\n", 1, 0, 2, false, 3, 4},
        {"# warmup=2\n# save_warmup=1\na\n1\n2\n3\n", 1, 0, 1, false, 3, 3}, /* rstan */
        {"# num_warmup = 2\n# save_warmup = 1\n# algorithm = fixed_param\na\n1\n2\n", 1, 0, 2, false, 1, 2},
        {"# aisampler.save_warmup = 1\n# num_warmup = 2\na\n1\n# save_warmup = 1\n2\n", 1, 0, 2, false, 1, 2},
        {"# method = sample (Default)\na\n1\n# no newline at the end", 1, 0, 1, false, 1, 1},
    };
    for (size_t k = 0; k < sizeof good / sizeof *good; k++) {
        ais_context context = {0};
        ais_draws *draws;
        if (read_text(&context, *state, good[k].text, &draws) != AIS_OK) fail_msg("case %zu: %s", k, context.message);
        assert_int_equal(draws->dim, good[k].dim);
        assert_int_equal(draws->stats, good[k].stats);
        assert_int_equal(draws->draws, good[k].draws);
        assert_int_equal(draws->chains, 1);
        assert_int_equal(draws->logp != NULL, good[k].logp);
        double first = draws->value[0], last = draws->value[draws->draws - 1];
        assert_true(first == good[k].first || (isnan(first) && isnan(good[k].first)));
        assert_true(last == good[k].last);
        ais_draws_free(draws);
    }
}

static void bad_csv_is_refused(void **state) {
    static const char *const bad[][2] = {
        {"", "is empty"},
        {"\n\n", "is empty"},
        {"# only\n# comments\n", "is empty"},
        {"a,b\n", "no draws"},
        {"a,b\n1,2\n3", "a.csv:3: the last line does not end"},
        {"a,b\n1,2\n3,4", "a.csv:3: the last line does not end"},
        {"a,b", "a.csv:1: the last line does not end"},
        {"a,b\n1,2\n3\n", "a.csv:3: 1 values where the header has 2"},
        {"a,b\n1,2\n3,4,5\n", "a.csv:3: 3 values where the header has 2"},
        {"a,b\n1,2\n3,4,\n", "a.csv:3: 3 values where the header has 2"},
        {"a,b\n1,\n", "a.csv:2: '' in column 2 (b)"},
        {"a,b\n1,NA\n", "'NA' in column 2 (b) is not a number"},
        {"a,b\n1,2x\n", "'2x' in column 2 (b) is not a number"},
        {"a,b\n1;2,3\n", "'1;2' in column 1 (a) is not a number"},
        {"1,2\n3,4\n", "a.csv:1: numbers where the names"},
        {"a,,b\n1,2,3\n", "a.csv:1: column 2 has no name"},
        {"\"\",\"a\"\n\"1\",2\n", "column 1 has no name"},
        {"a,b,a\n1,2,3\n", "column 'a' occurs twice"},
        {"lp__,energy__\n1,2\n", "no parameters"},
        {"# num_warmup = 3\n# save_warmup = 1\na\n1\n2\n3\n", "all of them warm-up"},
        {"# num_warmup = 9223372036854775807\n# save_warmup = 1\na\n1\n", "all of them warm-up"},
        {"# method = optimize\na\n1\n", "'optimize'"},
    };
    for (size_t k = 0; k < sizeof bad / sizeof *bad; k++) {
        ais_context context = {0};
        ais_draws *draws;
        assert_int_equal(read_text(&context, *state, bad[k][0], &draws), AIS_BAD_FORMAT);
        assert_null(draws);
        if (!strstr(context.message, bad[k][1])) fail_msg("'%s' does not say '%s'", context.message, bad[k][1]);
    }
    ais_context context = {0};
    ais_draws *draws;
    const char *path = scratch_path(*state, "zero.csv");
    scratch_write(path, "a,b\n1,\0002\n", 9);
    assert_int_equal(ais_draws_read(&context, &path, 1, &draws), AIS_BAD_FORMAT);
    path = scratch_path(*state, "missing.csv");
    assert_int_equal(ais_draws_read(&context, &path, 1, &draws), AIS_FILE_ERROR);
    assert_non_null(strstr(context.message, "missing.csv"));
    path = *state; /* a directory */
    assert_int_equal(ais_draws_read(&context, &path, 1, &draws), AIS_FILE_ERROR);
    assert_int_equal(ais_draws_read(&context, &path, 0, &draws), AIS_BAD_ARGUMENT);
}

static void chains_must_belong_together(void **state) {
    static const struct {
        const char *text, *says;
    } other[] = {
        {"lp__,e__,a,b\n1,2,3,4\n5,6,7,8\n", NULL},
        {"lp__,e__,a,c\n1,2,3,4\n5,6,7,8\n", "parameter 2 is 'c' in "},
        {"lp__,e__,a\n1,2,3\n5,6,7\n", "b.csv has 1 parameters and "},
        {"lp__,f__,a,b\n1,2,3,4\n5,6,7,8\n", "statistic 1 is 'f__' in "},
        {"e__,a,b\n2,3,4\n6,7,8\n", "has a log density"},
        {"lp__,e__,a,b\n1,2,3,4\n", "b.csv has 1 draws and "},
    };
    const char *path[2] = {scratch_path(*state, "a.csv"), scratch_path(*state, "b.csv")};
    const char *text = "lp__,e__,a,b\n10,20,30,40\n50,60,70,80\n";
    scratch_write(path[0], text, strlen(text));
    for (size_t k = 0; k < sizeof other / sizeof *other; k++) {
        ais_context context = {0};
        ais_draws *draws;
        scratch_write(path[1], other[k].text, strlen(other[k].text));
        ais_status status = ais_draws_read(&context, path, 2, &draws);
        if (other[k].says) {
            assert_int_equal(status, AIS_BAD_FORMAT);
            assert_non_null(strstr(context.message, other[k].says));
            continue;
        }
        static const double a[] = {30, 70, 3, 7}, b[] = {40, 80, 4, 8}, e[] = {20, 60, 2, 6}, lp[] = {10, 50, 1, 5};
        assert_int_equal(status, AIS_OK);
        assert_int_equal(draws->chains, 2);
        assert_memory_equal(ais_draws_column(draws, "a"), a, sizeof a);
        assert_memory_equal(ais_draws_column(draws, "b"), b, sizeof b);
        assert_memory_equal(ais_draws_column(draws, "e__"), e, sizeof e);
        assert_memory_equal(draws->logp, lp, sizeof lp);
        ais_draws_free(draws);
    }
}

/* ---- netCDF ----------------------------------------------------------------------------------------- */

static void write_netcdf(const char *directory, int draws) {
    ais_context context = {0};
    demo_run run = {.target = {.name = "demo", .dim = 3}, .chains = 2, .draws = draws, .info = 127, .chunk = 10};
    run.draws_stop = -1;
    ais_sink *sink;
    assert_int_equal(ais_sink_netcdf(&context, directory, &sink), AIS_OK);
    assert_int_equal(demo_feed(&context, &run, sink), AIS_OK);
    ais_sink_free(sink);
}

static void a_cut_file_is_refused(void **state) {
    write_netcdf(*state, 20);
    size_t bytes = 0;
    char *text = scratch_read(scratch_path(*state, "draws.nc"), &bytes);
    for (size_t k = 0; k < 24; k++) {
        ais_context context = {0};
        ais_draws *draws;
        const char *path = scratch_path(*state, "cut.nc");
        scratch_write(path, text, k == 0 ? bytes - 1 : k == 1 ? 8 : bytes * k / 24);
        assert_int_equal(ais_draws_read(&context, &path, 1, &draws), AIS_BAD_FORMAT);
        assert_null(draws);
        assert_non_null(strstr(context.message, "cut.nc"));
    }
    free(text);
}

/* Whatever stands in the file, the answer is draws or a message. */
static void a_damaged_file_never_crashes(void **state) {
    write_netcdf(*state, 20);
    size_t bytes = 0;
    char *text = scratch_read(scratch_path(*state, "draws.nc"), &bytes);
    int refused = 0;
    for (int k = 0; k < 120; k++) {
        ais_context context = {0};
        ais_draws *draws;
        char *copy = malloc(bytes);
        memcpy(copy, text, bytes);
        uint64_t bits = demo_bits(11, 0, k, 0, 0);
        for (int i = 0; i < (k % 3 ? 2 : 400); i++) copy[demo_bits(bits, 0, i, 0, 0) % bytes] ^= (char)(1 << bits % 8);
        const char *path = scratch_path(*state, "damaged.nc");
        scratch_write(path, copy, bytes);
        ais_status status = ais_draws_read(&context, &path, 1, &draws);
        refused += status != AIS_OK;
        assert_true(status == AIS_OK ? draws != NULL : draws == NULL && context.message[0]);
        ais_draws_free(draws);
        free(copy);
    }
    assert_true(refused > 10);
    /* What is mended under the same name (and inode) is then read as it is. */
    ais_context context = {0};
    ais_draws *draws, *whole;
    const char *path[2] = {scratch_path(*state, "damaged.nc"), scratch_path(*state, "draws.nc")};
    scratch_write(path[0], text, bytes);
    assert_int_equal(ais_draws_read(&context, &path[0], 1, &draws), AIS_OK);
    assert_int_equal(ais_draws_read(&context, &path[1], 1, &whole), AIS_OK);
    assert_memory_equal(draws->value, whole->value, 3 * 2 * 20 * sizeof(double));
    assert_memory_equal(draws->stat, whole->stat, 7 * 2 * 20 * sizeof(double));
    ais_draws_free(draws);
    ais_draws_free(whole);
    free(text);
}

/* HDF5 goes round in circles where an object of a global heap has the size 0: the file is refused all the same, soon.
 */
static void a_file_in_circles_is_refused(void **state) {
    ais_context context = {0};
    ais_draws *draws;
    size_t bytes = 0;
    write_netcdf(*state, 20);
    char *text = scratch_read(scratch_path(*state, "draws.nc"), &bytes);
    int heaps = 0;
    for (size_t at = 0; at + 32 <= bytes; at++)
        if (memcmp(text + at, "GCOL", 4) == 0 && ++heaps) memset(text + at + 16, 0, 16); /* the first object's head */
    assert_true(heaps > 0);
    const char *path = scratch_path(*state, "circles.nc");
    scratch_write(path, text, bytes);
    struct rusage before, after;
    getrusage(RUSAGE_CHILDREN, &before);
    assert_int_equal(ais_draws_read(&context, &path, 1, &draws), AIS_BAD_FORMAT);
    getrusage(RUSAGE_CHILDREN, &after);
    assert_non_null(strstr(context.message, "the file is damaged"));
    assert_true(after.ru_utime.tv_sec - before.ru_utime.tv_sec < 4);
    free(text);
}

/* A file of a few kilobytes that says it holds a thousand million draws. */
static void a_claim_without_data_is_refused(void **state) {
    ais_context context = {0};
    ais_draws *draws;
    const char *path = scratch_path(*state, "claim.nc");
    int file, group, dimension[2], variable;
    size_t at[2] = {0, 1000000000}, storage[2] = {1, 16};
    double value = 1;
    assert_int_equal(nc_create(path, NC_NETCDF4, &file), 0);
    assert_int_equal(nc_def_grp(file, "posterior", &group), 0);
    assert_int_equal(nc_def_dim(group, "chain", 1, &dimension[0]), 0);
    assert_int_equal(nc_def_dim(group, "draw", NC_UNLIMITED, &dimension[1]), 0);
    assert_int_equal(nc_def_var(group, "x", NC_DOUBLE, 2, dimension, &variable), 0);
    assert_int_equal(nc_def_var_chunking(group, variable, NC_CHUNKED, storage), 0);
    assert_int_equal(nc_put_var1_double(group, variable, at, &value), 0);
    assert_int_equal(nc_close(file), 0);
    assert_int_equal(ais_draws_read(&context, &path, 1, &draws), AIS_BAD_FORMAT);
    assert_non_null(strstr(context.message, "claims 1 chains of 1000000001 draws"));
}

static void a_file_without_parameters_is_refused(void **state) {
    ais_context context = {0};
    ais_draws *draws;
    const char *path = scratch_path(*state, "none.nc");
    int file, group, dimension, variable;
    assert_int_equal(nc_create(path, NC_NETCDF4, &file), 0);
    assert_int_equal(nc_def_grp(file, "prior", &group), 0);
    assert_int_equal(nc_close(file), 0);
    assert_int_equal(ais_draws_read(&context, &path, 1, &draws), AIS_BAD_FORMAT);
    assert_non_null(strstr(context.message, "no group 'posterior'"));
    assert_non_null(strstr(context.message, "it has prior"));
    assert_int_equal(nc_create(path, NC_NETCDF4, &file), 0);
    assert_int_equal(nc_def_grp(file, "posterior", &group), 0);
    assert_int_equal(nc_def_dim(group, "chain", 2, &dimension), 0);
    assert_int_equal(nc_def_var(group, "x", NC_DOUBLE, 1, &dimension, &variable), 0);
    assert_int_equal(nc_close(file), 0);
    assert_int_equal(ais_draws_read(&context, &path, 1, &draws), AIS_BAD_FORMAT);
    assert_non_null(strstr(context.message, "dimensions chain and draw"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(good_csv_is_read, scratch_setup, scratch_teardown),
        cmocka_unit_test_setup_teardown(bad_csv_is_refused, scratch_setup, scratch_teardown),
        cmocka_unit_test_setup_teardown(chains_must_belong_together, scratch_setup, scratch_teardown),
        cmocka_unit_test_setup_teardown(a_cut_file_is_refused, scratch_setup, scratch_teardown),
        cmocka_unit_test_setup_teardown(a_damaged_file_never_crashes, scratch_setup, scratch_teardown),
        cmocka_unit_test_setup_teardown(a_file_in_circles_is_refused, scratch_setup, scratch_teardown),
        cmocka_unit_test_setup_teardown(a_claim_without_data_is_refused, scratch_setup, scratch_teardown),
        cmocka_unit_test_setup_teardown(a_file_without_parameters_is_refused, scratch_setup, scratch_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
