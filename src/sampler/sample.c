/* The loop: blocks of chains, stepped in rounds over a pool of threads, handed to the sinks in order.
 *
 * A round lets every block make the same number of draws into one buffer; then the buffer goes to
 * the sinks. How long a round is depends on the clock, what is drawn does not: every number is a
 * function of seed, chain and step. */
#include "sampler/sample.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "sampler/starts.h"

enum { LEARNED_BLOCK = 64, BUFFER_BYTES = 4 << 20 };
static const double round_seconds = 0.1, progress_seconds = 0.1;

/* Blocks never depend on the number of threads. Chains with trajectories of their own step alone;
 * others share vector lanes. */
static int chains_per_block(const ais_kernel *kernel) {
    return ais_kernel_info(kernel) & 1u << AIS_INFO_N_LEAPFROG ? 1 : LEARNED_BLOCK;
}

static ais_status check_options(ais_context *context, const ais_sample_options *options) {
    const struct {
        const char *what;
        int value;
    } count[] = {{"chains", options->chains},
                 {"warmup", options->warmup},
                 {"draws", options->draws},
                 {"thin", options->thin},
                 {"threads", options->threads}};
    for (size_t i = 0; i < sizeof count / sizeof *count; i++)
        if (count[i].value < 0)
            return ais_fail(context, AIS_BAD_ARGUMENT, "%s is %d, but must not be negative", count[i].what,
                            count[i].value);
    return AIS_OK;
}

/* ---- blocks ------------------------------------------------------------------------------------ */

static bool asked_to_stop(const ais_run *run) { return run->stop && *run->stop; }

/* Sums in fours, so that an addition need not wait for the one before: learned kernels take nanoseconds. */
static void count_step(ais_tally *tally, unsigned fields, int chains, const ais_info *info) {
    double sum[4] = {0}, most = 0;
    int c = 0;
    for (; c + 4 <= chains; c += 4)
        for (int k = 0; k < 4; k++) {
            sum[k] += info[c + k].accept_stat;
            most = info[c + k].round_trip > most ? info[c + k].round_trip : most;
        }
    for (; c < chains; c++) {
        sum[0] += info[c].accept_stat;
        most = info[c].round_trip > most ? info[c].round_trip : most;
    }
    tally->accept_sum += (sum[0] + sum[1]) + (sum[2] + sum[3]);
    tally->steps += chains;
    tally->evaluations += chains;
    for (c = 0; c < chains && most > tally->worst_round_trip; c++)
        if (info[c].round_trip > tally->worst_round_trip && info[c].accept_stat > 0)
            tally->worst_round_trip = info[c].round_trip;
    for (c = 0; c < chains && fields & 1u << AIS_INFO_N_LEAPFROG; c++) {
        tally->evaluations += info[c].n_leapfrog > 0 ? (long)info[c].n_leapfrog - 1 : 0;
        tally->divergences += info[c].divergent > 0;
    }
}

/* One draw of every chain of a block costs `thin` steps. AIS_STOPPED when asked to stop between them. */
static ais_status draw_once(ais_run *run, ais_block *block, ais_tally *tally, bool keep, int t) {
    ais_state *state = block->state;
    int dim = run->target->dim, thin = keep ? run->thin : 1;
    for (int s = 0; s < thin; s++) {
        if (s > 0 && asked_to_stop(run)) return AIS_STOPPED;
        ais_status status = run->kernel->type->step(&block->context, run->kernel, state, block->own, block->info);
        if (status != AIS_OK) return status;
        state->step++;
        count_step(tally, ais_kernel_info(run->kernel), state->chains, block->info);
    }
    if (!keep && !run->header.save_warmup) return AIS_OK;
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

static void run_block(void *data, int b) {
    ais_run *run = data;
    ais_block *block = &run->block[b];
    bool keep = run->warmup_done == run->warmup;
    run->tally[b].accept_sum = 0;
    run->tally[b].steps = 0;
    block->done = 0;
    while (block->done < run->round && !asked_to_stop(run)) {
        ais_status status = draw_once(run, block, &run->tally[b], keep, block->done);
        if (status == AIS_STOPPED) return;
        block->status = status;
        if (status != AIS_OK) return;
        block->done++;
    }
}

static void init_block(void *data, int b) {
    ais_run *run = data;
    ais_block *block = &run->block[b];
    int first = b * run->block_chains, left = run->chains - first;
    int chains = left < run->block_chains ? left : run->block_chains;
    const double *start = run->start ? run->start + (size_t)first * (size_t)run->target->dim : NULL;
    block->status = ais_state_new(&block->context, run->target, run->header.seed, (uint32_t)first, chains,
                                  (uint64_t)run->warmup, start, &block->state);
    if (block->status != AIS_OK) return;
    block->state->single = run->chains == 1 || run->block_chains == 1;
    block->info = AIS_TAKE(&block->state->arena, ais_info, chains);
    block->status = block->info
                        ? run->kernel->type->init(&block->context, run->kernel, block->state, &block->own)
                        : ais_fail_memory(&block->context, "a block of chains", (size_t)chains * sizeof(ais_info));
}

/* The failure of the earliest step, and there of the first chain, so that the message does not depend
 * on threads. */
static ais_status first_failure(ais_context *context, const ais_run *run) {
    const ais_block *first = NULL;
    for (int b = run->part.first; b < run->part.end; b++) {
        const ais_block *block = &run->block[b];
        if (block->status != AIS_OK && (!first || block->done < first->done)) first = block;
    }
    if (first) *context = first->context;
    return ais_ranks_agree(context, run->ranks, first ? first->status : AIS_OK);
}

/* ---- sinks ------------------------------------------------------------------------------------- */

/* Draws that not every block has reached are dropped: chains stay of equal length. */
static void shorten(ais_run *run, int count) {
    size_t dim = (size_t)run->target->dim, from = (size_t)run->round, to = (size_t)count;
    for (size_t c = 1; count < run->round && c < (size_t)run->own_chains; c++) {
        memmove(run->x + c * to * dim, run->x + c * from * dim, to * dim * sizeof(double));
        memmove(run->logp + c * to, run->logp + c * from, to * sizeof(double));
        memmove(run->info + c * to, run->info + c * from, to * sizeof(ais_info));
    }
}

/* What one rank knows of the round and all must: the shortest block, and whether anybody was asked to stop. */
static ais_status end_round(ais_context *context, ais_run *run, int *count, bool *stopped) {
    double most_missing = 0;
    for (int b = run->part.first; b < run->part.end; b++)
        if (run->round - run->block[b].done > most_missing) most_missing = run->round - run->block[b].done;
    double value[] = {most_missing, asked_to_stop(run)};
    ais_status status = ais_ranks_largest(context, run->ranks, value, 2);
    *count = run->round - (int)value[0];
    *stopped = value[1] != 0;
    return status;
}

/* ais_ranks.collect wants rank 0's base, or this rank's part alone. */
static ais_tally *own_tally(const ais_run *run) {
    return ais_ranks_lead(run->ranks) ? run->tally : run->tally + run->part.first;
}

/* Rank 0 gets the draws of all. */
static ais_status collect(ais_context *context, ais_run *run, int count) {
    if (!run->ranks) return AIS_OK;
    size_t draws = (size_t)count, dim = (size_t)run->target->dim;
    const struct {
        void *base;
        size_t bytes;
    } part[] = {{run->x, draws * dim * sizeof(double)},
                {run->logp, draws * sizeof(double)},
                {run->info, draws * sizeof(ais_info)}};
    ais_status status = AIS_OK;
    for (size_t k = 0; k < sizeof part / sizeof *part && status == AIS_OK; k++)
        status = ais_ranks_collect(context, run->ranks, run->chains, run->block_chains, part[k].bytes, part[k].base);
    return status;
}

static ais_status write_round(ais_context *context, ais_run *run, bool warmup, int first, int count) {
    ais_chunk chunk = {
        .warmup = warmup, .first = first, .count = count, .x = run->x, .logp = run->logp, .info = run->info};
    for (int s = 0; s < run->sinks && count > 0; s++) {
        ais_status status = run->sink[s]->write(context, run->sink[s], &chunk);
        if (status != AIS_OK) return status;
    }
    return AIS_OK;
}

/* Every sink that began is ended, or abandoned when anything failed. */
static ais_status close_sinks(ais_context *context, ais_run *run, ais_status status, const ais_run_footer *footer) {
    for (int s = 0; s < run->begun; s++) {
        ais_sink *sink = run->sink[s];
        if (status == AIS_OK || status == AIS_STOPPED) {
            ais_status ended = sink->end(context, sink, footer);
            if (ended == AIS_OK) continue;
            status = ended;
        }
        sink->abandon(sink);
    }
    return status;
}

/* ---- rounds ------------------------------------------------------------------------------------ */

static void report_progress(ais_run *run, const ais_sample_options *options) {
    if (!options->progress || !ais_ranks_lead(run->ranks)) return;
    bool over = run->draws_done > 0 ? run->draws_done == run->draws : run->warmup_done == run->warmup;
    if (ais_now() - run->reported < progress_seconds && !over && !asked_to_stop(run)) return;
    run->reported = ais_now();
    double elapsed = run->reported - run->started, accept = 0;
    long divergences = 0, evaluations = 0, steps = 0;
    for (int b = 0; b < run->blocks; b++) {
        accept += run->tally[b].accept_sum;
        steps += run->tally[b].steps;
        divergences += run->tally[b].divergences;
        evaluations += run->tally[b].evaluations;
    }
    bool sampling = run->draws_done > 0;
    double phase = run->reported - run->phase_started;
    int phase_done = sampling ? run->draws_done : run->warmup_done;
    int left = sampling ? run->draws - run->draws_done : run->warmup - run->warmup_done;
    double per_draw = phase_done > 0 ? phase / phase_done : NAN;
    ais_progress progress = {.chains = run->chains,
                             .warmup = run->warmup,
                             .draws = run->draws,
                             .warmup_done = run->warmup_done,
                             .draws_done = run->draws_done,
                             .seconds = elapsed,
                             .seconds_left = per_draw * (left + (sampling ? 0 : (double)run->draws * run->thin)),
                             .acceptance = accept / (double)steps,
                             .divergences = sampling ? divergences : 0,
                             .evaluations = run->evaluations_before + evaluations};
    options->progress(&progress, options->progress_data);
}

/* One phase, warm-up or sampling, round by round. */
static ais_status run_phase(ais_context *context, ais_run *run, const ais_sample_options *options, bool warmup) {
    int planned = warmup ? run->warmup : run->draws, *done = warmup ? &run->warmup_done : &run->draws_done;
    int length = 1;
    run->phase_started = ais_now();
    for (int b = 0; b < run->blocks; b++) {
        ais_tally *tally = &run->tally[b];
        run->evaluations_before += tally->evaluations;
        tally->evaluations = tally->divergences = 0;
        tally->worst_round_trip = 0;
    }
    while (*done < planned) {
        double start = ais_now();
        run->round = planned - *done < length ? planned - *done : length;
        ais_pool_run_part(run->pool, run->blocks, run_block, run);
        bool stopped, kept = !warmup || run->header.save_warmup;
        int count;
        ais_status status = first_failure(context, run);
        if (status == AIS_OK) status = end_round(context, run, &count, &stopped);
        if (status != AIS_OK) return status;
        shorten(run, count);
        if (kept) status = collect(context, run, count);
        if (status == AIS_OK)
            status = ais_ranks_collect(context, run->ranks, run->blocks, 1, sizeof *run->tally, own_tally(run));
        if (status == AIS_OK && kept && ais_ranks_lead(run->ranks))
            status = write_round(context, run, warmup, *done, count);
        if (status == AIS_OK) *done += count; /* also when the others turn out to be lost */
        for (int b = 0; b < run->blocks && !warmup; b++) {
            run->accept_sum += run->tally[b].accept_sum;
            run->steps += run->tally[b].steps;
        }
        status = ais_ranks_agree(context, run->ranks, status);
        if (status != AIS_OK) return status;
        report_progress(run, options);
        if (stopped && *done < planned)
            return ais_fail(context, AIS_STOPPED, "stopped after %d of %d %s draws per chain", *done, planned,
                            warmup ? "warm-up" : "planned");
        if (ais_now() - start < round_seconds && length < run->longest_round) length *= 2;
        if (length > run->longest_round) length = run->longest_round;
        status = ais_ranks_first(context, run->ranks, &length, sizeof length);
        if (status != AIS_OK) return status;
    }
    return AIS_OK;
}

static void fill_result(const ais_run *run, double warmup_seconds, double sample_seconds, ais_sample_result *result) {
    *result = (ais_sample_result){.draws = run->draws_done,
                                  .warmup_seconds = warmup_seconds,
                                  .sample_seconds = sample_seconds,
                                  .acceptance = run->steps > 0 ? run->accept_sum / (double)run->steps : NAN};
    bool involution = ais_kernel_info(run->kernel) & 1u << AIS_INFO_ROUND_TRIP;
    result->involution_error = involution ? 0 : NAN;
    for (int b = 0; b < run->blocks && run->draws_done > 0; b++) {
        const ais_tally *tally = &run->tally[b];
        result->divergences += tally->divergences;
        result->evaluations += tally->evaluations;
        if (tally->worst_round_trip > result->involution_error) result->involution_error = tally->worst_round_trip;
    }
}

static ais_status begin(ais_context *context, ais_run *run) {
    size_t draw_bytes = ((size_t)run->target->dim + 1) * sizeof(double) + sizeof(ais_info);
    size_t fit = BUFFER_BYTES / (draw_bytes * (size_t)run->chains);
    run->longest_round = fit < 1 ? 1 : fit > 1 << 20 ? 1 << 20 : (int)fit;
    int longest_phase = run->draws > run->warmup ? run->draws : run->warmup;
    if (run->longest_round > longest_phase) run->longest_round = longest_phase > 0 ? longest_phase : 1;
    run->first_chain = run->part.first * run->block_chains;
    int end = run->part.end * run->block_chains;
    run->own_chains = (end < run->chains ? end : run->chains) - run->first_chain;
    size_t held = (size_t)(ais_ranks_lead(run->ranks) ? run->chains : run->own_chains);
    size_t room = held * (size_t)run->longest_round;
    run->x = malloc(room * (size_t)run->target->dim * sizeof(double));
    run->logp = malloc(room * sizeof(double));
    run->info = malloc(room * sizeof(ais_info));
    run->block = calloc((size_t)run->blocks, sizeof *run->block);
    run->tally = calloc((size_t)run->blocks, sizeof *run->tally);
    bool whole = (room == 0 || (run->x && run->logp && run->info)) && run->block && run->tally;
    ais_status status = whole ? AIS_OK : ais_fail_memory(context, "the draws of a round", room * draw_bytes);
    status = ais_ranks_agree(context, run->ranks, status);
    if (status != AIS_OK) return status;
    ais_pool_run_part(run->pool, run->blocks, init_block, run);
    status = first_failure(context, run);
    if (status != AIS_OK) return status;
    for (int s = 0; s < run->sinks && status == AIS_OK; s++) {
        run->begun++; /* also when it fails: it is then abandoned */
        status = run->sink[s]->begin(context, run->sink[s], &run->header);
    }
    return ais_ranks_agree(context, run->ranks, status);
}

static void release(ais_run *run) {
    for (int b = 0; b < run->blocks && run->block; b++) ais_state_free(run->block[b].state);
    free(run->block);
    free(run->tally);
    free(run->x);
    free(run->logp);
    free(run->info);
    ais_pool_free(run->pool);
}

ais_status ais_sample(ais_context *context, const ais_target *target, const ais_kernel *kernel,
                      const ais_sample_options *options, ais_sink *const *sinks, int sink_count,
                      ais_sample_result *result) {
    ais_status status = check_options(context, options);
    if (status == AIS_OK) status = ais_kernel_fits(context, kernel, target);
    if (status != AIS_OK) return status;
    int chains = options->chains ? options->chains : 4, draws = options->draws ? options->draws : 1000;
    int block_chains = chains_per_block(kernel);
    ais_run run = {.target = target,
                   .kernel = kernel,
                   .chains = chains,
                   .warmup = options->warmup,
                   .draws = draws,
                   .thin = options->thin ? options->thin : 1,
                   .block_chains = block_chains,
                   .blocks = (chains - 1) / block_chains + 1,
                   .start = options->start,
                   .stop = options->stop,
                   .sink = sinks,
                   .sinks = ais_ranks_lead(options->ranks) ? sink_count : 0,
                   .ranks = options->ranks,
                   .started = ais_now()};
    run.part = ais_ranks_part(run.ranks, run.blocks);
    run.header = (ais_run_header){.target = target,
                                  .sampler = ais_kernel_name(kernel),
                                  .seed = options->seed,
                                  .chains = chains,
                                  .warmup = options->warmup,
                                  .draws = draws,
                                  .save_warmup = options->save_warmup,
                                  .info = ais_kernel_info(kernel),
                                  .max_depth = kernel->max_depth,
                                  .config = options->config};
    double warmup_seconds = 0, sample_seconds = 0;
    double *own_start = options->start ? NULL : ais_own_starts(target, kernel, options->seed, chains);
    if (own_start) run.start = own_start;
    status = ais_pool_new(context, options->threads, &run.pool);
    if (status == AIS_OK) ais_pool_join(run.pool, run.ranks);
    if (status == AIS_OK) status = begin(context, &run);
    if (status == AIS_OK) {
        status = run_phase(context, &run, options, true);
        warmup_seconds = ais_now() - run.phase_started;
    }
    if (status == AIS_OK) {
        status = run_phase(context, &run, options, false);
        sample_seconds = ais_now() - run.phase_started;
    }
    ais_run_footer footer = {
        .draws = run.draws_done, .warmup_seconds = warmup_seconds, .sample_seconds = sample_seconds};
    status = close_sinks(context, &run, status, &footer);
    if (result && run.tally) fill_result(&run, warmup_seconds, sample_seconds, result);
    release(&run);
    free(own_start);
    return status;
}
