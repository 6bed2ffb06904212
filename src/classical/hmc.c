/* Hamiltonian Monte Carlo (Duane et al. 1987; Neal 2011): a fixed number of leapfrog steps, then an
 * accept test on the energy. A trajectory that leaves the support is rejected; its reverse leaves it
 * at the same point, so the chain stays reversible. */
#include <math.h>

#include "classical/classical.h"
#include "classical/tuning.h"

typedef struct hmc {
    ais_kernel kernel;
    ais_tuning_options tuning;
    int leapfrogs;
    double jitter;
} hmc;

typedef struct block {
    ais_tuned_chain *chain;
    ais_phase start, point;
} block;

static ais_status init(ais_context *context, const ais_kernel *kernel, ais_state *state, void **own) {
    const hmc *options = (const hmc *)kernel;
    int dim = state->target->dim;
    block *b = AIS_TAKE(&state->arena, block, 1);
    if (!b || !ais_phase_take(&b->start, &state->arena, dim) || !ais_phase_take(&b->point, &state->arena, dim))
        return ais_fail_memory(context, "hmc", 8 * (size_t)dim * sizeof(double));
    *own = b;
    return ais_tuned_chains_new(context, kernel, state, &options->tuning, &b->start, &b->point, &b->chain);
}

static ais_status step_chain(ais_context *context, const hmc *options, ais_state *state, block *b, int lane,
                             ais_info *info) {
    ais_tuned_chain *chain = &b->chain[lane];
    ais_phase *point = &b->point;
    int dim = state->target->dim, done = 0;
    ais_status status = ais_tuned_chain_load(context, state, chain, lane, point);
    if (status != AIS_OK) return status;
    ais_stream momentum = ais_state_stream(state, lane, AIS_FOR_MOMENTUM);
    ais_stream direction = ais_state_stream(state, lane, AIS_FOR_DIRECTION);
    ais_stream test = ais_state_stream(state, lane, AIS_FOR_TEST);
    ais_phase_kick(&chain->metric, &momentum, point);
    double step_size = chain->step_size;
    if (options->jitter > 0) step_size *= 1 + options->jitter * (2 * ais_random_uniform(&direction, 0) - 1);

    double before = ais_phase_energy(point, dim);
    while (done < options->leapfrogs && point->logp > -INFINITY) {
        status = ais_leapfrog(context, state->target, &chain->metric, step_size, point);
        if (status != AIS_OK) return status;
        done++;
    }
    double after = ais_phase_energy(point, dim);
    double acceptance = after < before ? 1 : exp(before - after);
    bool accepted = ais_random_uniform(&test, 0) < acceptance;
    if (accepted) ais_tuned_chain_move(state, chain, lane, point->x, point->gradient, point->logp);
    *info = (ais_info){.accept_stat = acceptance,
                       .step_size = step_size,
                       .n_leapfrog = done,
                       .divergent = after - before > AIS_DIVERGENT_ENERGY,
                       .energy = accepted ? after : before};
    return ais_tuned_chain_learn(context, state, chain, lane, acceptance, &b->start, point);
}

static ais_status step(ais_context *context, const ais_kernel *kernel, ais_state *state, void *own, ais_info *info) {
    ais_status status = AIS_OK;
    for (int c = 0; status == AIS_OK && c < state->chains; c++)
        status = step_chain(context, (const hmc *)kernel, state, own, c, &info[c]);
    return status;
}

static void persist(const ais_kernel *kernel, ais_state *state, void *own, int lane, ais_record *record) {
    (void)kernel;
    ais_tuned_chain_persist(&((block *)own)->chain[lane], state, lane, record);
}

static const ais_kernel_type type = {
    .name = "hmc",
    .needs_gradient = true,
    .trajectories = true,
    .info = 1u << AIS_INFO_ACCEPT_STAT | 1u << AIS_INFO_STEP_SIZE | 1u << AIS_INFO_N_LEAPFROG |
            1u << AIS_INFO_DIVERGENT | 1u << AIS_INFO_ENERGY,
    .init = init,
    .step = step,
    .persist = persist,
    .free = ais_classical_free,
};

ais_status ais_kernel_hmc(ais_context *context, const ais_hmc_options *options, ais_kernel **kernel) {
    ais_hmc_options wish = options ? *options : (ais_hmc_options){0};
    *kernel = NULL;
    hmc made = {.kernel = {.type = &type},
                .tuning = {.step_size = wish.step_size, .target_accept = wish.target_accept},
                .leapfrogs = wish.leapfrogs ? wish.leapfrogs : 40,
                .jitter = wish.jitter};
    if (made.tuning.target_accept == 0) made.tuning.target_accept = 0.8;
    ais_status status = ais_check_tuning_options(context, "hmc", &made.tuning);
    if (status != AIS_OK) return status;
    if (made.leapfrogs < 1)
        return ais_fail(context, AIS_BAD_ARGUMENT, "hmc: leapfrogs is %d, but must be 1 or more, or 0 for 40",
                        made.leapfrogs);
    if (!(made.jitter >= 0 && made.jitter < 1))
        return ais_fail(context, AIS_BAD_ARGUMENT, "hmc: jitter is %g, but must be at least 0 and below 1",
                        made.jitter);
    return ais_classical_keep(context, &made.kernel, sizeof made, kernel);
}

static ais_status make(ais_context *context, const ais_classical_options *options, ais_kernel **kernel) {
    const ais_hmc_options own = {.step_size = options->step_size,
                                 .leapfrogs = options->leapfrogs,
                                 .target_accept = options->target_accept,
                                 .jitter = options->jitter};
    return ais_kernel_hmc(context, &own, kernel);
}

static ais_classical_options options_of(const ais_kernel *kernel) {
    const hmc *made = (const hmc *)kernel;
    return (ais_classical_options){.step_size = made->tuning.step_size,
                                   .leapfrogs = made->leapfrogs,
                                   .target_accept = made->tuning.target_accept,
                                   .jitter = made->jitter};
}

const ais_classical ais_classical_hmc = {
    {"hmc", "HMC, 40 leapfrogs", "step_size leapfrogs target_accept jitter", true}, &type, make, options_of};
