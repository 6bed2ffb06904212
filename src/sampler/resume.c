/* The state of a drawing in its checkpoint: what the run counts, and a record of every chain.
 *
 * Records are of chains, not of blocks, so that a run can continue with another number of threads or ranks. Counts of a
 * block are divided among its chains and put together again; sums do not change. A checkpoint is made only between two
 * rounds in which nothing was cut short, for all chains are at the same step there. */
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "sampler/sample.h"

/* ---- a chain ------------------------------------------------------------------------------------- */

/* What a block counts, as a chain's share. */
typedef struct counts {
    int64_t densities, gradients, left, divergences;
    double worst_round_trip;
} counts;

/* No file makes a sum over chains overflow. */
static const int64_t most_of_chain = INT64_MAX >> 24;

static bool is_share(int64_t count) { return count >= 0 && count <= most_of_chain; }

static bool are_sound(const counts *of) {
    return is_share(of->densities) && is_share(of->gradients) && is_share(of->divergences) &&
           (of->left == -1 || is_share(of->left)) && of->worst_round_trip >= 0;
}

static int64_t share(int64_t all, int lane, int chains) { return all / chains + (lane < all % chains); }

static counts counts_of(const ais_sampling *run, int b, int lane) {
    const ais_counted *counted = &run->block[b].counted;
    int chains = ais_block_size(run, b);
    return (counts){.densities = share(ais_counted_densities(counted), lane, chains),
                    .gradients = share(ais_counted_gradients(counted), lane, chains),
                    .left = run->goal.evaluations == LONG_MAX ? -1 : share(counted->left, lane, chains),
                    .divergences = share(run->tally[b].divergences, lane, chains),
                    .worst_round_trip = run->tally[b].worst_round_trip};
}

/* What the sampler itself keeps of a chain; x stands first. */
static void persist_point(ais_sampling *run, ais_block *block, int lane, ais_record *record) {
    ais_state *state = block->state;
    size_t dim = (size_t)run->target->dim, lanes = (size_t)state->lanes, c = (size_t)lane;
    ais_record_lane(record, state->x, dim, lanes, c);
    ais_record_lane(record, state->logp, 1, lanes, c);
    ais_record_bytes(record, &state->step, sizeof state->step);
    ais_record_bytes(record, &block->info[lane], sizeof *block->info);
    ais_record_bytes(record, &run->accept[(size_t)state->chain + c - (size_t)run->first_chain], sizeof *run->accept);
}

static void persist(ais_sampling *run, int b, int lane, counts *counted, ais_record *record) {
    ais_block *block = &run->block[b];
    persist_point(run, block, lane, record);
    ais_record_bytes(record, counted, sizeof *counted);
    run->kernel->type->persist(run->kernel, block->state, block->own, lane, record);
}

static unsigned char *record_of(const ais_sampling *run, int chain) {
    return run->last.records + (size_t)chain * run->last.record_bytes;
}

/* ---- continuing ---------------------------------------------------------------------------------- */

void ais_block_recall_starts(const ais_sampling *run, int b, double *start) {
    size_t dim = (size_t)run->target->dim;
    for (int c = 0; c < ais_block_size(run, b); c++)
        memcpy(start + (size_t)c * dim, record_of(run, b * run->block_chains + c), dim * sizeof *start);
}

/* The density is evaluated at the point of every chain before anything else, so that a changed density is noticed. */
static ais_status same_density(ais_context *context, const ais_sampling *run, int chain, double now, double then) {
    if (run->target->draws || fabs(now - then) <= 1e-3 + 1e-6 * fabs(then)) return AIS_OK;
    return ais_fail(context, AIS_BAD_ARGUMENT,
                    "the log density of target %.100s is %.9g where chain %d was, and it was %.9g when the run was "
                    "interrupted: the density has changed, so the run cannot continue",
                    run->target->name ? run->target->name : "", now, chain + 1, then);
}

ais_status ais_block_recall(ais_sampling *run, int b) {
    ais_block *block = &run->block[b];
    ais_tally *tally = &run->tally[b];
    int chains = ais_block_size(run, b);
    long densities = 0, gradients = 0, left = 0;
    bool limited = run->goal.evaluations < LONG_MAX;
    for (int lane = 0; lane < chains; lane++) {
        counts of;
        int chain = b * run->block_chains + lane;
        double now = block->state->logp[lane];
        ais_record record = {.use = AIS_RECORD_READ, .bytes = record_of(run, chain), .room = run->last.record_bytes};
        persist(run, b, lane, &of, &record);
        if (record.used != run->last.record_bytes || !isfinite(block->state->logp[lane]) || !are_sound(&of))
            return ais_fail(&block->context, AIS_BAD_FORMAT, "the checkpoint does not fit this run: chain %d",
                            chain + 1);
        ais_status status = same_density(&block->context, run, chain, now, block->state->logp[lane]);
        if (status != AIS_OK) return status;
        densities += of.densities;
        gradients += of.gradients;
        left += limited ? of.left : 0;
        limited = limited && of.left >= 0;
        tally->divergences += of.divergences;
        tally->worst_round_trip = fmax(tally->worst_round_trip, of.worst_round_trip);
    }
    atomic_store(&block->counted.densities, densities);
    atomic_store(&block->counted.gradients, gradients);
    block->counted.left = limited ? left : LONG_MAX;
    return AIS_OK;
}

/* ---- the checkpoint ------------------------------------------------------------------------------ */

static void spent_exchange(ais_checkpoint *checkpoint, ais_sampling *run) {
    static const char field[] = "leg.spent";
    long *spent = run->last.leg_spent;
    if (!ais_checkpoint_bytes(checkpoint, field, spent, (size_t)run->chains * sizeof *spent)) return;
    for (int c = 0; c < run->chains && ais_checkpoint_reads(checkpoint); c++)
        if (!is_share(spent[c])) ais_checkpoint_refuse(checkpoint, field);
}

static void goal_exchange(ais_checkpoint *checkpoint, ais_sampling *run) {
    ais_snapshot *last = &run->last;
    int ending = last->leg.ending;
    ais_checkpoint_integer(checkpoint, "leg.until", &last->leg.until, 0, last->warming ? run->warmup : last->planned);
    ais_checkpoint_count(checkpoint, "leg.allowance", &last->leg.allowance, INT64_MAX);
    ais_checkpoint_flag(checkpoint, "leg.over", &last->leg.over);
    ais_checkpoint_integer(checkpoint, "leg.ending", &ending, AIS_ENDED_DRAWS, AIS_ENDED_STOPPED);
    last->leg.ending = (ais_ending)ending;
    ais_checkpoint_integer(checkpoint, "leg.from", &last->leg_from, 0, INT_MAX);
    spent_exchange(checkpoint, run);
    ais_checkpoint_integer(checkpoint, "look.next", &last->look.next, 0, INT_MAX);
    ais_checkpoint_integer(checkpoint, "look.last", &last->look.last, 0, INT_MAX);
    ais_checkpoint_bytes(checkpoint, "look.worst", &last->look.worst, sizeof last->look.worst);
    ais_checkpoint_bytes(checkpoint, "look.tail", &last->look.tail, sizeof last->look.tail);
    ais_checkpoint_integer(checkpoint, "look.worst_at", &last->look.worst_at, -1, run->target->dim - 1);
    ais_checkpoint_integer(checkpoint, "look.tail_at", &last->look.tail_at, -1, run->target->dim - 1);
    ais_checkpoint_bytes(checkpoint, "look.doubt", &last->look.doubt, sizeof last->look.doubt);
    ais_checkpoint_integer(checkpoint, "look.enough_at", &last->look.enough_at, 0, INT_MAX);
}

static void end_exchange(ais_checkpoint *checkpoint, ais_snapshot *last) {
    ais_sample_result *result = &last->result;
    int ended = result->ended;
    ais_checkpoint_flag(checkpoint, "finished", &last->finished);
    AIS_FIELD(checkpoint, last, final_journal);
    ais_checkpoint_integer(checkpoint, "result.draws", &result->draws, 0, INT_MAX);
    ais_checkpoint_integer(checkpoint, "result.ended", &ended, AIS_ENDED_DRAWS, AIS_ENDED_STOPPED);
    result->ended = (ais_ending)ended;
    AIS_FIELD(checkpoint, result, warmup_seconds);
    AIS_FIELD(checkpoint, result, sample_seconds);
    AIS_FIELD(checkpoint, result, acceptance);
    AIS_FIELD(checkpoint, result, involution_error);
    AIS_FIELD(checkpoint, result, effective);
    ais_checkpoint_count(checkpoint, "result.divergences", &result->divergences, ais_most_count);
    ais_checkpoint_count(checkpoint, "result.densities", &result->densities, ais_most_count);
    ais_checkpoint_count(checkpoint, "result.gradients", &result->gradients, ais_most_count);
    ais_checkpoint_count(checkpoint, "result.start", &result->start_evaluations, ais_most_count);
    ais_checkpoint_count(checkpoint, "result.warmup", &result->warmup_evaluations, ais_most_count);
}

static void records_exchange(ais_checkpoint *checkpoint, ais_sampling *run) {
    ais_snapshot *last = &run->last;
    bool reads = ais_checkpoint_reads(checkpoint);
    size_t bytes = (size_t)run->chains * last->record_bytes;
    void *records = last->records;
    ais_checkpoint_memory(checkpoint, "chains", &records, &bytes);
    if (!reads) return;
    free(last->records);
    last->records = records;
    last->record_bytes = bytes / (size_t)run->chains;
    if (bytes % (size_t)run->chains != 0 || last->record_bytes < (size_t)run->target->dim * sizeof(double))
        ais_checkpoint_refuse(checkpoint, "chains");
}

static void exchange(ais_checkpoint *checkpoint, void *data) {
    ais_sampling *run = data;
    ais_snapshot *last = &run->last;
    int warmup = run->warmup;
    ais_checkpoint_integer(checkpoint, "warmup", &warmup, run->warmup, run->warmup);
    ais_checkpoint_integer(checkpoint, "planned", &last->planned, 1, INT_MAX);
    ais_checkpoint_flag(checkpoint, "extended", &last->extended);
    ais_checkpoint_flag(checkpoint, "warming", &last->warming);
    ais_checkpoint_integer(checkpoint, "warmup_done", &last->warmup_done, 0, run->warmup);
    ais_checkpoint_integer(checkpoint, "draws_done", &last->draws_done, 0, last->planned);
    ais_checkpoint_count(checkpoint, "steps", &last->steps, ais_most_count);
    ais_checkpoint_count(checkpoint, "start_evaluations", &last->start_evaluations, ais_most_count);
    ais_checkpoint_count(checkpoint, "warmup_evaluations", &last->warmup_evaluations, ais_most_count);
    ais_checkpoint_numbers(checkpoint, "warmup_seconds", &last->warmup_seconds, 1);
    ais_checkpoint_numbers(checkpoint, "phase_seconds", &last->phase_seconds, 1);
    AIS_FIELD(checkpoint, last, token);
    AIS_FIELD(checkpoint, last, journal);
    goal_exchange(checkpoint, run);
    end_exchange(checkpoint, last);
    records_exchange(checkpoint, run);
}

/* ---- reading ------------------------------------------------------------------------------------- */

static ais_status extend(ais_context *context, ais_sampling *run) {
    ais_snapshot *last = &run->last;
    int more = run->drawing->extend;
    if (!more) return AIS_OK;
    if (!last->finished)
        return ais_fail(context, AIS_BAD_ARGUMENT,
                        "the run was interrupted after %d of %d draws per chain: resume it before it is extended",
                        last->draws_done, last->planned);
    if (last->result.draws > INT_MAX - more)
        return ais_fail(context, AIS_BAD_ARGUMENT, "%d draws and %d more are more than a chain can have: %d",
                        last->result.draws, more, INT_MAX);
    last->planned = last->result.draws + more;
    last->finished = false;
    last->extended = true;
    return AIS_OK;
}

/* Counts of the run, which all ranks have alike. */
static void take_over(ais_sampling *run) {
    const ais_snapshot *last = &run->last;
    run->warming = last->warming;
    run->warmup_done = last->warmup_done;
    run->draws_done = last->draws_done;
    run->steps = last->steps;
    run->start_evaluations = last->start_evaluations;
    run->warmup_evaluations = last->warmup_evaluations;
    run->warmup_seconds = last->warmup_seconds;
    run->goal.look = last->look;
    run->goal.leg = last->leg;
    run->goal.leg_from = last->leg_from;
    run->draws = run->header.draws = last->planned;
    run->repeats = last->finished;
    if (!last->extended) return;
    /* What limited the run that was extended has been reached. */
    run->goal.effective = 0;
    run->goal.evaluations = LONG_MAX;
    run->goal.leg.until = last->warming ? run->warmup : last->planned;
    run->goal.leg.allowance = LONG_MAX;
    run->goal.leg.over = false;
    run->drawing->unlimited = true;
}

ais_status ais_run_recall(ais_context *context, ais_sampling *run) {
    ais_drawing *drawing = run->drawing;
    if (!drawing) return AIS_OK;
    if (!run->kernel->type->persist)
        return ais_fail(context, AIS_BAD_ARGUMENT, "%s keeps no checkpoint of its chains",
                        ais_kernel_name(run->kernel));
    run->last.planned = run->draws;
    run->last.leg_spent = calloc((size_t)run->chains, sizeof *run->last.leg_spent);
    if (!run->last.leg_spent) return ais_fail_memory(context, "a checkpoint", (size_t)run->chains * sizeof(long));
    ais_status status = ais_checkpoint_enter(context, drawing->checkpoint, "drawing", exchange, run, &run->resumed);
    if (status == AIS_OK && run->resumed) status = extend(context, run);
    if (status == AIS_OK && run->resumed) take_over(run);
    return status;
}

/* ---- the journal --------------------------------------------------------------------------------- */

typedef struct replay {
    ais_sampling *run;
    ais_status (*deliver)(ais_context *, ais_sampling *, int first, int count);
    int warmup, draws; /* so far */
} replay;

/* A chunk in pieces that fit the buffers of a round. */
static ais_status deliver_again(ais_context *context, void *data, const ais_chunk *chunk) {
    replay *this = data;
    ais_sampling *run = this->run;
    int *done = chunk->warmup ? &this->warmup : &this->draws;
    size_t dim = (size_t)run->target->dim, chains = (size_t)run->chains, all = (size_t)chunk->count;
    ais_status status = AIS_OK;
    if (chunk->first != *done) return ais_fail(context, AIS_BAD_FORMAT, "%s has a gap", run->drawing->path);
    run->warming = chunk->warmup;
    for (int from = 0, count; from < chunk->count && status == AIS_OK; from += count) {
        count = chunk->count - from < run->longest_round ? chunk->count - from : run->longest_round;
        size_t n = (size_t)count, begin = (size_t)from;
        for (size_t c = 0; c < chains; c++) {
            memcpy(run->x + c * n * dim, chunk->x + (c * all + begin) * dim, n * dim * sizeof(double));
            memcpy(run->logp + c * n, chunk->logp + c * all + begin, n * sizeof(double));
            memcpy(run->info + c * n, chunk->info + c * all + begin, n * sizeof(ais_info));
        }
        status = this->deliver(context, run, chunk->first + from, count);
    }
    *done += chunk->count;
    return status;
}

ais_status ais_run_begin_journal(ais_context *context, ais_sampling *run,
                                 ais_status (*deliver)(ais_context *, ais_sampling *, int first, int count)) {
    ais_drawing *drawing = run->drawing;
    const ais_snapshot *last = &run->last;
    const ais_journal_shape shape = {run->target->dim, run->chains, run->header.info};
    if (!run->resumed) return ais_journal_begin(context, drawing->path, &shape, &drawing->journal);
    replay this = {.run = run, .deliver = deliver};
    bool warming = run->warming;
    ais_status status =
        ais_journal_resume(context, drawing->path, &shape, last->token,
                           run->repeats ? last->final_journal : last->journal, deliver_again, &this, &drawing->journal);
    run->warming = warming;
    int warmup = run->header.save_warmup ? last->warmup_done : 0;
    int draws = run->repeats ? last->result.draws : last->draws_done;
    if (status == AIS_OK && (this.warmup != warmup || this.draws != draws))
        return ais_fail(context, AIS_BAD_FORMAT, "%s has %d draws per chain, but its checkpoint has %d", drawing->path,
                        this.draws, draws);
    return status;
}

/* ---- writing ------------------------------------------------------------------------------------- */

static ais_status make_records(ais_context *context, ais_sampling *run) {
    double bytes = 0;
    if (run->part.end > run->part.first) {
        counts of = {0};
        ais_record record = {.use = AIS_RECORD_COUNT};
        persist(run, run->part.first, 0, &of, &record);
        bytes = (double)record.used;
    }
    ais_status status = ais_ranks_largest(context, run->ranks, &bytes, 1); /* a rank may have no chain */
    if (status != AIS_OK || run->last.record_bytes == (size_t)bytes) return status;
    free(run->last.records);
    run->last.record_bytes = (size_t)bytes;
    run->last.records = malloc((size_t)run->chains * (size_t)bytes);
    if (run->last.records) return AIS_OK;
    return ais_fail_memory(context, "a checkpoint", (size_t)run->chains * (size_t)bytes);
}

/* Task: records of a block. */
static void record_block(void *data, int b) {
    ais_sampling *run = data;
    for (int lane = 0; lane < ais_block_size(run, b); lane++) {
        counts of = counts_of(run, b, lane);
        ais_record record = {.use = AIS_RECORD_WRITE,
                             .bytes = record_of(run, b * run->block_chains + lane),
                             .room = run->last.record_bytes};
        persist(run, b, lane, &of, &record);
    }
}

static void note_counts(ais_sampling *run) {
    ais_snapshot *last = &run->last;
    last->warming = run->warming;
    last->warmup_done = run->warmup_done;
    last->draws_done = run->draws_done;
    last->steps = run->steps;
    last->start_evaluations = run->start_evaluations;
    last->warmup_evaluations = run->warmup_evaluations;
    last->warmup_seconds = run->warmup_seconds;
    last->phase_seconds = ais_now() - run->phase_started;
    last->look = run->goal.look;
    last->leg = run->goal.leg;
    last->leg_from = run->goal.leg_from;
    for (int b = 0; b < run->blocks; b++)
        for (int lane = 0, size = ais_block_size(run, b); lane < size; lane++)
            last->leg_spent[b * run->block_chains + lane] = share(run->goal.leg_spent[b], lane, size);
}

/* All chains are at the same step: where they are. */
static ais_status snap(ais_context *context, ais_sampling *run) {
    ais_status status = ais_ranks_agree(context, run->ranks, make_records(context, run));
    if (status != AIS_OK) return status;
    ais_pool_run_part(run->pool, run->blocks, record_block, run);
    unsigned char *own = ais_ranks_lead(run->ranks) ? run->last.records : record_of(run, run->first_chain);
    status = ais_ranks_collect(context, run->ranks, run->chains, run->block_chains, run->last.record_bytes, own);
    if (status == AIS_OK) note_counts(run);
    return status;
}

/* The journal first: a checkpoint must not refer to draws that are not there. */
static ais_status save(ais_context *context, ais_sampling *run, double began) {
    ais_drawing *drawing = run->drawing;
    run->last.token = ais_journal_token(drawing->journal);
    ais_status status = ais_journal_sync(context, drawing->journal);
    double spent = ais_now() - began;
    return status == AIS_OK ? ais_checkpoint_write(context, drawing->checkpoint, spent) : status;
}

ais_status ais_run_checkpoint(ais_context *context, ais_sampling *run) {
    double began = ais_now();
    ais_status status = snap(context, run);
    if (status == AIS_OK && ais_ranks_lead(run->ranks)) {
        run->last.journal = ais_journal_bytes(run->drawing->journal);
        status = save(context, run, began);
    }
    return ais_ranks_agree(context, run->ranks, status);
}

ais_status ais_run_conclude(ais_context *context, ais_sampling *run, bool level, const ais_sample_result *result) {
    if (!run->drawing) return AIS_OK;
    double began = ais_now();
    ais_status status = level ? snap(context, run) : AIS_OK;
    if (status == AIS_OK && ais_ranks_lead(run->ranks) && run->last.records) {
        run->last.final_journal = ais_journal_bytes(run->drawing->journal);
        if (level) run->last.journal = run->last.final_journal;
        run->last.finished = true;
        run->last.result = *result;
        status = save(context, run, began);
    }
    return ais_ranks_agree(context, run->ranks, status);
}
