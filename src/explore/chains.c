#include "explore/chains.h"

#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/stop.h"
#include "explore/stray.h"
#include "kernel/kernel.h"

/* A target that records where its gradient was evaluated. */
typedef struct memory {
    const ais_target *target;
    size_t count, room;
    double *x, *logp, *gradient;
    int *from;
    size_t *first; /* of each draw: the first point that was remembered on the way to it; and the end */
    long densities, gradients;
    const ais_stretch *stretch;
    atomic_long *all; /* gradients of all chains */
    pthread_t caller;
    bool over; /* the target is not evaluated any more */
    bool full; /* no more memory: points are lost, results are not */
} memory;

static bool grow(memory *this) {
    size_t dim = (size_t)this->target->dim, room = this->room ? 2 * this->room : 1024;
    double *x = realloc(this->x, room * dim * sizeof *x);
    if (x) this->x = x;
    double *gradient = x ? realloc(this->gradient, room * dim * sizeof *gradient) : NULL;
    if (gradient) this->gradient = gradient;
    double *logp = gradient ? realloc(this->logp, room * sizeof *logp) : NULL;
    if (logp) this->logp = logp;
    int *from = logp ? realloc(this->from, room * sizeof *from) : NULL;
    if (from) {
        this->from = from;
        this->room = room;
    }
    return from != NULL;
}

static bool is_over(memory *this) {
    const ais_stretch *stretch = this->stretch;
    this->over = this->over ||
                 (stretch->most && this->densities + stretch->price * (this->gradients + 1) > stretch->most) ||
                 ais_asked_to_stop(stretch->stop) || (stretch->deadline > 0 && ais_now() > stretch->deadline);
    return this->over;
}

static double remember_gradient(const double *x, double *gradient, void *data) {
    memory *this = data;
    size_t dim = (size_t)this->target->dim;
    if (is_over(this)) { /* a wall, at which the trajectory ends; the chain does not go on from it */
        memset(gradient, 0, dim * sizeof *gradient);
        return -INFINITY;
    }
    double logp = this->target->grad(x, gradient, this->target->data);
    this->gradients++;
    atomic_fetch_add_explicit(this->all, 1, memory_order_relaxed);
    if (this->stretch->tick && pthread_equal(pthread_self(), this->caller))
        this->stretch->tick(this->stretch->tick_data,
                            this->stretch->before + this->stretch->price * atomic_load(this->all));
    if (this->count == this->room && !this->full) this->full = !grow(this);
    if (this->full || !(logp > -INFINITY)) return logp;
    memcpy(this->x + this->count * dim, x, dim * sizeof *x);
    memcpy(this->gradient + this->count * dim, gradient, dim * sizeof *gradient);
    this->logp[this->count] = logp;
    this->from[this->count++] = AIS_FROM_PATH;
    return logp;
}

static double count_density(const double *x, void *data) {
    memory *this = data;
    this->densities++;
    return this->target->logp(x, this->target->data);
}

typedef struct task {
    const ais_target *target;
    ais_stretch *stretch;
    const ais_kernel *kernel;
    memory *memory;    /* of each chain */
    double *step_size; /* of each chain: its logarithm */
    long *leapfrogs;   /* of its draws */
    long *divergences; /* likewise */
    double *logp;      /* chains x draws: of the draws */
    ais_status *status;
    ais_context *context;
} task;

/* Which of the points remembered since `first` the chain is at now. */
static void mark(memory *this, size_t first, const double *x, size_t lanes) {
    size_t dim = (size_t)this->target->dim;
    for (size_t c = first; c < this->count; c++) {
        size_t i = 0;
        while (i < dim && this->x[c * dim + i] == x[i * lanes]) i++;
        if (i == dim) this->from[c] = AIS_FROM_CHAIN;
    }
}

static void run_chain(void *data, int c) {
    const task *this = data;
    const ais_stretch *stretch = this->stretch;
    memory *kept = &this->memory[c];
    const ais_target target = {.name = this->target->name,
                               .dim = this->target->dim,
                               .logp = count_density,
                               .grad = remember_gradient,
                               .start_scale = this->target->start_scale,
                               .data = kept};
    size_t dim = (size_t)target.dim, lanes;
    uint32_t chain = (uint32_t)(stretch->number * stretch->chains + c);
    ais_state *state = NULL;
    ais_info info;
    void *own;
    double *x = stretch->x + (size_t)c * dim;
    ais_status status =
        ais_state_new(&this->context[c], &target, stretch->seed, chain, 1, (uint64_t)stretch->warmup, x, &state);
    if (status == AIS_OK) status = this->kernel->type->init(&this->context[c], this->kernel, state, &own);
    for (int t = 0; status == AIS_OK && t < stretch->warmup + stretch->draws; t++) {
        size_t first = kept->count;
        status = this->kernel->type->step(&this->context[c], this->kernel, state, own, &info);
        state->step++;
        if (kept->over) break;
        this->step_size[c] = log(info.step_size);
        if (status != AIS_OK || t < stretch->warmup) continue;
        lanes = (size_t)state->lanes;
        mark(kept, first, state->x, lanes);
        this->leapfrogs[c] += (long)info.n_leapfrog;
        this->divergences[c] += info.divergent != 0;
        size_t row = (size_t)c * (size_t)stretch->draws + (size_t)(t - stretch->warmup);
        for (size_t i = 0; stretch->state && i < dim; i++)
            stretch->state[i * (size_t)stretch->chains * (size_t)stretch->draws + row] = state->x[i * lanes];
        this->logp[row] = state->logp[0];
        kept->first[t - stretch->warmup] = first;
        kept->first[t - stretch->warmup + 1] = kept->count;
    }
    for (size_t i = 0; status == AIS_OK && i < dim; i++) x[i] = state->x[i * (size_t)state->lanes];
    this->status[c] = status;
    ais_state_free(state);
}

/* NUTS in the latent space of the stretch's map. */
static ais_status make_kernel(ais_context *context, const ais_stretch *stretch, ais_kernel **kernel) {
    ais_kernel *nuts = NULL;
    ais_status status =
        ais_kernel_nuts(context, &(ais_nuts_options){.unit = true, .max_depth = stretch->max_depth}, &nuts);
    if (status == AIS_OK) return ais_kernel_latent(context, stretch->map, nuts, kernel);
    ais_kernel_free(stretch->map);
    return status;
}

/* Draws in places with almost no mass do not count as draws; a chain that ended there continues from where the best one
 * is. */
static ais_status leave_strays(ais_context *context, task *this) {
    enum { PIECES = 4, LEAST = 20 }; /* draws of a piece */
    const ais_stretch *stretch = this->stretch;
    if (!stretch->state || stretch->draws < PIECES * LEAST) return AIS_OK;
    size_t dim = (size_t)this->target->dim, length = (size_t)stretch->draws / PIECES;
    bool *stray = malloc((size_t)stretch->chains * PIECES * sizeof *stray);
    if (!stray) return ais_fail_memory(context, "chains that explore", (size_t)stretch->chains * PIECES);
    int best = ais_find_stray((int)dim, stretch->chains, stretch->draws, PIECES, stretch->state, this->logp, stray);
    for (int c = 0; c < stretch->chains; c++) {
        const memory *kept = &this->memory[c];
        for (size_t p = 0; p < PIECES; p++)
            for (size_t k = kept->first[p * length]; stray[(size_t)c * PIECES + p] && k < kept->first[(p + 1) * length];
                 k++)
                kept->from[k] = AIS_FROM_PATH;
        if (stray[(size_t)c * PIECES + PIECES - 1])
            memcpy(stretch->x + (size_t)c * dim, stretch->x + (size_t)best * dim, dim * sizeof *stretch->x);
    }
    free(stray);
    return AIS_OK;
}

static ais_status collect(ais_context *context, task *this, ais_archive *archive) {
    ais_stretch *stretch = this->stretch;
    size_t dim = (size_t)archive->dim;
    ais_status status = AIS_OK;
    stretch->step_size = 0;
    for (int c = 0; c < stretch->chains; c++) {
        const memory *kept = &this->memory[c];
        if (status == AIS_OK && this->status[c] != AIS_OK) {
            *context = this->context[c];
            status = this->status[c];
        }
        stretch->step_size += this->step_size[c] / stretch->chains;
        stretch->leapfrogs += (double)this->leapfrogs[c];
        stretch->divergences += this->divergences[c];
        stretch->densities += kept->densities;
        stretch->gradients += kept->gradients;
        stretch->cut_short |= kept->over;
        for (size_t k = 0; k < kept->count && status == AIS_OK; k++)
            status = ais_archive_add(context, archive, kept->from[k], 1, kept->x + k * dim, kept->logp + k,
                                     kept->gradient + k * dim);
    }
    stretch->step_size = exp(stretch->step_size);
    return status;
}

ais_status ais_explore_stretch(ais_context *context, const ais_target *target, ais_pool *pool, ais_stretch *stretch,
                               ais_archive *archive) {
    ais_arena arena = {0};
    atomic_long all = 0;
    size_t chains = (size_t)stretch->chains, draws = (size_t)stretch->draws;
    ais_kernel *kernel = NULL;
    task this = {.target = target,
                 .stretch = stretch,
                 .memory = AIS_TAKE(&arena, memory, chains),
                 .step_size = AIS_TAKE(&arena, double, chains),
                 .leapfrogs = AIS_TAKE(&arena, long, chains),
                 .divergences = AIS_TAKE(&arena, long, chains),
                 .logp = AIS_TAKE(&arena, double, chains *(draws + 1)),
                 .status = AIS_TAKE(&arena, ais_status, chains),
                 .context = AIS_TAKE(&arena, ais_context, chains)};
    size_t *first = AIS_TAKE(&arena, size_t, chains * (draws + 1));
    ais_status status = AIS_OK;
    if (!this.memory || !this.step_size || !this.leapfrogs || !this.divergences || !this.logp || !this.status ||
        !this.context || !first) {
        status = ais_fail_memory(context, "chains that explore", chains * sizeof(ais_context));
        ais_kernel_free(stretch->map);
    }
    if (status == AIS_OK) status = make_kernel(context, stretch, &kernel);
    stretch->densities = stretch->gradients = 0;
    stretch->leapfrogs = 0;
    stretch->divergences = 0;
    stretch->cut_short = false;
    if (status == AIS_OK) {
        this.kernel = kernel;
        for (size_t c = 0; c < chains; c++)
            this.memory[c] = (memory){.target = target,
                                      .stretch = stretch,
                                      .all = &all,
                                      .caller = pthread_self(),
                                      .first = first + c * (draws + 1)};
        ais_pool_run(pool, stretch->chains, run_chain, &this);
        bool whole = true;
        for (size_t c = 0; c < chains; c++) whole &= this.status[c] == AIS_OK && !this.memory[c].over;
        if (whole) status = leave_strays(context, &this);
        if (status == AIS_OK) status = collect(context, &this, archive);
    }
    for (size_t c = 0; this.memory && c < chains; c++) {
        free(this.memory[c].x);
        free(this.memory[c].gradient);
        free(this.memory[c].logp);
        free(this.memory[c].from);
    }
    ais_kernel_free(kernel);
    ais_arena_free(&arena);
    return status;
}
