#include "fit/flow_objective.h"

#include <math.h>
#include <string.h>

static const double likelihood_share = 0.1; /* in the pair loss */
static const double farthest = 10;          /* residual of the fisher loss, beyond which it is linear */
/* In whitened units. The error is its square times a third derivative over 6, and the rounding of networks over it. */
#ifdef AIS_REAL_IS_DOUBLE
static const double difference = 1e-4;
#else
static const double difference = 0.05;
#endif

struct ais_flow_block {
    ais_flow_tape *tape;
    double *z, *gradient; /* dim x AIS_BLOCK */
    double *log_det, *gradient_det;
    double *residual; /* dim x AIS_BLOCK: grad log q - grad log p */
};

static bool block_new(ais_flow_block *block, const ais_learned *learned, ais_arena *arena) {
    size_t dim = (size_t)learned->shape.dim, rows = dim * AIS_BLOCK;
    *block = (ais_flow_block){.tape = ais_flow_tape_new(&learned->flow, AIS_BLOCK, arena),
                              .z = AIS_TAKE(arena, double, rows),
                              .gradient = AIS_TAKE(arena, double, rows),
                              .log_det = AIS_TAKE(arena, double, AIS_BLOCK),
                              .gradient_det = AIS_TAKE(arena, double, AIS_BLOCK),
                              .residual = AIS_TAKE(arena, double, rows)};
    return block->tape && block->z && block->gradient && block->log_det && block->gradient_det && block->residual;
}

bool ais_flow_trainer_new(ais_flow_trainer *trainer, const ais_learned *learned, ais_pool *pool, int blocks,
                          ais_arena *arena) {
    size_t lanes = (size_t)blocks * AIS_BLOCK, dim = (size_t)learned->shape.dim;
    *trainer = (ais_flow_trainer){.learned = learned,
                                  .block = AIS_TAKE(arena, ais_flow_block, blocks),
                                  .u = AIS_TAKE(arena, double, lanes *dim),
                                  .logp = AIS_TAKE(arena, double, lanes),
                                  .slope = AIS_TAKE(arena, double, lanes *dim)};
    if (!trainer->block || !trainer->u || !trainer->logp || !trainer->slope ||
        !ais_batch_new(&trainer->batch, pool, blocks, learned->weight_count, arena))
        return false;
    for (int b = 0; b < blocks; b++)
        if (!block_new(&trainer->block[b], learned, arena)) return false;
    return true;
}

/* -log q at each lane, up to a constant: |T(u)|^2 / 2 - log|det T'|. z holds T(u). */
static double energy(const ais_flow_block *block, int dim, int c) {
    double sum = 0;
    for (int i = 0; i < dim; i++) sum += block->z[i * AIS_BLOCK + c] * block->z[i * AIS_BLOCK + c];
    return 0.5 * sum - block->log_det[c];
}

/* The derivative of the block's part of the loss, math.md (15) or (16), by -log q of each lane. */
static double draw_weights(const ais_flow_trainer *trainer, const ais_flow_block *block, int b, double *weight) {
    int dim = trainer->learned->shape.dim;
    double points = (double)trainer->batch.blocks * AIS_BLOCK, loss = 0;
    double share = trainer->objective == AIS_FLOW_PAIR ? likelihood_share : 1;
    for (int c = 0; c < AIS_BLOCK; c++) {
        weight[c] = share / points;
        loss += share * energy(block, dim, c) / points;
    }
    if (trainer->objective != AIS_FLOW_PAIR) return loss;
    const double *logp = trainer->logp + (size_t)b * AIS_BLOCK;
    for (int c = 0; c < AIS_BLOCK / 2; c++) {
        int other = c + AIS_BLOCK / 2;
        double l = logp[c] + energy(block, dim, c) - logp[other] - energy(block, dim, other);
        double root = sqrt(1 + l * l), pull = l / root / (points / 2);
        weight[c] += pull;
        weight[other] -= pull;
        loss += (root - 1) / (points / 2);
    }
    return loss;
}

/* z = T(point), log_det; point: dim x AIS_BLOCK. */
static void forward(const ais_learned *learned, ais_flow_block *block, const double *point) {
    memcpy(block->z, point, (size_t)learned->shape.dim * AIS_BLOCK * sizeof *point);
    memset(block->log_det, 0, AIS_BLOCK * sizeof(double));
    ais_flow_map(&learned->flow, learned->weights, block->tape, false, block->z, block->log_det);
}

/* Adds the derivative of the sum over lanes of weight times -log q, by the weights, after forward; block->gradient is
 * then that by the point. */
static void backward(const ais_learned *learned, ais_flow_block *block, const double *weight,
                     ais_real *gradient_weights) {
    size_t rows = (size_t)learned->shape.dim * AIS_BLOCK;
    for (size_t i = 0; i < rows; i++) block->gradient[i] = weight[i % AIS_BLOCK] * block->z[i];
    for (int c = 0; c < AIS_BLOCK; c++) block->gradient_det[c] = -weight[c];
    ais_flow_backward(&learned->flow, learned->weights, block->tape, false, block->gradient, block->gradient_det,
                      gradient_weights);
}

static void draws_block(void *data, int b, ais_real *gradient_weights, double *loss) {
    const ais_flow_trainer *trainer = data;
    const ais_learned *learned = trainer->learned;
    ais_flow_block *block = &trainer->block[b];
    double weight[AIS_BLOCK];
    forward(learned, block, trainer->u + (size_t)b * (size_t)learned->shape.dim * AIS_BLOCK);
    *loss = draw_weights(trainer, block, b, weight);
    backward(learned, block, weight, gradient_weights);
}

/* Residuals grad log q - grad log p and their lengths; the block's part of the loss, math.md (17). pull is its
 * derivative by the length. */
static double residuals(const ais_flow_trainer *trainer, int b, double *length, double *pull) {
    const ais_learned *learned = trainer->learned;
    ais_flow_block *block = &trainer->block[b];
    int dim = learned->shape.dim;
    size_t first = (size_t)b * (size_t)dim * AIS_BLOCK;
    double points = (double)trainer->batch.blocks * AIS_BLOCK, loss = 0, minus[AIS_BLOCK];
    for (int c = 0; c < AIS_BLOCK; c++) {
        minus[c] = -1;
        length[c] = 0;
    }
    forward(learned, block, trainer->u + first);
    backward(learned, block, minus, NULL); /* gradient: of log q */
    for (int i = 0; i < dim * AIS_BLOCK; i++) {
        block->residual[i] = block->gradient[i] - trainer->slope[first + (size_t)i];
        length[i % AIS_BLOCK] += block->residual[i] * block->residual[i];
    }
    for (int c = 0; c < AIS_BLOCK; c++) {
        length[c] = sqrt(length[c]);
        bool far = length[c] > farthest;
        loss += (far ? farthest * (length[c] - 0.5 * farthest) : 0.5 * length[c] * length[c]) / points;
        pull[c] = (far ? farthest : length[c]) / points;
    }
    return loss;
}

/* The derivative of |r|^2 / 2 by the weights is that of r . grad log q with r held fixed: of log q's slope along r.
 * That slope is taken as a central difference of two likelihood passes, which any map has; a second backward pass
 * through the first would cost the same. At r = 0 both are 0. */
static void fisher_block(void *data, int b, ais_real *gradient_weights, double *loss) {
    const ais_flow_trainer *trainer = data;
    const ais_learned *learned = trainer->learned;
    ais_flow_block *block = &trainer->block[b];
    size_t rows = (size_t)learned->shape.dim * AIS_BLOCK;
    const double *u = trainer->u + (size_t)b * rows;
    double length[AIS_BLOCK], pull[AIS_BLOCK], weight[AIS_BLOCK];
    *loss = residuals(trainer, b, length, pull);
    if (!gradient_weights) return;
    for (size_t i = 0; i < rows; i++)
        block->residual[i] *= length[i % AIS_BLOCK] > 0 ? difference / length[i % AIS_BLOCK] : 0;
    for (int side = -1; side <= 1; side += 2) {
        for (size_t i = 0; i < rows; i++) block->gradient[i] = u[i] + side * block->residual[i];
        forward(learned, block, block->gradient);
        for (int c = 0; c < AIS_BLOCK; c++) weight[c] = -side * pull[c] / (2 * difference);
        backward(learned, block, weight, gradient_weights);
    }
}

double ais_flow_loss(ais_flow_trainer *trainer, ais_flow_objective objective) {
    trainer->objective = objective;
    return ais_batch_run(&trainer->batch, objective == AIS_FLOW_FISHER ? fisher_block : draws_block, trainer);
}

static void fisher_value(void *data, int b) {
    const ais_flow_trainer *trainer = data;
    fisher_block(data, b, NULL, &trainer->batch.loss[b]);
}

double ais_flow_fisher(ais_flow_trainer *trainer) {
    double sum = 0;
    ais_pool_run(trainer->batch.pool, trainer->batch.blocks, fisher_value, trainer);
    for (int b = 0; b < trainer->batch.blocks; b++) sum += trainer->batch.loss[b];
    return sum;
}
