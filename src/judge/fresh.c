#include "judge/fresh.h"

#include <math.h>
#include <string.h>

#include "diagnostics/worst.h"

typedef struct run {
    const ais_population *population;
    const ais_kernel *kernel;
    uint64_t seed;
    int chains, draws;
    double *x;          /* dim x chains x draws */
    double *acceptance; /* blocks */
    ais_status *status;
    ais_context *context;
} run;

static ais_status run_chains(const run *this, int b, ais_context *context, double *start, ais_state **out) {
    const ais_population *population = this->population;
    const ais_kernel *kernel = this->kernel;
    size_t dim = (size_t)population->target->dim, size = (size_t)this->chains * (size_t)this->draws;
    ais_info info[AIS_BLOCK];
    void *own;
    /* spread over the whole population */
    for (int c = 0; c < AIS_BLOCK; c++) {
        uint64_t member = (uint64_t)(b * AIS_BLOCK + c) * (uint64_t)population->chains / (uint64_t)this->chains;
        ais_population_point(population, (int)(member % (uint64_t)population->chains), start + (size_t)c * dim);
    }
    ais_status status =
        ais_state_new(context, population->target, this->seed, (uint32_t)b * AIS_BLOCK, AIS_BLOCK, 0, start, out);
    if (status == AIS_OK) status = kernel->type->init(context, kernel, *out, &own);
    ais_state *state = *out;
    for (int t = 0; status == AIS_OK && t < this->draws; t++, state->step++) {
        status = kernel->type->step(context, kernel, state, own, info);
        for (size_t c = 0; c < AIS_BLOCK; c++) {
            size_t row = ((size_t)b * AIS_BLOCK + c) * (size_t)this->draws + (size_t)t;
            this->acceptance[b] += info[c].accept_stat;
            for (size_t i = 0; i < dim; i++) this->x[i * size + row] = state->x[i * AIS_BLOCK + c];
        }
    }
    return status;
}

static void run_block(void *data, int b) {
    const run *this = data;
    ais_arena arena = {0};
    ais_state *state = NULL;
    double *start = AIS_TAKE(&arena, double, (size_t)this->population->target->dim *AIS_BLOCK);
    this->status[b] = start ? run_chains(this, b, &this->context[b], start, &state)
                            : ais_fail_memory(&this->context[b], "fresh chains", 0);
    ais_state_free(state);
    ais_arena_free(&arena);
}

ais_status ais_fresh_draws(ais_context *context, const ais_population *population, const ais_kernel *kernel,
                           uint64_t seed, int chains, int draws, double *x, double *acceptance) {
    int blocks = chains / AIS_BLOCK;
    run this = {.population = population, .kernel = kernel, .seed = seed, .chains = chains, .draws = draws, .x = x};
    ais_arena arena = {0};
    this.acceptance = AIS_TAKE(&arena, double, blocks);
    this.status = AIS_TAKE(&arena, ais_status, blocks);
    this.context = AIS_TAKE(&arena, ais_context, blocks);
    ais_status status = AIS_OK;
    if (!this.acceptance || !this.status || !this.context)
        status = ais_fail_memory(context, "fresh chains", (size_t)blocks * sizeof(ais_context));
    if (status == AIS_OK) ais_pool_run(population->pool, blocks, run_block, &this);
    *acceptance = 0;
    for (int b = 0; status == AIS_OK && b < blocks; b++) {
        if (this.status[b] != AIS_OK) status = ais_fail(context, this.status[b], "%s", this.context[b].message);
        *acceptance += this.acceptance[b] / ((double)chains * draws);
    }
    ais_arena_free(&arena);
    return status;
}

ais_status ais_fresh_chains(ais_context *context, const ais_population *population, const ais_kernel *kernel,
                            uint64_t seed, int chains, int draws, ais_fresh_result *result) {
    int dim = population->target->dim;
    ais_arena arena = {0};
    chains = ((chains - 1) / AIS_BLOCK + 1) * AIS_BLOCK;
    size_t size = (size_t)dim * (size_t)chains * (size_t)draws;
    double *x = AIS_TAKE(&arena, double, size);
    *result = (ais_fresh_result){0};
    ais_status status = x ? ais_fresh_draws(context, population, kernel, seed, chains, draws, x, &result->acceptance)
                          : ais_fail_memory(context, "fresh chains", size * sizeof(double));
    if (status == AIS_OK) status = ais_find_worst_ess(context, dim, chains, draws, x, &result->worst_ess);
    result->worst_ess /= (double)chains * draws;
    ais_arena_free(&arena);
    return status;
}
