#include "explore/population.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "simd/normal.h"

/* The walk's random numbers lie apart from those of every part of a cycle that is used in practice. */
enum { WALK_PART = AIS_MAX_PARTS - 1 };

typedef struct block {
    void *kernel_state;
    ais_info *info;
    double *x, *logp, *uniform, *point; /* the walk's proposal */
    double accepted, walked;            /* sums over the last move */
    ais_status status;
    ais_context context;
} block;

typedef struct call {
    ais_population *population;
    int sweeps, walks;
} call;

/* ---- memory ------------------------------------------------------------------------------------ */

static bool take_block(ais_population *population, block *own) {
    size_t dim = (size_t)population->target->dim;
    own->info = AIS_TAKE(&population->arena, ais_info, AIS_BLOCK);
    own->x = AIS_TAKE(&population->arena, double, dim *AIS_BLOCK);
    own->logp = AIS_TAKE(&population->arena, double, AIS_BLOCK);
    own->uniform = AIS_TAKE(&population->arena, double, AIS_BLOCK);
    own->point = AIS_TAKE(&population->arena, double, dim);
    return own->info && own->x && own->logp && own->uniform && own->point;
}

/* Of a block, what the other ranks need: x, logp, accepted, walked, status. */
static size_t row_size(const ais_population *population) {
    return ((size_t)population->target->dim + 1) * AIS_BLOCK + 3;
}

static ais_status fill(ais_context *context, ais_population *population, int given, const double *start) {
    int dim = population->target->dim;
    size_t rows = (size_t)dim * AIS_BLOCK;
    double scale = population->target->start_scale > 0 ? population->target->start_scale : 1;
    double *points = AIS_TAKE(&population->arena, double, rows);
    population->state = AIS_TAKE(&population->arena, ais_state *, population->blocks);
    population->walk_scale = AIS_TAKE(&population->arena, double, dim);
    block *own = population->own = AIS_TAKE(&population->arena, block, population->blocks);
    bool ranks = ais_pool_ranks(population->pool) != NULL;
    if (ranks)
        population->row = AIS_TAKE(&population->arena, double, row_size(population) * (size_t)population->blocks);
    if (!points || !population->state || !population->walk_scale || !own || (ranks && !population->row))
        return ais_fail_memory(context, "a population", rows * sizeof(double));
    for (int i = 0; i < dim; i++) population->walk_scale[i] = 0.25 * scale;
    for (int b = 0; b < population->blocks; b++) {
        if (!take_block(population, &own[b])) return ais_fail_memory(context, "a population", rows * sizeof(double));
        for (size_t i = 0; start && i < rows; i++)
            points[i] = start[((size_t)b * rows + i) % ((size_t)given * (size_t)dim)];
        ais_status status = ais_state_new(context, population->target, population->seed, (uint32_t)b * AIS_BLOCK,
                                          AIS_BLOCK, 0, start ? points : NULL, &population->state[b]);
        if (status != AIS_OK) return status;
    }
    return AIS_OK;
}

ais_status ais_population_new(ais_context *context, ais_pool *pool, const ais_target *target, uint64_t seed, int chains,
                              const double *start, ais_population **out) {
    *out = NULL;
    if (chains < 1) return ais_fail(context, AIS_BAD_ARGUMENT, "a population of %d chains: give at least 1", chains);
    ais_population *population = ais_allocate(sizeof *population);
    if (!population) return ais_fail_memory(context, "a population", sizeof *population);
    int blocks = (chains - 1) / AIS_BLOCK + 1;
    *population = (ais_population){.pool = pool,
                                   .target = target,
                                   .blocks = blocks,
                                   .chains = blocks * AIS_BLOCK,
                                   .walk_low = 0.01,
                                   .walk_high = 1,
                                   .seed = seed};
    ais_status status = fill(context, population, chains, start);
    if (status == AIS_OK)
        *out = population;
    else
        ais_population_free(population);
    return status;
}

void ais_population_free(ais_population *population) {
    if (!population) return;
    for (int b = 0; population->state && b < population->blocks; b++) ais_state_free(population->state[b]);
    ais_arena_free(&population->arena);
    free(population);
}

/* A kernel then forgets what it computed from points. */
static void tell_kernel(const ais_population *population) {
    for (int b = 0; b < population->blocks; b++)
        for (int c = 0; c < population->state[b]->lanes; c++) population->state[b]->version[c]++;
}

ais_status ais_population_use(ais_context *context, ais_population *population, const ais_kernel *kernel) {
    block *own = population->own;
    if (kernel) tell_kernel(population);
    for (int b = 0; kernel && b < population->blocks; b++) {
        ais_state *state = population->state[b];
        if (kernel == population->kernel) continue;
        ais_status status = kernel->type->init(context, kernel, state, &own[b].kernel_state);
        if (status != AIS_OK) return status;
    }
    population->kernel = kernel;
    return AIS_OK;
}

/* ---- moves ------------------------------------------------------------------------------------- */

static ais_status walk(const ais_population *population, ais_state *state, block *own) {
    int dim = population->target->dim;
    double low = log(population->walk_low), width = log(population->walk_high) - low;
    ais_stream stream = ais_state_stream(state, 0, AIS_FOR_WALK);
    ais_normals_lanes(&stream, (size_t)dim, AIS_BLOCK, own->x);
    stream.purpose = AIS_FOR_STEP_SIZE;
    ais_uniforms_lanes(&stream, 0, AIS_BLOCK, own->uniform);
    for (size_t c = 0; c < AIS_BLOCK; c++) own->uniform[c] = exp(low + width * own->uniform[c]);
    for (size_t i = 0; i < (size_t)dim * AIS_BLOCK; i++)
        own->x[i] = state->x[i] + population->walk_scale[i / AIS_BLOCK] * own->uniform[i % AIS_BLOCK] * own->x[i];
    ais_status status =
        ais_state_logp(&own->context, state->target, AIS_BLOCK, AIS_BLOCK, own->x, own->point, own->logp);
    if (status != AIS_OK) return status;
    stream.purpose = AIS_FOR_TEST;
    ais_uniforms_lanes(&stream, 0, AIS_BLOCK, own->uniform);
    for (size_t c = 0; c < AIS_BLOCK; c++) {
        if (!(log(own->uniform[c]) < own->logp[c] - state->logp[c])) continue;
        for (size_t i = c; i < (size_t)dim * AIS_BLOCK; i += AIS_BLOCK) state->x[i] = own->x[i];
        state->logp[c] = own->logp[c];
        state->version[c]++;
        own->walked += 1;
    }
    return AIS_OK;
}

static void walk_once(const ais_population *population, ais_state *state, block *own) {
    state->part = WALK_PART;
    own->status = walk(population, state, own);
    state->part = 0;
    state->step++;
}

static void walk_block(void *data, int b) {
    const call *this = data;
    walk_once(this->population, this->population->state[b], (block *)this->population->own + b);
}

static void move_block(void *data, int b) {
    const call *this = data;
    const ais_population *population = this->population;
    const ais_kernel *kernel = population->kernel;
    block *own = (block *)population->own + b;
    ais_state *state = population->state[b];
    own->accepted = own->walked = 0;
    own->status = AIS_OK;
    for (int sweep = 0; sweep < this->sweeps && own->status == AIS_OK; sweep++) {
        if (kernel) {
            own->status = kernel->type->step(&own->context, kernel, state, own->kernel_state, own->info);
            for (int c = 0; c < AIS_BLOCK; c++) own->accepted += own->info[c].accept_stat;
            state->step++;
        }
        for (int k = 0; k < this->walks && own->status == AIS_OK; k++) walk_once(population, state, own);
    }
}

static void pack(const ais_population *population, const block *own, int b) {
    const ais_state *state = population->state[b];
    size_t points = (size_t)population->target->dim * AIS_BLOCK;
    double *row = population->row + (size_t)b * row_size(population);
    memcpy(row, state->x, points * sizeof *row);
    memcpy(row + points, state->logp, AIS_BLOCK * sizeof *row);
    const double rest[] = {own[b].accepted, own[b].walked, own[b].status};
    memcpy(row + points + AIS_BLOCK, rest, sizeof rest);
}

static void unpack(const ais_population *population, block *own, int b, uint64_t steps) {
    ais_state *state = population->state[b];
    size_t points = (size_t)population->target->dim * AIS_BLOCK;
    const double *row = population->row + (size_t)b * row_size(population), *rest = row + points + AIS_BLOCK;
    memcpy(state->x, row, points * sizeof *row);
    memcpy(state->logp, row + points, AIS_BLOCK * sizeof *row);
    own[b].accepted = rest[0];
    own[b].walked = rest[1];
    own[b].status = (ais_status)rest[2];
    state->step += steps;
}

/* Every rank gets the points that the others moved. */
static ais_status exchange(ais_context *context, ais_population *population, uint64_t steps) {
    const ais_ranks *ranks = ais_pool_ranks(population->pool);
    if (!ranks) return AIS_OK;
    block *own = population->own;
    ais_part part = ais_ranks_part(ranks, population->blocks);
    for (int b = part.first; b < part.end; b++) pack(population, own, b);
    ais_status status =
        ais_ranks_share(context, ranks, population->blocks, row_size(population) * sizeof(double), population->row);
    for (int b = 0; b < population->blocks && status == AIS_OK; b++)
        if (b < part.first || b >= part.end) unpack(population, own, b, steps);
    return status;
}

/* The first block that failed; its message is known to its rank alone. */
static ais_status first_failure(ais_context *context, const ais_population *population) {
    const block *own = population->own;
    for (int b = 0; b < population->blocks; b++) {
        if (own[b].status == AIS_OK) continue;
        *context = own[b].context;
        context->status = own[b].status;
        return ais_ranks_agree(context, ais_pool_ranks(population->pool), own[b].context.status);
    }
    return AIS_OK;
}

ais_status ais_population_move(ais_context *context, ais_population *population, int sweeps, int walks) {
    call this = {.population = population, .sweeps = sweeps, .walks = walks};
    const block *own = population->own;
    double steps = (double)sweeps * population->chains;
    ais_pool_run_part(population->pool, population->blocks, move_block, &this);
    ais_status status =
        exchange(context, population, (uint64_t)sweeps * (uint64_t)((population->kernel != NULL) + walks));
    if (status == AIS_OK) status = first_failure(context, population);
    population->acceptance = population->walk_acceptance = 0;
    for (int b = 0; b < population->blocks && status == AIS_OK; b++) {
        if (steps > 0) population->acceptance += own[b].accepted / steps;
        if (steps > 0 && walks > 0) population->walk_acceptance += own[b].walked / (steps * walks);
    }
    return status;
}

ais_status ais_population_walk(ais_context *context, ais_population *population) {
    call this = {.population = population};
    ais_pool_run_part(population->pool, population->blocks, walk_block, &this);
    ais_status status = exchange(context, population, 1);
    return status == AIS_OK ? first_failure(context, population) : status;
}

/* ---- what it looks like ------------------------------------------------------------------------ */

void ais_population_moments(const ais_population *population, double *mean, double *sd) {
    double n = population->chains;
    for (int i = 0; i < population->target->dim; i++) {
        double sum = 0, square = 0;
        for (int b = 0; b < population->blocks; b++)
            for (size_t c = 0; c < AIS_BLOCK; c++) sum += population->state[b]->x[(size_t)i * AIS_BLOCK + c];
        mean[i] = sum / n;
        for (int b = 0; b < population->blocks; b++)
            for (size_t c = 0; c < AIS_BLOCK; c++) {
                double off = population->state[b]->x[(size_t)i * AIS_BLOCK + c] - mean[i];
                square += off * off;
            }
        sd[i] = sqrt(square / n);
    }
}

void ais_population_scale_walk(ais_population *population) {
    const block *own = population->own;
    ais_population_moments(population, own->x, population->walk_scale);
    population->walk_low = 0.01;
    population->walk_high = 0.3;
}

void ais_population_point(const ais_population *population, int c, double *x) {
    for (int i = 0; i < population->target->dim; i++)
        x[i] = population->state[c / AIS_BLOCK]->x[(size_t)i * AIS_BLOCK + (size_t)(c % AIS_BLOCK)];
}

void ais_population_exchange(ais_checkpoint *checkpoint, ais_population *population) {
    size_t dim = (size_t)population->target->dim;
    AIS_FIELD(checkpoint, population, walk_low);
    AIS_FIELD(checkpoint, population, walk_high);
    ais_checkpoint_bytes(checkpoint, "walk_scale", population->walk_scale, dim * sizeof(double));
    for (int b = 0; b < population->blocks; b++) {
        ais_state *state = population->state[b];
        ais_checkpoint_bytes(checkpoint, "chains.step", &state->step, sizeof state->step);
        ais_checkpoint_bytes(checkpoint, "chains.x", state->x, dim * AIS_BLOCK * sizeof(double));
        ais_checkpoint_bytes(checkpoint, "chains.logp", state->logp, AIS_BLOCK * sizeof(double));
    }
    if (ais_checkpoint_reads(checkpoint)) tell_kernel(population);
}
