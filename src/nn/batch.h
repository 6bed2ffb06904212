/* Gradients over a batch: fixed blocks of lanes, each on one thread of one rank. Their sum is exact, so it depends
 * neither on the number of threads nor on that of ranks. */
#ifndef AIS_NN_BATCH_H
#define AIS_NN_BATCH_H

#include "base/arena.h"
#include "base/block.h"
#include "base/pool.h"
#include "nn/real.h"

typedef struct ais_batch {
    ais_pool *pool;
    int blocks;
    size_t count;       /* numbers in a gradient */
    ais_real *gradient; /* blocks x count; after ais_batch_run the sum is in the first */
    double *loss, *top; /* blocks: their losses, their largest gradients */
    double *sum;        /* count + 1: the gradient's and the loss's */
} ais_batch;

/* blocks of AIS_BLOCK lanes; 0 when memory is out. */
int ais_batch_new(ais_batch *batch, ais_pool *pool, int blocks, size_t count, ais_arena *arena);

/* Zeroes, calls block(data, b, gradient of b, loss of b) for every block of this rank, and sums over all ranks. The
 * sum is not divided by anything. Returns the summed loss; NAN when a number is not finite or a rank is lost. */
double ais_batch_run(ais_batch *batch, void (*block)(void *data, int b, ais_real *gradient, double *loss), void *data);

#endif
