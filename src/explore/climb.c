#include "explore/climb.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/stop.h"
#include "base/streams.h"
#include "explore/source.h"
#include "kernel/kernel.h"
#include "learned/learned.h"
#include "target/counted.h"

enum { PIECE = 16, LEAST_RUNGS = 3, LEAPFROGS = 4, MOST_RECORDS = 32 };

static double *place(const ais_climb *climb, int c, int k) {
    return climb->x + ((size_t)c * AIS_MOST_RUNGS + (size_t)k) * (size_t)climb->target->dim;
}

static double *record(const ais_climb *climb, int c, int r, int k) {
    return climb->recorded + (((size_t)c * (size_t)climb->records + (size_t)r) * (size_t)climb->rungs + (size_t)k) *
                                 (size_t)climb->target->dim;
}

static ais_status spread(ais_context *context, ais_climb *climb, size_t count, const double *inside) {
    size_t dim = (size_t)climb->target->dim, n = AIS_CLIMBERS * AIS_MOST_RUNGS;
    ais_status status = ais_source_draw(context, &(ais_source){.map = climb->map}, (int)dim, climb->pool, climb->seed,
                                        ais_stream_step(AIS_USE_CLIMB), n, climb->x, NULL);
    for (size_t r = 0; r < n && status == AIS_OK; r++) {
        double *x = climb->x + r * dim;
        bool finite = true;
        for (size_t i = 0; i < dim; i++) finite &= isfinite(x[i]);
        if (!finite || (int)(r % AIS_MOST_RUNGS) == climb->rungs - 1)
            memcpy(x, inside + r / AIS_MOST_RUNGS % count * dim, dim * sizeof *x);
    }
    return status;
}

ais_status ais_climb_begin(ais_context *context, ais_climb *climb, const ais_target *target, ais_pool *pool,
                           uint64_t seed, ais_kernel *map, int rungs, int count, const double *inside) {
    size_t dim = (size_t)target->dim;
    *climb = (ais_climb){.target = target,
                         .pool = pool,
                         .seed = seed,
                         .map = map,
                         .rungs = rungs,
                         .leapfrogs = target->grad ? LEAPFROGS : 0,
                         .x = malloc(AIS_CLIMBERS * AIS_MOST_RUNGS * dim * sizeof(double))};
    if (!climb->x) return ais_fail_memory(context, "a ladder", AIS_CLIMBERS * AIS_MOST_RUNGS * dim * sizeof(double));
    for (int k = 0; k < rungs; k++) {
        double share = (double)k / (rungs - 1);
        climb->beta[k] = share * share; /* close to the bottom they are narrow */
        climb->scale[k] = 0.3;
    }
    return spread(context, climb, (size_t)count, inside);
}

void ais_climb_free(ais_climb *climb) {
    ais_kernel_free(climb->map);
    free(climb->x);
    free(climb->draws);
    free(climb->recorded);
    climb->map = NULL;
    climb->x = climb->draws = climb->recorded = NULL;
}

ais_status ais_climb_kernel(ais_context *context, const ais_climb *climb, ais_kernel **kernel) {
    ais_kernel *map = NULL;
    const ais_ladder_options options = {
        .rungs = climb->rungs, .beta = climb->beta, .scale = climb->scale, .leapfrogs = climb->leapfrogs};
    ais_status status = ais_learned_copy(context, climb->map, &map);
    if (status == AIS_OK) return ais_kernel_ladder(context, map, &options, kernel);
    ais_kernel_free(map);
    return status;
}

/* ---- a round ------------------------------------------------------------------------------------- */

typedef struct task {
    const ais_climb *climb;
    ais_kernel *kernel;
    int first, count, steps; /* of the present piece; of the round */
    int every;               /* steps from a record to the next */
    ais_counted counted[AIS_CLIMBERS];
    ais_state *state[AIS_CLIMBERS];
    void *own[AIS_CLIMBERS];
    double *draws;
    atomic_bool halt;
    ais_status status[AIS_CLIMBERS];
    ais_context context[AIS_CLIMBERS];
} task;

/* Where the density is zero at a replica's place the others of its ladder stand in for it. */
static ais_status place_replicas(task *this, int c) {
    const ais_climb *climb = this->climb;
    int inside = -1;
    for (int k = climb->rungs - 1; k >= 0 && inside < 0; k--)
        if (this->counted[c].target.logp(place(climb, c, k), this->counted[c].target.data) > -INFINITY) inside = k;
    if (inside < 0)
        return ais_fail(&this->context[c], AIS_BAD_DENSITY,
                        "the density of target %.100s is zero at all %d replicas of a ladder: give another start scale",
                        climb->target->name, climb->rungs);
    ais_status status = ais_state_new(&this->context[c], &this->counted[c].target, climb->seed, (uint32_t)c, 1, 0,
                                      place(climb, c, inside), &this->state[c]);
    if (status != AIS_OK) return status;
    this->state[c]->single = true;
    this->state[c]->step = (uint64_t)climb->round << 32;
    status = this->kernel->type->init(&this->context[c], this->kernel, this->state[c], &this->own[c]);
    for (int k = 1; k < climb->rungs && status == AIS_OK; k++)
        if (k != inside) status = ais_ladder_put(&this->context[c], this->own[c], k, place(climb, c, k));
    return status;
}

static void begin_chain(void *data, int c) {
    task *this = data;
    this->status[c] = ais_counted_begin(&this->counted[c], this->climb->target, 0, 0)
                          ? AIS_OK
                          : ais_fail_memory(&this->context[c], "a ladder", sizeof(ais_counted));
    this->counted[c].halt = &this->halt;
    if (this->status[c] == AIS_OK) this->status[c] = place_replicas(this, c);
}

static void run_piece(void *data, int c) {
    task *this = data;
    ais_state *state = this->state[c];
    size_t dim = (size_t)this->climb->target->dim;
    ais_info info;
    for (int t = this->first; t < this->first + this->count && this->status[c] == AIS_OK; t++, state->step++) {
        this->status[c] = this->kernel->type->step(&this->context[c], this->kernel, state, this->own[c], &info);
        for (size_t i = 0; i < dim; i++)
            this->draws[(i * AIS_CLIMBERS + (size_t)c) * (size_t)this->steps + (size_t)t] =
                state->x[i * (size_t)state->lanes];
        int late = t - (this->steps - this->climb->records * this->every);
        for (int k = 0; k < this->climb->rungs && late >= 0 && late % this->every == 0; k++)
            ais_ladder_get(this->own[c], k, record(this->climb, c, late / this->every, k));
    }
}

static void count(const task *this, ais_climb *climb) {
    climb->densities = climb->gradients = 0;
    for (int c = 0; c < AIS_CLIMBERS; c++) {
        climb->densities += ais_counted_densities(&this->counted[c]);
        climb->gradients += ais_counted_gradients(&this->counted[c]);
    }
}

/* Acceptances and rejections over all ladders since their tallies were cleared. */
static void average(const task *this, ais_climb *climb) {
    double moves = 0, swaps[2] = {0};
    climb->barrier = 0;
    memset(climb->accepted, 0, sizeof climb->accepted);
    memset(climb->rejection, 0, sizeof climb->rejection);
    memset(climb->arrived, 0, sizeof climb->arrived);
    for (int c = 0; c < AIS_CLIMBERS; c++) {
        const ais_ladder_tally *tally = ais_ladder_tally_of(this->own[c]);
        moves += tally->moves;
        swaps[0] += tally->swaps[0];
        swaps[1] += tally->swaps[1];
        for (int k = 0; k < climb->rungs; k++) {
            climb->arrived[k] += tally->arrived[k];
            climb->accepted[k] += tally->accepted[k];
            climb->rejection[k] += tally->rejected[k];
        }
    }
    climb->trips = climb->arrived[climb->rungs - 1];
    for (int k = 0; k < climb->rungs; k++) {
        climb->accepted[k] /= fmax(moves, 1);
        climb->rejection[k] /= fmax(swaps[k % 2], 1);
        if (k + 1 < climb->rungs) climb->barrier += climb->rejection[k];
    }
}

/* Towards the acceptance that suits the moves: longer steps where more is accepted. Angles stay below pi / 2. */
static void tune_scales(const task *this, ais_climb *climb, double rate) {
    ais_ladder *ladder = (ais_ladder *)this->kernel;
    double wanted = climb->leapfrogs ? 0.75 : 0.3, most = climb->leapfrogs ? 2 : 1.5707;
    for (int k = 1; k < climb->rungs; k++) {
        climb->scale[k] = fmin(climb->scale[k] * exp(rate * (climb->accepted[k] - wanted)), most);
        ladder->scale[k] = climb->scale[k];
    }
}

/* The sums of all ladders but one; -1: of all. */
static ais_ladder_tally sum_without(const task *this, int without) {
    ais_ladder_tally sum = *ais_ladder_tally_of(this->own[0]); /* for its guesses, which all have */
    ais_ladder_clear(&sum);
    for (int c = 0; c < AIS_CLIMBERS; c++)
        if (c != without) ais_ladder_add(&sum, ais_ladder_tally_of(this->own[c]));
    return sum;
}

static double log_z_without(const task *this, int without) {
    const ais_ladder_tally sum = sum_without(this, without);
    return ais_ladder_log_z((const ais_ladder *)this->kernel, &sum);
}

/* Tallies restart, with the ratios of the integrals that they have shown so far as guesses. */
static void begin_tallies(const task *this) {
    const ais_ladder_tally sum = sum_without(this, -1);
    for (int c = 0; c < AIS_CLIMBERS; c++) {
        ais_ladder_tally *tally = ais_ladder_tally_of(this->own[c]);
        for (int k = 0; k + 1 < this->climb->rungs; k++) {
            double ratio = ais_ladder_ratio(&sum, k);
            if (isfinite(ratio)) tally->guess[k] = ratio; /* it is not before the first piece */
        }
        ais_ladder_clear(tally);
    }
}

/* The error is the jackknife's over the ladders, which are independent but for what they share. */
static void estimate_log_z(const task *this, ais_climb *climb) {
    double square = 0;
    climb->log_z = log_z_without(this, -1);
    for (int c = 0; c < AIS_CLIMBERS; c++) {
        double off = log_z_without(this, c) - climb->log_z;
        square += off * off;
    }
    climb->log_z_error = sqrt(square * (AIS_CLIMBERS - 1) / AIS_CLIMBERS);
}

static ais_status first_failure(ais_context *context, const task *this) {
    for (int c = 0; c < AIS_CLIMBERS; c++)
        if (this->status[c] != AIS_OK) {
            *context = this->context[c];
            return this->status[c];
        }
    return AIS_OK;
}

static bool is_over(const ais_climb *climb, long spent) {
    return (climb->most && spent >= climb->most) || ais_asked_to_stop(climb->stop) ||
           (climb->deadline > 0 && ais_now() > climb->deadline);
}

static ais_status run_pieces(ais_context *context, task *this, ais_climb *climb, bool tune) {
    ais_status status = AIS_OK;
    double per_piece = 0;
    for (int done = 0, pieces = 0; done < this->steps && status == AIS_OK; done += this->count, pieces++) {
        long spent = climb->densities + climb->gradients;
        climb->cut_short = is_over(climb, spent + (long)per_piece);
        if (climb->cut_short) {
            this->steps = done;
            break;
        }
        this->first = done;
        this->count = this->steps - done < PIECE ? this->steps - done : PIECE;
        /* Tallies restart while steps are tuned, and after the first quarter and the first piece, in which replicas
         * settle and ratios are guessed. */
        if (4 * done < this->steps || done <= PIECE || (tune && 2 * done < this->steps)) begin_tallies(this);
        ais_share_out(climb->pool, AIS_CLIMBERS, run_piece, this);
        status = first_failure(context, this);
        count(this, climb);
        per_piece = (double)(climb->densities + climb->gradients - spent);
        if (climb->tick) climb->tick(climb->tick_data, climb->before + climb->densities + climb->gradients);
        if (status != AIS_OK || !tune || 2 * done >= this->steps) continue;
        average(this, climb);
        tune_scales(this, climb, fmax(1.0 / (1 + pieces), 0.2));
    }
    return status;
}

static void end_chains(const task *this, ais_climb *climb) {
    for (int c = 0; c < AIS_CLIMBERS; c++) {
        for (int k = 0; k < climb->rungs && this->own[c]; k++) ais_ladder_get(this->own[c], k, place(climb, c, k));
        ais_state_free(this->state[c]);
    }
}

ais_status ais_climb_round(ais_context *context, ais_climb *climb, int steps, bool tune) {
    size_t dim = (size_t)climb->target->dim;
    task *this = calloc(1, sizeof *this);
    double *draws = malloc(dim * AIS_CLIMBERS * (size_t)steps * sizeof *draws);
    int half = (steps + 1) / 2, every = (half + MOST_RECORDS - 1) / MOST_RECORDS;
    free(climb->recorded);
    climb->records = tune ? half / every : 0;
    climb->recorded_rungs = climb->rungs;
    climb->recorded = malloc((AIS_CLIMBERS * (size_t)(climb->records * climb->rungs) + 1) * dim * sizeof *draws);
    ais_status status = this && draws && climb->recorded
                            ? ais_climb_kernel(context, climb, &this->kernel)
                            : ais_fail_memory(context, "a ladder", dim * (size_t)steps * sizeof *draws);
    if (status != AIS_OK) {
        free(this);
        free(draws);
        return status;
    }
    climb->round++;
    this->climb = climb;
    this->steps = steps;
    this->every = every;
    this->draws = draws;
    climb->densities = climb->gradients = 0;
    ais_share_out(climb->pool, AIS_CLIMBERS, begin_chain, this);
    status = first_failure(context, this);
    if (status == AIS_OK) status = run_pieces(context, this, climb, tune);
    if (status == AIS_OK && this->steps) {
        average(this, climb);
        estimate_log_z(this, climb);
    }
    count(this, climb);
    /* The rows of draws lie `steps` apart; where there are fewer, they move together. */
    for (size_t r = 0; r < dim * AIS_CLIMBERS; r++)
        memmove(draws + r * (size_t)this->steps, draws + r * (size_t)steps, (size_t)this->steps * sizeof *draws);
    climb->steps = this->steps;
    end_chains(this, climb);
    for (int c = 0; c < AIS_CLIMBERS; c++) ais_counted_end(&this->counted[c]);
    ais_kernel_free(this->kernel);
    free(this);
    free(climb->draws);
    climb->draws = draws;
    return status;
}

/* ---- between rounds ------------------------------------------------------------------------------ */

void ais_climb_respace(ais_climb *climb) {
    static const double least = 0.01, per_barrier = 2;
    double reached[AIS_MOST_RUNGS], beta[AIS_MOST_RUNGS] = {0}, scale[AIS_MOST_RUNGS] = {0};
    int old = climb->rungs, from[AIS_MOST_RUNGS] = {0};
    reached[0] = 0;
    for (int k = 0; k + 1 < old; k++) reached[k + 1] = reached[k] + fmax(climb->rejection[k], least);
    double wanted = ceil(per_barrier * climb->barrier) + 2;
    int rungs = wanted < LEAST_RUNGS ? LEAST_RUNGS : wanted > AIS_MOST_RUNGS ? AIS_MOST_RUNGS : (int)wanted;
    if (rungs > 2 * old) rungs = 2 * old; /* a barrier that is mostly one gap is not known yet */
    for (int j = 0, k = 0; j < rungs; j++) {
        double goal = reached[old - 1] * j / (rungs - 1);
        while (k + 2 < old && reached[k + 1] < goal) k++;
        double share = fmin((goal - reached[k]) / (reached[k + 1] - reached[k]), 1);
        beta[j] = climb->beta[k] + share * (climb->beta[k + 1] - climb->beta[k]);
        from[j] = share < 0.5 ? k : k + 1;
        scale[j] = climb->scale[from[j] ? from[j] : 1];
    }
    beta[0] = 0;
    beta[rungs - 1] = 1;
    for (int c = 0; c < AIS_CLIMBERS; c++) { /* upwards where there are more, downwards where there are fewer */
        size_t bytes = (size_t)climb->target->dim * sizeof(double);
        if (rungs >= old)
            for (int j = rungs - 1; j >= 0; j--) memmove(place(climb, c, j), place(climb, c, from[j]), bytes);
        else
            for (int j = 0; j < rungs; j++) memmove(place(climb, c, j), place(climb, c, from[j]), bytes);
    }
    climb->rungs = rungs;
    memcpy(climb->beta, beta, sizeof beta);
    memcpy(climb->scale, scale, sizeof scale);
}

void ais_climb_rebase(ais_climb *climb, ais_kernel *map) {
    ais_kernel_free(climb->map);
    climb->map = map;
}
