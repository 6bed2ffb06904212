/* The No-U-Turn sampler as a kernel: trajectories by nuts_tree.c, step size and metric by tuning.c. */

#include "classical/classical.h"
#include "classical/nuts_tree.h"
#include "classical/tuning.h"

enum { DEFAULT_DEPTH = 10, LARGEST_DEPTH = 24 };

typedef struct nuts {
    ais_kernel kernel;
    ais_tuning_options tuning;
} nuts;

typedef struct block {
    ais_tuned_chain *chain;
    ais_nuts_tree tree;
} block;

static ais_status init(ais_context *context, const ais_kernel *kernel, ais_state *state, void **own) {
    const nuts *options = (const nuts *)kernel;
    block *b = AIS_TAKE(&state->arena, block, 1);
    if (!b || !ais_nuts_tree_take(&b->tree, &state->arena, state->target->dim, options->kernel.max_depth))
        return ais_fail_memory(context, "nuts",
                               7 * (size_t)options->kernel.max_depth * (size_t)state->target->dim * sizeof(double));
    *own = b;
    return ais_tuned_chains_new(context, kernel, state, &options->tuning, &b->tree.forward, &b->tree.backward,
                                &b->chain);
}

static ais_status step_chain(ais_context *context, ais_state *state, block *b, int lane, ais_info *info) {
    ais_tuned_chain *chain = &b->chain[lane];
    ais_nuts_tree *tree = &b->tree;
    ais_status status = ais_tuned_chain_load(context, state, chain, lane, &tree->forward);
    if (status != AIS_OK) return status;
    ais_stream momentum = ais_state_stream(state, lane, AIS_FOR_MOMENTUM);
    ais_stream direction = ais_state_stream(state, lane, AIS_FOR_DIRECTION);
    ais_phase_kick(&chain->metric, &momentum, &tree->forward);
    status = ais_nuts_tree_run(context, tree, state->target, &chain->metric, chain->step_size, &direction);
    if (status != AIS_OK) return status;
    const ais_nuts_stretch *whole = &tree->whole;
    if (!whole->initial) ais_tuned_chain_move(state, chain, lane, whole->x, whole->gradient, whole->logp);
    *info = (ais_info){.accept_stat = tree->acceptance_sum / tree->leapfrogs,
                       .step_size = chain->step_size,
                       .tree_depth = tree->depth,
                       .n_leapfrog = tree->leapfrogs,
                       .divergent = tree->divergent,
                       .energy = whole->energy};
    return ais_tuned_chain_learn(context, state, chain, lane, info->accept_stat, &tree->forward, &tree->backward);
}

static ais_status step(ais_context *context, const ais_kernel *kernel, ais_state *state, void *own, ais_info *info) {
    (void)kernel;
    ais_status status = AIS_OK;
    for (int c = 0; status == AIS_OK && c < state->chains; c++) status = step_chain(context, state, own, c, &info[c]);
    return status;
}

static void persist(const ais_kernel *kernel, ais_state *state, void *own, int lane, ais_record *record) {
    (void)kernel;
    ais_tuned_chain_persist(&((block *)own)->chain[lane], state, lane, record);
}

static const ais_kernel_type type = {
    .name = "nuts",
    .info = 1u << AIS_INFO_ACCEPT_STAT | 1u << AIS_INFO_STEP_SIZE | 1u << AIS_INFO_TREE_DEPTH |
            1u << AIS_INFO_N_LEAPFROG | 1u << AIS_INFO_DIVERGENT | 1u << AIS_INFO_ENERGY,
    .needs_gradient = true,
    .trajectories = true,
    .init = init,
    .step = step,
    .persist = persist,
    .free = ais_classical_free,
};

ais_status ais_kernel_nuts(ais_context *context, const ais_nuts_options *options, ais_kernel **kernel) {
    ais_nuts_options wish = options ? *options : (ais_nuts_options){0};
    *kernel = NULL;
    nuts made = {
        .kernel = {.type = &type, .max_depth = wish.max_depth ? wish.max_depth : DEFAULT_DEPTH},
        .tuning = {.step_size = wish.step_size,
                   .target_accept = wish.target_accept,
                   .dense = wish.dense,
                   .unit = wish.unit},
    };
    if (made.tuning.target_accept == 0) made.tuning.target_accept = 0.8;
    ais_status status = ais_check_tuning_options(context, "nuts", &made.tuning);
    if (status != AIS_OK) return status;
    if (made.kernel.max_depth < 1 || made.kernel.max_depth > LARGEST_DEPTH)
        return ais_fail(context, AIS_BAD_ARGUMENT, "nuts: max_depth is %d, but must lie between 1 and %d, or 0 for %d",
                        made.kernel.max_depth, LARGEST_DEPTH, DEFAULT_DEPTH);
    return ais_classical_keep(context, &made.kernel, sizeof made, kernel);
}

static ais_status make(ais_context *context, const ais_classical_options *options, ais_kernel **kernel) {
    const ais_nuts_options own = {.step_size = options->step_size,
                                  .target_accept = options->target_accept,
                                  .max_depth = options->max_depth,
                                  .dense = options->dense};
    return ais_kernel_nuts(context, &own, kernel);
}

static ais_classical_options options_of(const ais_kernel *kernel) {
    const ais_tuning_options *tuning = &((const nuts *)kernel)->tuning;
    return (ais_classical_options){.step_size = tuning->step_size,
                                   .target_accept = tuning->target_accept,
                                   .max_depth = kernel->max_depth,
                                   .dense = tuning->dense};
}

const ais_classical ais_classical_nuts = {
    {"nuts", "NUTS", "step_size target_accept max_depth dense", true}, &type, make, options_of};
