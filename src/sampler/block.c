/* Blocks of chains: how they begin, and their draws of a round. */
#include "base/block.h"
#include "sampler/sample.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>

#include "learned/latent.h"
#include "simd/isa.h"

bool ais_chains_alone(const ais_kernel *kernel) {
    const ais_latent *latent = ais_as_latent(kernel);
    if (latent && latent->proposals > 0) return false; /* most of its steps are proposals, which share lanes */
    return kernel->type->trajectories;
}

/* Chains with trajectories of their own step alone. Others share vector lanes, as many as leave no thread without work:
 * the density may cost more than everything else. A user's batch form may round differently for another number of
 * points, so there blocks must not depend on threads. */
int ais_chains_per_block(const ais_target *target, const ais_kernel *kernel, int chains, int workers) {
    if (ais_chains_alone(kernel)) return 1;
    if (target->batch) return AIS_BLOCK;
    int share = (chains - 1) / workers + 1;
    return share < AIS_BLOCK ? share : AIS_BLOCK;
}

int ais_block_size(const ais_sampling *run, int b) {
    int left = run->chains - b * run->block_chains;
    return left < run->block_chains ? left : run->block_chains;
}

/* ---- beginning ----------------------------------------------------------------------------------- */

static ais_status new_state(ais_sampling *run, ais_block *block, int first, int chains) {
    const ais_target *target = &block->counted.target;
    size_t offset = (size_t)first * (size_t)target->dim;
    uint64_t seed = run->header.seed, warmup = (uint64_t)run->warmup;
    ais_candidates own = run->own_start;
    if (run->resumed) {
        double *start = malloc((size_t)chains * (size_t)target->dim * sizeof *start);
        if (!start) return ais_fail_memory(&block->context, "starting points", (size_t)chains * sizeof *start);
        ais_block_recall_starts(run, first / run->block_chains, start);
        ais_status status =
            ais_state_new(&block->context, target, seed, (uint32_t)first, chains, warmup, start, &block->state);
        free(start);
        return status;
    }
    if (run->options->start || !own.x)
        return ais_state_new(&block->context, target, seed, (uint32_t)first, chains, warmup,
                             run->options->start ? run->options->start + offset : NULL, &block->state);
    own.x += offset;
    return ais_state_try(&block->context, target, seed, (uint32_t)first, chains, warmup, &own, &block->state);
}

static ais_status begin(ais_sampling *run, int b) {
    ais_block *block = &run->block[b];
    int chains = ais_block_size(run, b);
    ais_status status = new_state(run, block, b * run->block_chains, chains);
    if (status != AIS_OK) return status;
    block->state->single = run->single;
    block->info = AIS_TAKE(&block->state->arena, ais_info, chains);
    block->trips = AIS_TAKE(&block->state->arena, double, chains);
    block->log_weight = AIS_TAKE(&block->state->arena, double, chains);
    if (!block->info || !block->trips || !block->log_weight)
        return ais_fail_memory(&block->context, "a block of chains", (size_t)chains * sizeof(ais_info));
    status = run->kernel->type->init(&block->context, run->kernel, block->state, &block->own);
    return status == AIS_OK && run->resumed ? ais_block_recall(run, b) : status;
}

bool ais_block_new(ais_sampling *run, int b) {
    ais_counted *counted = &run->block[b].counted;
    int chains = ais_block_size(run, b);
    bool made = ais_counted_begin(counted, run->target, (size_t)chains, ais_padded((size_t)chains));
    counted->halt = &run->halt;
    if (run->goal.evaluations < LONG_MAX && !run->resumed) counted->left = run->goal.evaluations / run->chains * chains;
    return made;
}

static void count_evaluations(const ais_sampling *run, int b) {
    run->tally[b].densities = ais_counted_densities(&run->block[b].counted);
    run->tally[b].gradients = ais_counted_gradients(&run->block[b].counted);
}

void ais_block_init(void *data, int b) {
    ais_sampling *run = data;
    run->block[b].status = begin(run, b);
    count_evaluations(run, b);
}

void ais_block_free(ais_block *block) {
    ais_state_free(block->state);
    ais_counted_end(&block->counted);
}

/* ---- draws --------------------------------------------------------------------------------------- */

/* accept: of each chain, over the steps of the phase. */
static void count_step(ais_tally *tally, unsigned fields, int chains, const ais_info *info, double *restrict accept) {
    double most = 0;
    int c = 0;
    for (; c < chains; c++) {
        accept[c] += info[c].accept_stat;
        most = info[c].round_trip > most ? info[c].round_trip : most;
    }
    tally->steps += chains;
    for (c = 0; c < chains && most > tally->worst_round_trip; c++)
        if (info[c].round_trip > tally->worst_round_trip && info[c].accept_stat > 0)
            tally->worst_round_trip = info[c].round_trip;
    for (c = 0; c < chains && fields & 1u << AIS_INFO_DIVERGENT; c++) tally->divergences += info[c].divergent > 0;
}

static double *accepted(const ais_sampling *run, const ais_block *block) {
    return run->accept + (size_t)block->state->chain - (size_t)run->first_chain;
}

static double accepted_by_all(const ais_sampling *run, const ais_block *block) {
    double sum = 0;
    for (int c = 0; c < block->state->chains; c++) sum += accepted(run, block)[c];
    return sum;
}

/* One draw of every chain of a block costs `thin` steps. AIS_STOPPED when asked to stop between them. */
static ais_status draw_once(ais_sampling *run, ais_block *block, ais_tally *tally, int t) {
    ais_state *state = block->state;
    int dim = run->target->dim, thin = run->warming ? 1 : run->thin;
    unsigned fields = ais_kernel_info(run->kernel);
    bool trips = thin > 1 && fields & 1u << AIS_INFO_TRIP, weights = thin > 1 && fields & 1u << AIS_INFO_LOG_WEIGHT;
    for (int c = 0; c < state->chains && trips; c++) block->trips[c] = 0;
    for (int c = 0; c < state->chains && weights; c++) block->log_weight[c] = NAN;
    for (int s = 0; s < thin; s++) {
        if (s > 0 && ais_run_halted(run)) return AIS_STOPPED;
        ais_status status = run->kernel->type->step(&block->context, run->kernel, state, block->own, block->info);
        if (status != AIS_OK) return status;
        state->step++;
        count_step(tally, fields, state->chains, block->info, accepted(run, block));
        for (int c = 0; c < state->chains && trips; c++) block->trips[c] += block->info[c].trip;
        for (int c = 0; c < state->chains && weights; c++)
            if (!isnan(block->info[c].log_weight)) block->log_weight[c] = block->info[c].log_weight;
    }
    for (int c = 0; c < state->chains && trips; c++) block->info[c].trip = block->trips[c];
    for (int c = 0; c < state->chains && weights; c++) block->info[c].log_weight = block->log_weight[c];
    if (run->warming && !run->header.save_warmup) return AIS_OK;
    for (int c = 0; c < state->chains; c++) {
        size_t chain = (size_t)state->chain + (size_t)c - (size_t)run->first_chain;
        size_t at = chain * (size_t)run->round + (size_t)t;
        for (int i = 0; i < dim; i++)
            run->x[at * (size_t)dim + (size_t)i] = state->x[(size_t)i * (size_t)state->lanes + (size_t)c];
        run->logp[at] = state->logp[c];
        run->info[at] = block->info[c];
    }
    return AIS_OK;
}

static ais_status draw_round(ais_sampling *run, int b) {
    ais_block *block = &run->block[b];
    for (int t = 0; t < run->round && !ais_run_halted(run); t++) {
        ais_status status = draw_once(run, block, &run->tally[b], t);
        if (status != AIS_OK) return status == AIS_STOPPED ? AIS_OK : status;
        atomic_store_explicit(&block->done, t + 1, memory_order_relaxed);
    }
    return AIS_OK;
}

void ais_block_run(void *data, int b) {
    ais_sampling *run = data;
    ais_block *block = &run->block[b];
    double before = accepted_by_all(run, block);
    run->tally[b].steps = 0;
    block->status = draw_round(run, b);
    run->tally[b].accept_sum = accepted_by_all(run, block) - before;
    bool asked = ais_asked_to_stop(run->stop);
    run->tally[b].gave_up = block->status != AIS_OK && !block->counted.refused && asked;
    if (block->counted.refused || asked) block->status = AIS_OK; /* the draw is dropped; no fault of the density */
    count_evaluations(run, b);
}
