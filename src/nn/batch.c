#include "nn/batch.h"

#include <math.h>
#include <string.h>

#include "nn/batch_lanes.h"

enum { SLICE = 1024 }; /* numbers that one task sums */

int ais_batch_new(ais_batch *batch, ais_pool *pool, int blocks, size_t count, ais_arena *arena) {
    *batch = (ais_batch){.pool = pool,
                         .blocks = blocks,
                         .count = count,
                         .gradient = AIS_TAKE(arena, ais_real, (size_t)blocks * count),
                         .loss = AIS_TAKE(arena, double, blocks),
                         .top = AIS_TAKE(arena, double, blocks),
                         .sum = AIS_TAKE(arena, double, count + 1)};
    return batch->gradient && batch->loss && batch->top && batch->sum;
}

typedef struct call {
    ais_batch *batch;
    void (*block)(void *, int, ais_real *, double *);
    void *data;
    ais_part part;       /* this rank's blocks */
    double rounder;      /* of gradients */
    double loss_rounder; /* of losses */
} call;

static void run_block(void *data, int b) {
    const call *this = data;
    ais_batch *batch = this->batch;
    ais_real *gradient = batch->gradient + (size_t)b * batch->count;
    memset(gradient, 0, batch->count * sizeof *gradient);
    batch->loss[b] = 0;
    this->block(this->data, b, gradient, &batch->loss[b]);
    batch->top[b] = AIS_CHOOSE(ais_batch_largest)(gradient, batch->count);
}

/* ---- the exact sum, math.md (19) -------------------------------------------------------------------------------
 * Every term is first rounded to a multiple of one unit, so coarse that all partial sums of `blocks` terms are
 * multiples of it below 2^53 units: doubles hold them without error, in any order. (t + c) - c rounds t to the unit
 * when c = 1.5 * 2^52 units. For 1,000 blocks the unit is 2^-40 of the largest term, far below a float's 2^-24. */

static double rounder_of(double largest, int blocks) {
    int exponent, room;
    frexp(largest, &exponent);
    frexp((double)blocks, &room);
    return largest > 0 ? ldexp(1.5, exponent + room + 1) : 0;
}

static void sum_slice(void *data, int slice) {
    const call *this = data;
    const ais_batch *batch = this->batch;
    size_t first = (size_t)slice * SLICE, left = batch->count - first, count = left < SLICE ? left : SLICE;
    double *sum = batch->sum + first;
    memset(sum, 0, count * sizeof *sum);
    for (int b = this->part.first; b < this->part.end; b++)
        AIS_CHOOSE(ais_batch_add)(batch->gradient + (size_t)b * batch->count + first, count, this->rounder, sum);
}

/* The largest gradient and loss over all blocks of all ranks. */
static ais_status scale(ais_context *context, call *this, double largest[2]) {
    const ais_batch *batch = this->batch;
    largest[0] = largest[1] = 0;
    for (int b = this->part.first; b < this->part.end; b++) {
        double loss = fabs(batch->loss[b]);
        if (!(batch->top[b] <= largest[0])) largest[0] = batch->top[b];
        if (!(loss <= largest[1])) largest[1] = isnan(loss) ? INFINITY : loss;
    }
    return ais_ranks_largest(context, ais_pool_ranks(batch->pool), largest, 2);
}

/* A step along this would be refused. */
static double no_sum(const ais_batch *batch) {
    batch->gradient[0] = (ais_real)NAN;
    return NAN;
}

double ais_batch_run(ais_batch *batch, void (*block)(void *, int, ais_real *, double *), void *data) {
    const ais_ranks *ranks = ais_pool_ranks(batch->pool);
    call this = {.batch = batch, .block = block, .data = data, .part = ais_ranks_part(ranks, batch->blocks)};
    ais_context context; /* the caller's next exchange says why */
    double largest[2], *loss = &batch->sum[batch->count];
    ais_pool_run_part(batch->pool, batch->blocks, run_block, &this);
    if (scale(&context, &this, largest) != AIS_OK || !isfinite(largest[0]) || !isfinite(largest[1]))
        return no_sum(batch);
    this.rounder = rounder_of(largest[0], batch->blocks);
    this.loss_rounder = rounder_of(largest[1], batch->blocks);
    ais_pool_run(batch->pool, (int)((batch->count + SLICE - 1) / SLICE), sum_slice, &this);
    *loss = 0;
    for (int b = this.part.first; b < this.part.end; b++)
        *loss += (batch->loss[b] + this.loss_rounder) - this.loss_rounder;
    if (ais_ranks_sum(&context, ranks, batch->sum, batch->count + 1) != AIS_OK) return no_sum(batch);
    AIS_CHOOSE(ais_batch_narrow)(batch->sum, batch->count, batch->gradient);
    return *loss;
}
