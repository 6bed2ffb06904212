/* Made-up runs, their files and how to compare them; for cmocka programs. */
#ifndef TESTS_DRAWS_SUPPORT_H
#define TESTS_DRAWS_SUPPORT_H

#include "scratch.h" /* first: it asks for nftw */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "demo_run.h"

enum { ALL_INFO = (1 << AIS_INFO_COUNT) - 1 };

static inline demo_run a_run(int dim, int chains, int draws) {
    return (demo_run){.target = {.name = "demo", .dim = dim},
                      .chains = chains,
                      .draws = draws,
                      .info = ALL_INFO,
                      .chunk = 10,
                      .warmup_stop = -1,
                      .draws_stop = -1,
                      .seed = 3,
                      .seconds = 0.5};
}

static inline ais_sink *file_sink(int netcdf, const char *directory) {
    ais_context context = {0};
    ais_sink *sink = NULL;
    ais_status status =
        netcdf ? ais_sink_netcdf(&context, directory, &sink) : ais_sink_stan_csv(&context, directory, &sink);
    assert_int_equal(status, AIS_OK);
    return sink;
}

static inline void write_files(const demo_run *run, int netcdf, const char *directory) {
    ais_context context = {0};
    ais_sink *sink = file_sink(netcdf, directory);
    if (demo_feed(&context, run, sink) != AIS_OK) fail_msg("%s", context.message);
    ais_sink_free(sink);
}

static inline ais_draws *read_files(const demo_run *run, int netcdf, const char *directory) {
    ais_context context = {0};
    ais_draws *draws = NULL;
    int count = netcdf ? 1 : run->chains;
    char(*path)[512] = calloc((size_t)count, sizeof *path);
    const char **list = calloc((size_t)count, sizeof *list);
    for (int c = 0; c < count; c++) {
        if (netcdf)
            snprintf(path[c], sizeof path[c], "%s/draws.nc", directory);
        else
            snprintf(path[c], sizeof path[c], "%s/draws-%d.csv", directory, c + 1);
        list[c] = path[c];
    }
    if (ais_draws_read(&context, list, count, &draws) != AIS_OK) fail_msg("%s", context.message);
    free(path);
    free(list);
    return draws;
}

static inline ais_draws *in_memory(const demo_run *run) {
    ais_context context = {0};
    ais_sink *sink;
    assert_int_equal(ais_sink_memory(&context, &sink), AIS_OK);
    assert_int_equal(demo_feed(&context, run, sink), AIS_OK);
    ais_draws *draws = ais_sink_memory_take(sink);
    assert_null(ais_sink_memory_take(sink));
    ais_sink_free(sink);
    return draws;
}

static inline void assert_same_draws(const ais_draws *a, const ais_draws *b) {
    assert_int_equal(a->dim, b->dim);
    assert_int_equal(a->chains, b->chains);
    assert_int_equal(a->draws, b->draws);
    assert_int_equal(a->stats, b->stats);
    size_t bytes = (size_t)a->chains * (size_t)a->draws * sizeof(double);
    for (int i = 0; i < a->dim; i++) assert_string_equal(a->name[i], b->name[i]);
    for (int i = 0; i < a->stats; i++) assert_string_equal(a->stat_name[i], b->stat_name[i]);
    assert_memory_equal(a->value, b->value, bytes * (size_t)a->dim);
    assert_memory_equal(a->logp, b->logp, bytes);
    if (a->stats) assert_memory_equal(a->stat, b->stat, bytes * (size_t)a->stats);
}

#endif
