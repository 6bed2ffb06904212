#include "trainer/batch.h"

#include <string.h>

int ais_batch_new(ais_batch *batch, ais_pool *pool, int blocks, size_t count, ais_arena *arena) {
    *batch = (ais_batch){.pool = pool,
                         .blocks = blocks,
                         .count = count,
                         .gradient = AIS_TAKE(arena, ais_real, (size_t)blocks * count),
                         .loss = AIS_TAKE(arena, double, blocks)};
    return batch->gradient && batch->loss;
}

typedef struct call {
    ais_batch *batch;
    void (*block)(void *, int, ais_real *, double *);
    void *data;
    int stride; /* of the tree's present level */
} call;

static void run_block(void *data, int b) {
    const call *this = data;
    ais_batch *batch = this->batch;
    ais_real *gradient = batch->gradient + (size_t)b * batch->count;
    memset(gradient, 0, batch->count * sizeof *gradient);
    batch->loss[b] = 0;
    this->block(this->data, b, gradient, &batch->loss[b]);
}

/* Block 2 stride pair receives the sum of its neighbour at distance stride. */
static void add_pair(void *data, int pair) {
    const call *this = data;
    ais_batch *batch = this->batch;
    int to = 2 * this->stride * pair, from = to + this->stride;
    if (from >= batch->blocks) return;
    ais_real *a = batch->gradient + (size_t)to * batch->count;
    const ais_real *b = batch->gradient + (size_t)from * batch->count;
    for (size_t i = 0; i < batch->count; i++) a[i] += b[i];
    batch->loss[to] += batch->loss[from];
}

double ais_batch_run(ais_batch *batch, void (*block)(void *, int, ais_real *, double *), void *data) {
    call this = {.batch = batch, .block = block, .data = data};
    ais_pool_run(batch->pool, batch->blocks, run_block, &this);
    for (this.stride = 1; this.stride < batch->blocks; this.stride *= 2)
        ais_pool_run(batch->pool, (batch->blocks + 2 * this.stride - 1) / (2 * this.stride), add_pair, &this);
    return batch->loss[0];
}
