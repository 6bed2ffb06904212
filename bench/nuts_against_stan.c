/* NUTS on a target, for comparison with Stan's: bench/nuts_against_stan.py compiles and calls it.
 *     nuts_against_stan TARGET FILE CHAINS WARMUP DRAWS SEED [dense]
 * writes the draws into FILE (doubles, chains x draws x dim) and one JSON line of totals to stdout. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "kernel/kernel.h"

typedef struct totals {
    double leapfrogs, warmup_leapfrogs, acceptance, step_size, divergences;
} totals;

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static ais_status run(ais_context *context, const ais_kernel *kernel, ais_state *state, uint64_t draws, double *x,
                      totals *sum) {
    size_t dim = (size_t)state->target->dim;
    void *own;
    ais_info *info = AIS_TAKE(&state->arena, ais_info, state->chains);
    if (!info) return ais_fail_memory(context, "info", 0);
    ais_status status = kernel->type->init(context, kernel, state, &own);
    for (uint64_t t = 0; status == AIS_OK && t < state->warmup + draws; t++, state->step++) {
        status = kernel->type->step(context, kernel, state, own, info);
        for (int c = 0; status == AIS_OK && c < state->chains; c++) {
            if (t < state->warmup) {
                sum->warmup_leapfrogs += info[c].n_leapfrog;
                continue;
            }
            sum->leapfrogs += info[c].n_leapfrog;
            sum->acceptance += info[c].accept_stat;
            sum->step_size += info[c].step_size;
            sum->divergences += info[c].divergent;
            double *row = x + ((size_t)c * draws + t - state->warmup) * dim;
            for (size_t i = 0; i < dim; i++) row[i] = state->x[i * (size_t)state->lanes + (size_t)c];
        }
    }
    return status;
}

int main(int count, char **argument) {
    if (count < 7) {
        fprintf(stderr, "usage: nuts_against_stan TARGET FILE CHAINS WARMUP DRAWS SEED [dense]\n");
        return 2;
    }
    int chains = atoi(argument[3]);
    uint64_t warmup = strtoull(argument[4], NULL, 10), draws = strtoull(argument[5], NULL, 10);
    ais_nuts_options options = {.dense = count > 7 && strcmp(argument[7], "dense") == 0};
    ais_context context = {0};
    ais_target *target = NULL;
    ais_kernel *kernel = NULL;
    ais_state *state = NULL;
    totals sum = {0};
    double *x = NULL, start = now();
    ais_status status = ais_target_open(&context, argument[1], &target);
    if (status == AIS_OK) status = ais_kernel_nuts(&context, &options, &kernel);
    if (status == AIS_OK)
        status = ais_state_new(&context, target, strtoull(argument[6], NULL, 10), 0, chains, warmup, NULL, &state);
    if (status == AIS_OK) {
        x = calloc((size_t)chains * draws * (size_t)target->dim, sizeof *x);
        status = x ? run(&context, kernel, state, draws, x, &sum) : ais_fail_memory(&context, "draws", 0);
    }
    double seconds = now() - start, total = (double)chains * (double)draws;
    FILE *file = status == AIS_OK ? fopen(argument[2], "wb") : NULL;
    if (file) {
        size_t size = (size_t)chains * draws * (size_t)target->dim;
        if (fwrite(x, sizeof *x, size, file) != size) status = AIS_FILE_ERROR;
        if (fclose(file) != 0) status = AIS_FILE_ERROR;
        printf(
            "{\"dim\": %d, \"seconds\": %.3f, \"leapfrogs\": %.4f, \"warmup_leapfrogs\": %.4f, \"acceptance\": %.4f, "
            "\"step_size\": %.5f, \"divergences\": %.0f}\n",
            target->dim, seconds, sum.leapfrogs / total, sum.warmup_leapfrogs / (chains * (double)warmup),
            sum.acceptance / total, sum.step_size / total, sum.divergences);
    } else {
        fprintf(stderr, "nuts_against_stan: %s\n", context.message);
    }
    ais_state_free(state);
    ais_kernel_free(kernel);
    ais_target_close(target);
    free(x);
    return file && status == AIS_OK ? 0 : 1;
}
