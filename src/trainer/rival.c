#include "trainer/rival.h"

#include <stdio.h>
#include <stdlib.h>

#include <aisampler/diagnostics.h>

#include "diagnostics/worst.h"
#include "judge/short_run.h"
#include "simd/isa.h"

enum { CHAINS = 8, WARMUP = 200, DRAWS = 250 };

/* Worst ESS per second of one thread. A learned kernel moves a block of chains at the cost of one. */
static ais_status speed(ais_context *context, const ais_population *population, const ais_kernel *kernel, uint64_t seed,
                        double *start, double *x, double *rate) {
    const ais_target *target = population->target;
    size_t dim = (size_t)target->dim;
    bool learned = ais_kernel_shape(kernel) != NULL;
    for (int c = 0; c < CHAINS; c++)
        ais_population_point(population, c * population->chains / CHAINS, start + (size_t)c * dim);
    ais_short_run run = {
        .chains = CHAINS, .warmup = learned ? 0 : WARMUP, .draws = DRAWS, .seed = seed, .start = start, .x = x};
    ais_status status = ais_short_run_go(context, target, kernel, population->pool, &run);
    if (status != AIS_OK) return status;
    double lanes = learned ? AIS_LANES : 1; /* a short run pads one chain to this many */
    status = ais_find_worst_ess(context, target->dim, CHAINS, DRAWS, x, rate);
    if (status != AIS_OK) return status;
    *rate *= lanes / run.seconds;
    return ais_ranks_first(context, ais_pool_ranks(population->pool), rate, sizeof *rate); /* one clock for all */
}

ais_status ais_compare_rivals(ais_context *context, const ais_population *population, const ais_kernel *kernel,
                              uint64_t seed, ais_training *training) {
    size_t dim = (size_t)population->target->dim;
    double *start = malloc(CHAINS * dim * sizeof *start), *x = malloc(dim * CHAINS * DRAWS * sizeof *x), rate;
    ais_status status = AIS_OK;
    if (!start || !x) status = ais_fail_memory(context, "short chains", dim * CHAINS * DRAWS * sizeof *x);
    if (status == AIS_OK) status = speed(context, population, kernel, seed, start, x, &training->ess_per_second);
    for (int nuts = 0; nuts < 2 && status == AIS_OK; nuts++) {
        if (nuts && !population->target->grad) break;
        ais_kernel *rival;
        status = nuts ? ais_kernel_nuts(context, NULL, &rival) : ais_kernel_rwm(context, NULL, &rival);
        if (status != AIS_OK) break;
        status = speed(context, population, rival, seed + 1, start, x, &rate);
        if (status == AIS_OK && rate > training->rival_ess_per_second) {
            training->rival_ess_per_second = rate;
            snprintf(training->rival, sizeof training->rival, "%s", ais_kernel_name(rival));
        }
        ais_kernel_free(rival);
    }
    free(start);
    free(x);
    return status;
}
