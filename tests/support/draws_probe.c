/* Writes and reads files of draws for the scripts:
 *     draws_probe write csv|netcdf DIR [key=value ...]   a made-up run (demo_run.h)
 *     draws_probe read FILE...                           as CSV: chain, draw, lp__, statistics, parameters */
#include <stdio.h>
#include <string.h>

#include "demo_run.h"

static const char *const odd_names[] = {"beta,age", "beta \"x\"", "beta.age", "mu", "L.1.1", "L.2.1",
                                        "L.1.2",    "L.2.2",      "x.3",      "mu", "u__",   "chain"};

static int number(const char *argument, const char *key, int *value) {
    size_t length = strlen(key);
    if (strncmp(argument, key, length) != 0 || argument[length] != '=') return 0;
    *value = atoi(argument + length + 1);
    return 1;
}

static int failed(const ais_context *context) {
    fprintf(stderr, "draws_probe: %s\n", context->message);
    return 1;
}

static int write_run(int count, char **argument) {
    static const char *const config[] = {"kernel = spline", "thin = 3", "note = a = b, c", NULL};
    ais_context context = {0};
    int chains = 4, draws = 1000, warmup = 0, save = 0, dim = 3, chunk = 100, stop = -1, odd = 0, seed = 1, info = 127;
    int names = 0;
    for (int i = 2; i < count; i++) {
        const char *a = argument[i];
        if (!(number(a, "chains", &chains) || number(a, "draws", &draws) || number(a, "warmup", &warmup) ||
              number(a, "save", &save) || number(a, "dim", &dim) || number(a, "chunk", &chunk) ||
              number(a, "stop", &stop) || number(a, "odd", &odd) || number(a, "seed", &seed) ||
              number(a, "info", &info) || number(a, "names", &names))) {
            fprintf(stderr, "draws_probe: unknown option %s\n", a);
            return 2;
        }
    }
    demo_run run = {.target = {.name = "demo", .dim = names ? 12 : dim, .names = names ? odd_names : NULL},
                    .chains = chains,
                    .warmup = warmup,
                    .draws = draws,
                    .save_warmup = save,
                    .info = (unsigned)info,
                    .config = config,
                    .chunk = chunk,
                    .warmup_stop = -1,
                    .draws_stop = stop,
                    .odd = odd,
                    .seed = (uint64_t)seed,
                    .seconds = 0.125};
    ais_sink *sink;
    ais_status status = strcmp(argument[0], "csv") == 0 ? ais_sink_stan_csv(&context, argument[1], &sink)
                                                        : ais_sink_netcdf(&context, argument[1], &sink);
    if (status == AIS_OK) status = demo_feed(&context, &run, sink);
    ais_sink_free(sink);
    return status == AIS_OK ? 0 : failed(&context);
}

static int read_files(int count, char **path) {
    ais_context context = {0};
    ais_draws *draws;
    if (ais_draws_read(&context, (const char *const *)path, count, &draws) != AIS_OK) return failed(&context);
    size_t cells = (size_t)draws->chains * (size_t)draws->draws;
    printf("chain,draw%s", draws->logp ? ",lp__" : "");
    for (int i = 0; i < draws->stats; i++) printf(",%s", draws->stat_name[i]);
    for (int i = 0; i < draws->dim; i++) printf(",%s", draws->name[i]);
    for (size_t cell = 0; cell < cells; cell++) {
        printf("\n%zu,%zu", cell / (size_t)draws->draws, cell % (size_t)draws->draws);
        if (draws->logp) printf(",%.17g", draws->logp[cell]);
        for (size_t i = 0; i < (size_t)draws->stats; i++) printf(",%.17g", draws->stat[i * cells + cell]);
        for (size_t i = 0; i < (size_t)draws->dim; i++) printf(",%.17g", draws->value[i * cells + cell]);
    }
    printf("\n");
    ais_draws_free(draws);
    return 0;
}

int main(int count, char **argument) {
    if (count >= 4 && strcmp(argument[1], "write") == 0) return write_run(count - 2, argument + 2);
    if (count >= 3 && strcmp(argument[1], "read") == 0) return read_files(count - 2, argument + 2);
    fprintf(stderr, "usage: draws_probe write csv|netcdf DIR [key=value ...] | read FILE...\n");
    return 2;
}
