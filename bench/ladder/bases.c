/* What a ladder's base is worth: round trips per 100,000 evaluations of ladders that differ in nothing else.
 *
 *     build/bench/bases [SEED...]          from the root of the repository; seeds 21 22 23 if none are given
 *
 * fixed     the normal density of the search region, which stays as it is: parallel tempering from a given reference
 * affine    a normal density that is fitted to replicas after every round, as learning does it before it learns maps
 * learned   what `aisampler sample --sampler ladder` ends with
 *
 * All three have the same kind of local moves, rungs of equal rejection, as many as the barrier asks for, and the same
 * number of steps to adapt before a map is learned. What is counted are the draws afterwards, nothing before them. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <aisampler/aisampler.h>

#include "explore/climb.h"
#include "trainer/map_learning.h"

enum { CHAINS = AIS_CLIMBERS, WARMUP = 200, DRAWS = 1000, THREADS = 2, FIXED = 0, AFFINE, LEARNED, BASES };

typedef struct result {
    double trips;   /* per 100,000 evaluations */
    double barrier; /* of the draws */
    double worst;   /* ESS per 100,000 evaluations */
    int rungs;
} result;

/* ---- ladders without a learned map ----------------------------------------------------------------- */

static ais_status region(ais_context *context, const ais_target *target, ais_kernel **map) {
    size_t dim = (size_t)target->dim;
    double *mean = calloc(dim + dim * dim, sizeof *mean);
    if (!mean) return ais_fail_memory(context, "a base", dim * dim * sizeof *mean);
    for (size_t i = 0; i < dim; i++) mean[dim + i * dim + i] = target->start_scale;
    ais_status status = ais_map_affine(context, mean, mean + dim, (int)dim, map);
    free(mean);
    return status;
}

/* start: CHAINS x dim, where the tops begin and then where they are. */
static ais_status climb_by_hand(ais_context *context, const ais_target *target, ais_pool *pool, uint64_t seed,
                                bool affine, double *start, ais_kernel **kernel) {
    enum { RUNGS = 12, FIRST = 32, ROUNDS = 5 }; /* as in src/trainer/map_ladder.c */
    ais_climb climb = {0};
    ais_kernel *map = NULL;
    size_t dim = (size_t)target->dim;
    ais_status status = region(context, target, &map);
    if (status == AIS_OK) status = ais_climb_begin(context, &climb, target, pool, seed, map, RUNGS, CHAINS, start);
    for (int r = 0; r < ROUNDS && status == AIS_OK; r++) {
        status = ais_climb_round(context, &climb, FIRST << r, true);
        if (status != AIS_OK) break;
        if (affine) status = ais_climb_refit(context, &climb);
        ais_climb_respace(&climb);
    }
    if (status == AIS_OK) status = ais_climb_round(context, &climb, FIRST << ROUNDS, true);
    for (size_t c = 0; c < CHAINS && status == AIS_OK; c++)
        for (size_t i = 0; i < dim; i++)
            start[c * dim + i] = climb.draws[(i * CHAINS + c + 1) * (size_t)climb.steps - 1];
    if (status == AIS_OK) status = ais_climb_kernel(context, &climb, kernel);
    ais_climb_free(&climb);
    return status;
}

/* ---- measuring ------------------------------------------------------------------------------------- */

static ais_status draw(ais_context *context, const ais_target *target, const ais_kernel *kernel, uint64_t seed,
                       const double *start, result *told) {
    ais_sink *memory = NULL;
    ais_diagnosis *diagnosis = NULL;
    ais_sample_result count = {0};
    const ais_sample_options options = {
        .seed = seed, .chains = CHAINS, .warmup = WARMUP, .draws = DRAWS, .threads = THREADS, .start = start};
    ais_status status = ais_sink_memory(context, &memory);
    if (status == AIS_OK) status = ais_sample(context, target, kernel, &options, &memory, 1, &count);
    ais_draws *draws = status == AIS_OK ? ais_sink_memory_take(memory) : NULL;
    if (status == AIS_OK) status = ais_diagnose(context, draws, NULL, &diagnosis);
    if (status == AIS_OK) {
        double spent =
            (double)(count.densities + count.gradients - count.start_evaluations - count.warmup_evaluations) / 1e5;
        *told = (result){.trips = diagnosis->round_trips / spent,
                         .barrier = diagnosis->barrier,
                         .worst = diagnosis->worst_ess * diagnosis->chains / spent,
                         .rungs = ais_as_ladder(kernel)->rungs};
    }
    ais_diagnosis_free(diagnosis);
    ais_draws_free(draws);
    ais_sink_free(memory);
    return status;
}

/* Tops of all three begin at draws of the learned one's, so that none has anything to find. */
static ais_status measure(ais_context *context, const ais_target *target, uint64_t seed, result told[BASES]) {
    ais_kernel *kernel[BASES] = {0};
    ais_training *training = NULL;
    ais_pool *pool = NULL;
    size_t dim = (size_t)target->dim;
    double *start = malloc(CHAINS * dim * sizeof *start);
    const ais_train_options options = {.seed = seed, .threads = THREADS, .ladder = true};
    ais_status status = start ? ais_train(context, target, &options, &kernel[LEARNED], &training)
                              : ais_fail_memory(context, "starting points", CHAINS * dim * sizeof *start);
    if (status == AIS_OK) status = ais_pool_new(context, THREADS, &pool);
    for (int b = LEARNED; b >= 0 && status == AIS_OK; b--) {
        for (size_t c = 0; c < CHAINS; c++)
            memcpy(start + c * dim, training->x + c * (size_t)training->count / CHAINS * dim, dim * sizeof *start);
        if (b != LEARNED) status = climb_by_hand(context, target, pool, seed, b == AFFINE, start, &kernel[b]);
        if (status == AIS_OK) status = draw(context, target, kernel[b], seed, start, &told[b]);
    }
    for (int b = 0; b < BASES; b++) ais_kernel_free(kernel[b]);
    ais_training_free(training);
    ais_pool_free(pool);
    free(start);
    return status;
}

static void print_row(const char *name, uint64_t seed, const result told[BASES]) {
    printf("| %s, %llu |", name, (unsigned long long)seed);
    for (int b = 0; b < BASES; b++) printf(" %d, %.2f |", told[b].rungs, told[b].barrier);
    for (int b = 0; b < BASES; b++) printf(" %.3g |", told[b].trips);
    printf(" %.3g, %.3g |", told[LEARNED].trips / told[FIXED].trips, told[LEARNED].trips / told[AFFINE].trips);
    for (int b = 0; b < BASES; b++) printf(b ? ", %.3g" : " %.3g", told[b].worst);
    printf(" |\n");
    fflush(stdout);
}

int main(int count, char **word) {
    static const char *const names[] = {"manywell8", "manywell32", "phi4", "pair50"};
    static char *usual[] = {"", "21", "22", "23"};
    if (count < 2) count = 4, word = usual;
    printf("| target, seed | fixed: rungs, barrier | affine | learned | round trips per 100,000 evaluations: fixed | "
           "affine | learned | learned over fixed, over affine | effective draws per 100,000 evaluations |\n"
           "|---|---|---|---|---|---|---|---|---|\n");
    for (size_t t = 0; t < sizeof names / sizeof *names; t++) {
        ais_context context = {0};
        ais_target *target = NULL;
        char path[128];
        snprintf(path, sizeof path, "bench/ladder/targets/%s.c", names[t]);
        ais_status status = ais_target_open(&context, path, &target);
        for (int s = 1; s < count && status == AIS_OK; s++) {
            result told[BASES];
            uint64_t seed = strtoull(word[s], NULL, 10);
            status = measure(&context, target, seed, told);
            if (status == AIS_OK) print_row(names[t], seed, told);
        }
        ais_target_close(target);
        if (status != AIS_OK) {
            fprintf(stderr, "bases: %s: %s\n", names[t], context.message);
            return 1;
        }
    }
    return 0;
}
