#include "anice/bootstrap.h"

#include "judge/short_run.h"

ais_status ais_bootstrap_first(ais_context *context, const ais_target *target, ais_pool *pool, ais_bootstrap *run) {
    ais_short_run first = {
        .chains = run->chains, .warmup = run->burn_in, .draws = run->draws, .seed = run->seed, .x = run->x};
    ais_hmc_options options = {.leapfrogs = 10, .target_accept = 0.65};
    ais_kernel *kernel = NULL;
    ais_status status =
        target->grad ? ais_kernel_hmc(context, &options, &kernel) : ais_kernel_rwm(context, NULL, &kernel);
    if (status == AIS_OK) status = ais_short_run_go(context, target, kernel, pool, &first);
    ais_kernel_free(kernel);
    return status;
}

static ais_status go(ais_context *context, const ais_kernel *kernel, ais_state *state, ais_bootstrap *run) {
    size_t dim = (size_t)state->target->dim, chains = (size_t)run->chains, draws = (size_t)run->draws;
    ais_info *info = AIS_TAKE(&state->arena, ais_info, chains);
    void *own;
    if (!info) return ais_fail_memory(context, "a bootstrap", chains * sizeof *info);
    ais_status status = kernel->type->init(context, kernel, state, &own);
    run->acceptance = 0;
    for (int t = -run->burn_in; status == AIS_OK && t < run->draws; t++, state->step++) {
        status = kernel->type->step(context, kernel, state, own, info);
        for (size_t c = 0; c < chains && t >= 0; c++) {
            run->acceptance += info[c].accept_stat / (double)(chains * draws);
            for (size_t i = 0; i < dim; i++)
                run->x[(i * chains + c) * draws + (size_t)t] = state->x[i * (size_t)state->lanes + c];
        }
    }
    return status;
}

ais_status ais_bootstrap_own(ais_context *context, const ais_target *target, const ais_kernel *kernel,
                             ais_bootstrap *run) {
    ais_state *state;
    ais_status status = ais_state_new(context, target, run->seed, 0, run->chains, (uint64_t)run->burn_in, NULL, &state);
    if (status == AIS_OK) status = go(context, kernel, state, run);
    ais_state_free(state);
    return status;
}
