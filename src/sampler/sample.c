/* The loop: blocks of chains, stepped in rounds over a pool of threads, handed to the sinks in order.
 *
 * A round lets every block make the same number of draws into one buffer; then the buffer goes to
 * the sinks. How long a round is depends on the clock, what is drawn does not: every number is a
 * function of seed, chain and step. */
#include "sampler/sample.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "sampler/starts.h"

enum { BUFFER_BYTES = 4 << 20 };
static const double round_seconds =
    0.5; /* a round lasts as long as its slowest chain, so in long rounds threads wait less */
static const double watch_seconds = 0.1;

const char *const ais_ending_name[] = {"draws", "effective", "evaluations", "seconds", "stopped"};

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

/* The failure of the earliest step, and there of the first chain, so that the message does not depend
 * on threads. */
static ais_status first_failure(ais_context *context, const ais_sampling *run) {
    const ais_block *first = NULL;
    for (int b = run->part.first; b < run->part.end; b++) {
        const ais_block *block = &run->block[b];
        if (block->status != AIS_OK && (!first || block->done < first->done)) first = block;
    }
    if (first) *context = first->context;
    return ais_ranks_agree(context, run->ranks, first ? first->status : AIS_OK);
}

/* ---- why a round ended ----------------------------------------------------------------------------- */

/* What all ranks must know about the round: the shortest block, and what cut it short. */
typedef struct round_end {
    int count; /* draws of every chain */
    bool cut;
    ais_ending ending;
} round_end;

static ais_status end_round(ais_context *context, ais_sampling *run, round_end *end) {
    double missing = 0, spent = 0;
    for (int b = run->part.first; b < run->part.end; b++) {
        missing = fmax(missing, run->round - run->block[b].done);
        if (run->block[b].counted.refused) spent = 1;
    }
    ais_run_see_to_deadline(run); /* rounds may be too short to be watched */
    bool asked = ais_asked_to_stop(run->stop);
    double value[] = {missing, asked, run->halt, spent};
    ais_status status = ais_ranks_largest(context, run->ranks, value, sizeof value / sizeof *value);
    *end = (round_end){.count = run->round - (int)value[0], .cut = value[1] != 0 || value[2] != 0 || value[3] != 0};
    end->ending = value[1] != 0 ? AIS_ENDED_STOPPED : value[2] != 0 ? AIS_ENDED_SECONDS : AIS_ENDED_EVALUATIONS;
    return status;
}

/* The sentence for a run that ended before it had what it needs: after `done` of `planned` draws. */
static ais_status say_why(ais_context *context, const ais_sampling *run, ais_ending ending, const char *what, int done,
                          int planned) {
    if (ending == AIS_ENDED_SECONDS)
        return ais_fail(context, AIS_STOPPED, "the deadline of %.3g s passed after %d of %d %s draws per chain",
                        run->options->seconds, done, planned, what);
    if (ending == AIS_ENDED_EVALUATIONS)
        return ais_fail(
            context, AIS_STOPPED,
            "%ld evaluations were spent after %d of %d %s draws per chain: allow more, or take fewer chains "
            "or less warm-up",
            run->options->evaluations, done, planned, what);
    return ais_fail(context, AIS_STOPPED, "stopped after %d of %d %s draws per chain", done, planned, what);
}

/* ---- sinks ------------------------------------------------------------------------------------- */

/* Draws that not every block has reached are dropped: chains stay of equal length. */
static void shorten(ais_sampling *run, int count) {
    size_t dim = (size_t)run->target->dim, from = (size_t)run->round, to = (size_t)count;
    for (size_t c = 1; count < run->round && c < (size_t)run->own_chains; c++) {
        memmove(run->x + c * to * dim, run->x + c * from * dim, to * dim * sizeof(double));
        memmove(run->logp + c * to, run->logp + c * from, to * sizeof(double));
        memmove(run->info + c * to, run->info + c * from, to * sizeof(ais_info));
    }
}

/* ais_ranks.collect wants rank 0's base, or this rank's part alone. */
static ais_tally *own_tally(const ais_sampling *run) {
    return ais_ranks_lead(run->ranks) ? run->tally : run->tally + run->part.first;
}

/* Rank 0 gets the draws of all. */
static ais_status collect(ais_context *context, ais_sampling *run, int count) {
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

/* Streams of a view: chains and draws apart, warm-up's too. */
static uint64_t view_stream(const ais_sampling *run, int chain, int draw) {
    uint64_t seed = (run->header.seed + 1) * 0x9e3779b97f4a7c15;
    return seed + ((uint64_t)chain << 33) + ((uint64_t)run->warming << 32) + (uint64_t)draw;
}

typedef struct showing {
    const ais_sampling *run;
    int first, count;
} showing;

/* Task: what is shown of a chain's draws. */
static void show_chain(void *data, int c) {
    const showing *this = data;
    const ais_sampling *run = this->run;
    const ais_view *view = run->target->view;
    size_t count = (size_t)this->count, at = (size_t)c * count;
    double *slope = run->slope + at;
    view->show(count, run->x + at * (size_t)run->target->dim, view_stream(run, c, this->first),
               run->value + at * (size_t)view->count, slope, run->target->data);
    for (size_t t = 0; t < count; t++) slope[t] = run->logp[at + t] - slope[t];
}

static ais_status write_round(ais_context *context, ais_sampling *run, int first, int count) {
    ais_chunk chunk = {.warmup = run->warming,
                       .first = first,
                       .count = count,
                       .x = run->x,
                       .logp = run->logp,
                       .info = run->info,
                       .value = run->x,
                       .value_logp = run->logp};
    if (run->target->view && run->sinks > 0) {
        ais_pool_run(run->pool, run->chains, show_chain, &(showing){run, first, count});
        chunk.value = run->value;
        chunk.value_logp = run->slope; /* by now the density */
    }
    ais_status status = AIS_OK;
    for (int s = 0; s < run->sinks && count > 0 && status == AIS_OK; s++)
        status = run->sink[s]->write(context, run->sink[s], &chunk);
    if (status == AIS_OK && run->goal.effective > 0 && !run->warming)
        status = ais_kept_add(context, &run->kept, &chunk);
    return status;
}

/* Every sink that began is ended, or abandoned when anything failed. */
static ais_status close_sinks(ais_context *context, ais_sampling *run, ais_status status,
                              const ais_run_footer *footer) {
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

static ais_status collect_tallies(ais_context *context, const ais_sampling *run) {
    return ais_ranks_collect(context, run->ranks, run->blocks, 1, sizeof *run->tally, own_tally(run));
}

static ais_status collect_accepted(ais_context *context, const ais_sampling *run) {
    return ais_ranks_collect(context, run->ranks, run->chains, run->block_chains, sizeof *run->accept, run->accept);
}

/* Into the journal, then into the sinks. */
static ais_status keep_round(ais_context *context, ais_sampling *run, int first, int count) {
    const ais_chunk chunk = {
        .warmup = run->warming, .first = first, .count = count, .x = run->x, .logp = run->logp, .info = run->info};
    ais_status status = AIS_OK;
    if (run->drawing && count > 0) status = ais_journal_add(context, run->drawing->journal, &chunk);
    return status == AIS_OK ? write_round(context, run, first, count) : status;
}

/* Passes on what a round has drawn; *done counts it. */
static ais_status deliver(ais_context *context, ais_sampling *run, int count, int *done) {
    bool kept = !run->warming || run->header.save_warmup;
    ais_status status = AIS_OK;
    shorten(run, count);
    if (kept) status = collect(context, run, count);
    if (status == AIS_OK) status = collect_tallies(context, run);
    if (status == AIS_OK) status = collect_accepted(context, run);
    if (status == AIS_OK && kept && ais_ranks_lead(run->ranks)) status = keep_round(context, run, *done, count);
    if (status == AIS_OK) *done += count; /* even if the other ranks turn out to be lost */
    for (int b = 0; b < run->blocks && !run->warming; b++) run->steps += run->tally[b].steps;
    for (int b = run->part.first; b < run->part.end; b++) run->block[b].done = 0;
    return ais_ranks_agree(context, run->ranks, status);
}

static ais_status run_round(ais_context *context, ais_sampling *run, int *done, round_end *end) {
    ais_pool_run_part(run->pool, run->blocks, ais_block_run, run);
    ais_status status = first_failure(context, run);
    if (status == AIS_OK) status = end_round(context, run, end);
    if (status == AIS_OK) status = deliver(context, run, end->count, done);
    if (status == AIS_OK) ais_run_report(run, false);
    return status;
}

/* What rank 0 decides for all after a round. */
typedef struct round_plan {
    int length; /* of the next one */
    bool checkpoint;
} round_plan;

static ais_status after_round(ais_context *context, ais_sampling *run, double seconds, int *length) {
    round_plan plan = {*length, run->drawing && ais_checkpoint_due(run->drawing->checkpoint)};
    if (seconds < round_seconds && plan.length < run->longest_round) plan.length *= 2;
    if (plan.length > run->longest_round) plan.length = run->longest_round;
    ais_status status = ais_ranks_first(context, run->ranks, &plan, sizeof plan);
    *length = plan.length;
    return status == AIS_OK && plan.checkpoint ? ais_run_checkpoint(context, run) : status;
}

static void begin_phase(ais_sampling *run, bool warming) {
    run->warming = warming;
    run->phase_started = ais_now();
    for (int b = 0; b < run->blocks; b++) {
        run->tally[b].divergences = 0;
        run->tally[b].worst_round_trip = 0;
    }
    size_t held = (size_t)(ais_ranks_lead(run->ranks) ? run->chains : run->own_chains);
    memset(run->accept, 0, held * sizeof *run->accept);
}

/* One phase, warm-up or sampling, leg by leg and round by round. on: it continues in the middle. level: at its end all
 * chains are at the same step. */
static ais_status run_phase(ais_context *context, ais_sampling *run, bool warming, bool on, ais_ending *ending,
                            bool *level) {
    int planned = warming ? run->warmup : run->draws, *done = warming ? &run->warmup_done : &run->draws_done;
    int length = 1;
    if (on)
        run->phase_started = ais_now() - run->last.phase_seconds;
    else
        begin_phase(run, warming);
    *level = true;
    for (;; on = false) {
        ais_leg leg = run->goal.leg;
        ais_status status = on && *done < leg.until ? AIS_OK : ais_goal_next(context, run, *done, planned, &leg);
        if (status != AIS_OK) return status;
        *ending = leg.ending;
        if (leg.over) return AIS_OK;
        while (*done < leg.until) {
            round_end end;
            double start = ais_now();
            run->round = leg.until - *done < length ? leg.until - *done : length;
            status = run_round(context, run, done, &end);
            if (status != AIS_OK) return status;
            *ending = end.ending;
            *level = end.count == run->round;
            if (end.cut && *done < planned) return AIS_OK;
            if (end.cut) continue;
            status = after_round(context, run, ais_now() - start, &length);
            if (status != AIS_OK) return status;
        }
    }
}

/* Warm-up, then the draws. AIS_STOPPED when the run did not get to them, or was asked to stop. */
static ais_status run_phases(ais_context *context, ais_sampling *run, ais_sample_result *result, bool *level) {
    bool on = run->resumed, among_draws = on && !run->warming;
    ais_status status = AIS_OK;
    if (!among_draws) {
        status = run_phase(context, run, true, on, &result->ended, level);
        run->warmup_seconds = ais_now() - run->phase_started;
        run->warmup_evaluations = ais_run_spent(run) - run->start_evaluations;
    }
    result->warmup_seconds = run->warmup_seconds;
    if (status != AIS_OK) return status;
    if (run->warmup_done < run->warmup)
        return say_why(context, run, result->ended, "warm-up", run->warmup_done, run->warmup);
    status = run_phase(context, run, false, among_draws, &result->ended, level);
    result->sample_seconds = ais_now() - run->phase_started;
    if (status != AIS_OK || (run->draws_done > 0 && result->ended != AIS_ENDED_STOPPED)) return status;
    return say_why(context, run, result->ended, "planned", run->draws_done, run->draws);
}

/* ---- a run ------------------------------------------------------------------------------------- */

static void fill_result(const ais_sampling *run, ais_sample_result *result) {
    bool involution = ais_kernel_info(run->kernel) & 1u << AIS_INFO_ROUND_TRIP;
    result->draws = run->draws_done;
    double accepted = 0;
    for (int c = 0; c < run->chains && ais_ranks_lead(run->ranks); c++) accepted += run->accept[c];
    result->acceptance = run->steps > 0 ? accepted / (double)run->steps : NAN;
    result->effective = run->goal.look.worst;
    result->involution_error = involution ? 0 : NAN;
    result->start_evaluations = run->start_evaluations;
    result->warmup_evaluations = run->warmup_evaluations;
    result->densities = result->gradients = result->divergences = 0;
    for (int b = 0; b < run->blocks; b++) {
        const ais_tally *tally = &run->tally[b];
        result->densities += tally->densities;
        result->gradients += tally->gradients;
        result->gave_up = result->gave_up || tally->gave_up;
        if (run->draws_done == 0) continue;
        result->divergences += tally->divergences;
        if (tally->worst_round_trip > result->involution_error) result->involution_error = tally->worst_round_trip;
    }
}

static ais_status allocate(ais_context *context, ais_sampling *run) {
    const ais_view *view = run->sinks > 0 ? run->target->view : NULL;
    size_t shown = view ? (size_t)view->count + 1 : 0;
    size_t draw_bytes = ((size_t)run->target->dim + 1 + shown) * sizeof(double) + sizeof(ais_info);
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
    run->accept = calloc(held + 1, sizeof *run->accept);
    if (view) run->value = malloc(room * (size_t)view->count * sizeof(double));
    if (view) run->slope = malloc(room * sizeof(double));
    run->block = calloc((size_t)run->blocks, sizeof *run->block);
    run->tally = calloc((size_t)run->blocks, sizeof *run->tally);
    run->goal.leg_spent = calloc((size_t)run->blocks, sizeof *run->goal.leg_spent);
    bool whole = (room == 0 || (run->x && run->logp && run->info && (!view || (run->value && run->slope)))) &&
                 run->accept && run->block && run->tally && run->goal.leg_spent;
    for (int b = run->part.first; whole && b < run->part.end; b++) whole = ais_block_new(run, b);
    return whole ? AIS_OK : ais_fail_memory(context, "the draws of a round", room * draw_bytes);
}

/* A start that a budget or deadline cut short is no fault of the density. */
static ais_status start_failure(ais_context *context, ais_sampling *run, ais_ending *ending) {
    round_end end;
    run->round = 0;
    ais_status status = end_round(context, run, &end);
    if (status != AIS_OK || !end.cut) return status == AIS_OK ? first_failure(context, run) : status;
    *ending = end.ending;
    if (end.ending == AIS_ENDED_EVALUATIONS)
        return ais_fail(context, AIS_STOPPED, "%ld evaluations are too few to start %d chains with: allow more",
                        run->options->evaluations, run->chains);
    if (end.ending == AIS_ENDED_SECONDS)
        return ais_fail(context, AIS_STOPPED, "the deadline of %.3g s passed before all chains had started",
                        run->options->seconds);
    return ais_fail(context, AIS_STOPPED, "stopped before all chains had started");
}

/* Sinks and journal; what was drawn before goes to them first. */
static ais_status begin_sinks(ais_context *context, ais_sampling *run) {
    ais_status status = AIS_OK;
    for (int s = 0; s < run->sinks && status == AIS_OK; s++) {
        run->begun++; /* also when it fails: it is then abandoned */
        status = run->sink[s]->begin(context, run->sink[s], &run->header);
    }
    if (status == AIS_OK && run->drawing && ais_ranks_lead(run->ranks))
        status = ais_run_begin_journal(context, run, write_round);
    return ais_ranks_agree(context, run->ranks, status);
}

static void recall_leg(ais_sampling *run) {
    for (int b = 0; b < run->blocks; b++)
        for (int lane = 0; lane < ais_block_size(run, b); lane++)
            run->goal.leg_spent[b] += run->last.leg_spent[b * run->block_chains + lane];
}

static ais_status begin(ais_context *context, ais_sampling *run, ais_ending *ending) {
    ais_status status = ais_ranks_agree(context, run->ranks, allocate(context, run));
    if (status != AIS_OK) return status;
    run->phase_started = ais_now();
    if (run->resumed) recall_leg(run);
    if (run->repeats) return begin_sinks(context, run); /* there are no steps to make */
    ais_pool_run_part(run->pool, run->blocks, ais_block_init, run);
    status = start_failure(context, run, ending);
    if (status == AIS_OK) status = collect_tallies(context, run);
    if (status == AIS_OK) status = collect_accepted(context, run);
    if (status != AIS_OK) return status;
    if (!run->resumed) run->start_evaluations = ais_run_spent(run);
    return begin_sinks(context, run);
}

static void release(ais_sampling *run) {
    for (int b = 0; b < run->blocks && run->block; b++) ais_block_free(&run->block[b]);
    free(run->block);
    free(run->tally);
    free(run->goal.leg_spent);
    free(run->x);
    free(run->logp);
    free(run->info);
    free(run->accept);
    free(run->last.leg_spent);
    free(run->last.records);
    free(run->value);
    free(run->slope);
    ais_kept_free(&run->kept);
    ais_pool_free(run->pool);
}

/* The most draws per chain: as many as were requested, and if they are judged on the way, as many as can be kept. */
static int most_draws(const ais_sample_options *options, int dim, int chains) {
    if (options->effective == 0) return options->draws ? options->draws : 1000;
    double fit = fmax(floor(AIS_MOST_KEPT / ((dim + 1.0) * chains)), 1),
           most = options->draws ? options->draws : INT_MAX;
    return (int)fmin(fmin(fit, most), INT_MAX);
}

/* Every rank cuts the chains into the same blocks, by the threads of rank 0. */
static ais_status divide(ais_context *context, ais_sampling *run) {
    int workers = ais_pool_threads(run->pool) * (run->ranks ? run->ranks->size : 1);
    ais_status status = ais_ranks_first(context, run->ranks, &workers, sizeof workers);
    run->block_chains = ais_chains_per_block(run->target, run->kernel, run->chains, workers);
    run->blocks = (run->chains - 1) / run->block_chains + 1;
    run->part = ais_ranks_part(run->ranks, run->blocks);
    return status;
}

/* The chains step, unless the run has been finished before. */
static ais_status run_to_end(ais_context *context, ais_sampling *run, ais_sample_result *result) {
    bool level = false;
    if (run->repeats) {
        *result = run->last.result;
        run->draws_done = result->draws;
        return AIS_OK;
    }
    ais_status status = run_phases(context, run, result, &level);
    if (status != AIS_OK) return status;
    fill_result(run, result);
    return ais_run_conclude(context, run, level, result);
}

ais_status ais_sample(ais_context *context, const ais_target *target, const ais_kernel *kernel,
                      const ais_sample_options *options, ais_sink *const *sinks, int sink_count,
                      ais_sample_result *result) {
    return ais_sample_on(context, target, kernel, options, NULL, NULL, sinks, sink_count, result);
}

ais_status ais_sample_on(ais_context *context, const ais_target *target, const ais_kernel *kernel,
                         const ais_sample_options *options, ais_drawing *drawing, const ais_doubt *doubt,
                         ais_sink *const *sinks, int sink_count, ais_sample_result *result_out) {
    ais_status status = check_options(context, options);
    if (status == AIS_OK) status = ais_kernel_fits(context, kernel, target);
    if (status != AIS_OK) return status;
    int chains = options->chains ? options->chains : 4, draws = most_draws(options, target->dim, chains);
    ais_sampling run = {.target = target,
                        .kernel = kernel,
                        .options = options,
                        .stop = options->stop,
                        .chains = chains,
                        .warmup = options->warmup,
                        .draws = draws,
                        .thin = options->thin ? options->thin : 1,
                        .single = chains == 1 || ais_chains_alone(kernel),
                        .sink = sinks,
                        .sinks = ais_ranks_lead(options->ranks) ? sink_count : 0,
                        .ranks = options->ranks,
                        .goal = {.effective = options->effective,
                                 .evaluations = options->evaluations > 0 ? options->evaluations : LONG_MAX,
                                 .look = {.worst = NAN, .tail = INFINITY, .worst_at = -1, .tail_at = -1, .doubt = 1}},
                        .drawing = drawing,
                        .kept = {.dim = target->dim, .chains = chains},
                        .doubt = doubt,
                        .acceptance_now = NAN,
                        .started = ais_now()};
    status = ais_goal_check(context, &run);
    if (status != AIS_OK) return status;
    run.header =
        (ais_run_header){.target = target->name,
                         .about = target->about,
                         .x = {target->dim, target->names},
                         .value = {target->view ? target->view->count : 0, target->view ? target->view->names : NULL},
                         .sampler = ais_kernel_name(kernel),
                         .seed = options->seed,
                         .chains = chains,
                         .warmup = options->warmup,
                         .draws = draws,
                         .save_warmup = options->save_warmup,
                         .thin = options->thin,
                         .info = ais_kernel_info(kernel),
                         .max_depth = kernel->max_depth,
                         .config = options->config};
    ais_sample_result result = {0};
    status = ais_ranks_agree(context, run.ranks, ais_run_recall(context, &run));
    double *own_start = options->start || run.resumed ? NULL : ais_own_starts(target, kernel, options->seed, chains);
    run.own_start = (ais_candidates){own_start, AIS_OWN_STARTS, (size_t)chains * (size_t)target->dim};
    if (status == AIS_OK) status = ais_pool_new(context, options->threads, &run.pool);
    if (status == AIS_OK) ais_pool_join(run.pool, run.ranks);
    if (status == AIS_OK && (options->progress || options->seconds > 0))
        ais_pool_watch(run.pool, watch_seconds, ais_run_watch, &run);
    if (status == AIS_OK) status = divide(context, &run);
    if (status == AIS_OK) status = begin(context, &run, &result.ended);
    if (status == AIS_OK) status = run_to_end(context, &run, &result);
    if (status == AIS_OK || status == AIS_STOPPED) ais_run_report(&run, true);
    ais_run_footer footer = {
        .draws = run.draws_done, .warmup_seconds = result.warmup_seconds, .sample_seconds = result.sample_seconds};
    status = close_sinks(context, &run, status, &footer);
    if (result_out && run.tally) {
        if (!run.repeats) fill_result(&run, &result);
        *result_out = result;
    }
    if (drawing) {
        ais_checkpoint_leave(drawing->checkpoint);
        ais_journal_close(drawing->journal);
        drawing->journal = NULL;
    }
    release(&run);
    free(own_start);
    return status;
}
