#include "judge/short_run.h"

#include <time.h>

typedef struct task {
    const ais_target *target;
    const ais_kernel *kernel;
    const ais_short_run *run;
    double *seconds; /* of each chain */
    ais_status *status;
    ais_context *context;
} task;

static double thread_seconds(void) {
    struct timespec time;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static void run_chain(void *data, int c) {
    const task *this = data;
    const ais_short_run *run = this->run;
    size_t dim = (size_t)this->target->dim;
    ais_context *context = &this->context[c];
    ais_state *state = NULL;
    ais_info info;
    void *own;
    const double *start = run->start ? run->start + (size_t)c * dim : NULL;
    ais_status status =
        ais_state_new(context, this->target, run->seed, (uint32_t)c, 1, (uint64_t)run->warmup, start, &state);
    if (status == AIS_OK) status = this->kernel->type->init(context, this->kernel, state, &own);
    double began = 0;
    for (int t = 0; status == AIS_OK && t < run->warmup + run->draws; t++) {
        if (t == run->warmup) began = thread_seconds();
        status = this->kernel->type->step(context, this->kernel, state, own, &info);
        state->step++;
        for (size_t i = 0; i < dim && t >= run->warmup; i++)
            run->x[(i * (size_t)run->chains + (size_t)c) * (size_t)run->draws + (size_t)(t - run->warmup)] =
                state->x[i * (size_t)state->lanes];
    }
    this->seconds[c] = thread_seconds() - began;
    this->status[c] = status;
    ais_state_free(state);
}

ais_status ais_short_run_go(ais_context *context, const ais_target *target, const ais_kernel *kernel, ais_pool *pool,
                            ais_short_run *run) {
    ais_arena arena = {0};
    size_t chains = (size_t)run->chains;
    task this = {.target = target,
                 .kernel = kernel,
                 .run = run,
                 .seconds = AIS_TAKE(&arena, double, chains),
                 .status = AIS_TAKE(&arena, ais_status, chains),
                 .context = AIS_TAKE(&arena, ais_context, chains)};
    ais_status status = AIS_OK;
    if (!this.seconds || !this.status || !this.context)
        status = ais_fail_memory(context, "short chains", chains * sizeof(ais_context));
    if (status == AIS_OK) ais_pool_run(pool, run->chains, run_chain, &this);
    run->seconds = 0;
    for (size_t c = 0; status == AIS_OK && c < chains; c++) {
        run->seconds += this.seconds[c];
        if (this.status[c] == AIS_OK) continue;
        *context = this.context[c];
        status = this.status[c];
    }
    ais_arena_free(&arena);
    return status;
}
