#include "trainer/flow_objective.h"

#include <math.h>
#include <string.h>

static const double likelihood_share = 0.1; /* in the pair loss */

struct ais_flow_block {
    ais_flow_tape *tape;
    double *z, *gradient; /* dim x AIS_BLOCK */
    double *log_det, *gradient_det;
    double *x;             /* dim x AIS_BLOCK, not whitened */
    double *point, *slope; /* dim: one point and the target's gradient there */
    ais_context context;
    ais_status status;
};

static bool block_new(ais_flow_block *block, const ais_learned *learned, ais_arena *arena) {
    size_t dim = (size_t)learned->shape.dim, rows = dim * AIS_BLOCK;
    *block = (ais_flow_block){.tape = ais_flow_tape_new(&learned->flow, AIS_BLOCK, arena),
                              .z = AIS_TAKE(arena, double, rows),
                              .gradient = AIS_TAKE(arena, double, rows),
                              .log_det = AIS_TAKE(arena, double, AIS_BLOCK),
                              .gradient_det = AIS_TAKE(arena, double, AIS_BLOCK),
                              .x = AIS_TAKE(arena, double, rows),
                              .point = AIS_TAKE(arena, double, dim),
                              .slope = AIS_TAKE(arena, double, dim)};
    return block->tape && block->z && block->gradient && block->log_det && block->gradient_det && block->x &&
           block->point && block->slope;
}

bool ais_flow_trainer_new(ais_flow_trainer *trainer, const ais_learned *learned, const ais_target *target,
                          ais_pool *pool, int blocks, ais_arena *arena) {
    size_t lanes = (size_t)blocks * AIS_BLOCK;
    *trainer = (ais_flow_trainer){.learned = learned,
                                  .target = target,
                                  .block = AIS_TAKE(arena, ais_flow_block, blocks),
                                  .u = AIS_TAKE(arena, double, lanes *(size_t)learned->shape.dim),
                                  .logp = AIS_TAKE(arena, double, lanes)};
    if (!trainer->block || !trainer->u || !trainer->logp ||
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

static void draws_block(void *data, int b, ais_real *gradient_weights, double *loss) {
    const ais_flow_trainer *trainer = data;
    const ais_learned *learned = trainer->learned;
    ais_flow_block *block = &trainer->block[b];
    size_t rows = (size_t)learned->shape.dim * AIS_BLOCK;
    memcpy(block->z, trainer->u + (size_t)b * rows, rows * sizeof(double));
    memset(block->log_det, 0, AIS_BLOCK * sizeof(double));
    ais_flow_map(&learned->flow, learned->weights, block->tape, false, block->z, block->log_det);
    double weight[AIS_BLOCK];
    *loss = draw_weights(trainer, block, b, weight);
    for (size_t i = 0; i < rows; i++) block->gradient[i] = weight[i % AIS_BLOCK] * block->z[i];
    for (int c = 0; c < AIS_BLOCK; c++) block->gradient_det[c] = -weight[c];
    ais_flow_backward(&learned->flow, learned->weights, block->tape, false, block->gradient, block->gradient_det,
                      gradient_weights);
}

/* log p and its gradient by u at lane c, into slope; false where log p is -infinity. */
static bool target_slope(const ais_flow_trainer *trainer, ais_flow_block *block, int c, double *logp, double *by_u) {
    int dim = trainer->learned->shape.dim;
    const double *factor = trainer->learned->whitening.factor;
    for (int i = 0; i < dim; i++) block->point[i] = block->x[i * AIS_BLOCK + c];
    *logp = trainer->target->grad(block->point, block->slope, trainer->target->data);
    if (*logp == -INFINITY) return false;
    bool whole = *logp < INFINITY;
    for (int i = 0; i < dim; i++) whole = whole && isfinite(block->slope[i]);
    if (!whole) {
        block->status = ais_fail_density(&block->context, trainer->target, NAN, block->point);
        return false;
    }
    for (int j = 0; j < dim; j++) {
        by_u[j * AIS_BLOCK + c] = 0;
        for (int i = 0; i < dim; i++) by_u[j * AIS_BLOCK + c] += factor[i * dim + j] * block->slope[i];
    }
    return true;
}

/* math.md (17). */
static void path_block(void *data, int b, ais_real *gradient_weights, double *loss) {
    const ais_flow_trainer *trainer = data;
    const ais_learned *learned = trainer->learned;
    ais_flow_block *block = &trainer->block[b];
    int dim = learned->shape.dim;
    size_t rows = (size_t)dim * AIS_BLOCK;
    const double *v = trainer->u + (size_t)b * rows;
    double points = (double)trainer->batch.blocks * AIS_BLOCK;
    memcpy(block->z, v, rows * sizeof(double));
    memset(block->log_det, 0, AIS_BLOCK * sizeof(double));
    ais_flow_map(&learned->flow, learned->weights, block->tape, true, block->z, block->log_det);
    ais_unwhiten(&learned->whitening, AIS_BLOCK, block->z, block->x);
    /* grad_u log q: what the tape holds of u serves the forward direction as well, where T(u) = v. */
    for (size_t i = 0; i < rows; i++) block->gradient[i] = -v[i];
    for (int c = 0; c < AIS_BLOCK; c++) block->gradient_det[c] = 1;
    ais_flow_backward(&learned->flow, learned->weights, block->tape, false, block->gradient, block->gradient_det, NULL);
    for (int c = 0; c < AIS_BLOCK; c++) {
        double logp = 0, log_q = -block->log_det[c];
        bool inside = isfinite(block->x[c]) && target_slope(trainer, block, c, &logp, block->z);
        for (int i = 0; i < dim; i++) {
            size_t at = (size_t)i * AIS_BLOCK + (size_t)c;
            log_q -= 0.5 * v[at] * v[at];
            block->gradient[at] = inside ? (block->gradient[at] - block->z[at]) / points : 0;
        }
        if (inside) *loss += (log_q - logp) / points;
    }
    memset(block->gradient_det, 0, AIS_BLOCK * sizeof(double));
    ais_flow_backward(&learned->flow, learned->weights, block->tape, true, block->gradient, block->gradient_det,
                      gradient_weights);
}

ais_status ais_flow_loss(ais_context *context, ais_flow_trainer *trainer, ais_flow_objective objective, double *loss) {
    trainer->objective = objective;
    *loss = ais_batch_run(&trainer->batch, objective == AIS_FLOW_PATH ? path_block : draws_block, trainer);
    ais_status status = AIS_OK;
    for (int b = trainer->batch.blocks - 1; b >= 0; b--) {
        const ais_flow_block *block = &trainer->block[b];
        if (block->status == AIS_OK) continue;
        *context = block->context;
        status = block->status;
    }
    return ais_ranks_agree(context, ais_pool_ranks(trainer->batch.pool), status);
}
