#include "fit/henon_objective.h"

#include <math.h>
#include <string.h>

#include "base/streams.h"
#include "fit/lane_gradient.h"
#include "simd/normal.h"

static const double lanes = AIS_BLOCK;

/* ---- memory ------------------------------------------------------------------------------------ */

static bool new_block(const ais_henon_objective *objective, ais_arena *arena, ais_henon_block *block) {
    size_t dim = (size_t)objective->henon.dim, rows = dim * AIS_BLOCK;
    double *memory = AIS_TAKE(arena, double, 12 * rows + 5 * AIS_BLOCK);
    if (!memory) return false;
    *block = (ais_henon_block){.x = memory,
                               .z = memory + rows,
                               .middle = memory + 3 * rows,
                               .image = memory + 5 * rows,
                               .gradient = memory + 7 * rows,
                               .image_x = memory + 9 * rows,
                               .slope = memory + 10 * rows,
                               .gradient_x = memory + 11 * rows};
    memory += 12 * rows;
    block->logp = memory;
    block->image_logp = memory + AIS_BLOCK;
    block->ratio = memory + 2 * AIS_BLOCK;
    block->chance = memory + 3 * AIS_BLOCK;
    block->gradient_ratio = memory + 4 * AIS_BLOCK;
    block->work = AIS_TAKE(arena, double, ais_lane_gradient_work(objective->henon.dim, AIS_BLOCK));
    block->there = ais_henon_tape_new(&objective->henon, AIS_BLOCK, arena);
    block->back = ais_henon_tape_new(&objective->henon, AIS_BLOCK, arena);
    if (objective->discriminator)
        block->discriminator = ais_discriminator_tape_new(objective->discriminator, AIS_BLOCK, arena);
    return block->work && block->there && block->back && (!objective->discriminator || block->discriminator);
}

bool ais_henon_objective_new(ais_henon_objective *objective, ais_pool *pool, int blocks, ais_arena *arena) {
    objective->blocks = blocks;
    objective->block = AIS_TAKE(arena, ais_henon_block, blocks);
    bool whole =
        objective->block && ais_batch_new(&objective->batch, pool, blocks, ais_henon_theta(&objective->henon), arena) &&
        (!objective->discriminator ||
         ais_batch_new(&objective->discriminator_batch, pool, blocks, objective->discriminator->weights, arena));
    for (int b = 0; whole && b < blocks; b++) whole = new_block(objective, arena, &objective->block[b]);
    if (!objective->mixing) return whole;
    if (ais_pool_ranks(pool)) {
        objective->row = AIS_TAKE(arena, double, ((size_t)objective->henon.dim + 1) * AIS_BLOCK * (size_t)blocks);
        whole = whole && objective->row;
    }
    objective->mixing_block = AIS_TAKE(arena, ais_mixing_block, blocks);
    whole = whole && objective->mixing_block;
    for (int b = 0; whole && b < blocks; b++)
        whole = ais_mixing_block_new(objective->mixing, AIS_BLOCK, arena, &objective->mixing_block[b]);
    return whole;
}

void ais_henon_objective_draw(ais_henon_objective *objective, uint64_t seed, uint64_t step) {
    size_t dim = (size_t)objective->henon.dim;
    for (int b = 0; b < objective->blocks; b++) {
        ais_stream stream = ais_stream_for(AIS_USE_HENON_BATCH, seed, step, (uint64_t)b * AIS_BLOCK);
        ais_normals_lanes(&stream, dim, AIS_BLOCK, objective->block[b].z + dim * AIS_BLOCK);
    }
}

/* ---- M and its backward pass ------------------------------------------------------------------- */

/* R in place, on points or on gradients: it is its own transpose. */
static void reverse(ais_reversal reversal, size_t rows, double *z) {
    for (size_t i = 0; i < rows; i++) {
        double x = z[i], v = z[rows + i];
        z[i] = reversal == AIS_FLIP ? x : v;
        z[rows + i] = reversal == AIS_FLIP ? -v : x;
    }
}

static void whiten(const ais_henon_objective *objective, ais_henon_block *block) {
    ais_whiten(objective->whitening, AIS_BLOCK, block->x, block->z);
}

static void map(const ais_henon_objective *objective, ais_henon_block *block) {
    size_t rows = (size_t)objective->henon.dim * AIS_BLOCK, bytes = 2 * rows * sizeof(double);
    whiten(objective, block);
    memcpy(block->middle, block->z, bytes);
    ais_henon_map(&objective->henon, objective->theta, block->there, false, block->middle);
    memcpy(block->image, block->middle, bytes);
    reverse(objective->reversal, rows, block->image);
    ais_henon_map(&objective->henon, objective->theta, block->back, true, block->image);
    ais_unwhiten(objective->whitening, AIS_BLOCK, block->image, block->image_x);
}

/* block->gradient is dL/d image. */
static void map_backward(const ais_henon_objective *objective, ais_henon_block *block, double *likelihood,
                         ais_real *gradient_theta) {
    int dim = objective->henon.dim;
    const ais_real *theta = objective->theta;
    ais_henon_backward(&objective->henon, theta, block->back, true, block->gradient, gradient_theta);
    reverse(objective->reversal, (size_t)dim * AIS_BLOCK, block->gradient);
    if (objective->likelihood > 0)
        *likelihood += ais_henon_base_loss(2 * dim, theta + objective->henon.weights, AIS_BLOCK, block->middle,
                                           objective->likelihood / (lanes * objective->blocks), block->gradient,
                                           gradient_theta + objective->henon.weights);
    ais_henon_backward(&objective->henon, theta, block->there, false, block->gradient, gradient_theta);
}

/* ---- likelihood -------------------------------------------------------------------------------- */

/* math.md (15). */
static void likelihood_block(void *data, int b, ais_real *gradient, double *loss) {
    const ais_henon_objective *objective = data;
    ais_henon_block *block = &objective->block[b];
    const ais_henon *henon = &objective->henon;
    size_t bytes = 2 * (size_t)henon->dim * AIS_BLOCK * sizeof(double);
    whiten(objective, block);
    memcpy(block->middle, block->z, bytes);
    ais_henon_map(henon, objective->theta, block->there, false, block->middle);
    memset(block->gradient, 0, bytes);
    *loss = ais_henon_base_loss(2 * henon->dim, objective->theta + henon->weights, AIS_BLOCK, block->middle,
                                1 / (lanes * objective->blocks), block->gradient, gradient + henon->weights);
    ais_henon_backward(henon, objective->theta, block->there, false, block->gradient, gradient);
}

double ais_henon_likelihood(ais_henon_objective *objective, const ais_real *theta) {
    objective->theta = theta;
    return ais_batch_run(&objective->batch, likelihood_block, objective);
}

/* ---- acceptance -------------------------------------------------------------------------------- */

/* math.md (3): M preserves volume. */
static void exact_ratio(const ais_henon_objective *objective, ais_henon_block *block) {
    size_t rows = (size_t)objective->henon.dim * AIS_BLOCK;
    const double *v = block->z + rows, *image_v = block->image + rows;
    ais_lane_gradient(objective->target, objective->differences, objective->h, AIS_BLOCK, block->image_x, block->work,
                      block->image_logp, block->slope);
    for (size_t c = 0; c < AIS_BLOCK; c++) block->ratio[c] = block->image_logp[c] - block->logp[c];
    for (size_t i = 0; i < rows; i++) {
        block->ratio[i % AIS_BLOCK] += 0.5 * (v[i] * v[i] - image_v[i] * image_v[i]);
        if (!isfinite(block->slope[i])) block->bad[i % AIS_BLOCK] = true;
    }
}

static void propose(void *data, int b) {
    const ais_henon_objective *objective = data;
    ais_henon_block *block = &objective->block[b];
    memset(block->bad, 0, sizeof block->bad);
    map(objective, block);
    if (objective->phi)
        ais_discriminator_forward(objective->discriminator, objective->phi, block->discriminator, block->z,
                                  block->image, block->ratio);
    else
        exact_ratio(objective, block);
    for (size_t c = 0; c < AIS_BLOCK; c++) {
        if (!isfinite(block->ratio[c])) block->bad[c] = true;
        block->chance[c] = block->bad[c] ? 0 : exp(fmin(block->ratio[c], 0));
    }
}

static void features(void *data, int b) {
    const ais_henon_objective *objective = data;
    const ais_henon_block *block = &objective->block[b];
    ais_mixing_features(objective->mixing, &objective->mixing_block[b], block->x, block->image_x);
}

static void correlate(void *data, int b) {
    const ais_henon_objective *objective = data;
    ais_mixing_correlate(objective->mixing, &objective->mixing_block[b], objective->block[b].chance);
}

/* Every rank gets the others' proposals and chances. A lost rank shows at the caller's next exchange. */
static void exchange(ais_henon_objective *objective) {
    const ais_ranks *ranks = ais_pool_ranks(objective->batch.pool);
    if (!ranks) return;
    size_t rows = (size_t)objective->henon.dim * AIS_BLOCK, size = rows + AIS_BLOCK;
    ais_context ignored;
    for (int turn = 0; turn < 2; turn++) {
        for (int b = 0; b < objective->blocks; b++) {
            ais_henon_block *block = &objective->block[b];
            double *row = objective->row + (size_t)b * size;
            memcpy(turn ? block->image_x : row, turn ? row : block->image_x, rows * sizeof *row);
            memcpy(turn ? block->chance : row + rows, turn ? row + rows : block->chance, AIS_BLOCK * sizeof *row);
        }
        if (turn == 0) ais_ranks_share(&ignored, ranks, objective->blocks, size * sizeof(double), objective->row);
    }
}

/* block->gradient = dL/d image, from dL/d ratio and (in gradient_x) dL/d x' of the mixing term. */
static void image_gradient(const ais_henon_objective *objective, ais_henon_block *block) {
    int dim = objective->henon.dim;
    size_t rows = (size_t)dim * AIS_BLOCK;
    const double *factor = objective->whitening->factor;
    if (objective->phi) {
        ais_discriminator_backward(objective->discriminator, objective->phi, block->discriminator,
                                   block->gradient_ratio, NULL, block->gradient, NULL);
    } else {
        for (size_t i = 0; i < rows; i++) {
            double by = block->gradient_ratio[i % AIS_BLOCK];
            if (by != 0) block->gradient_x[i] += by * block->slope[i];
            block->gradient[i] = 0;
            block->gradient[rows + i] = -by * block->image[rows + i];
        }
    }
    for (int i = 0; i < dim; i++) /* x' = m + A u' */
        for (int j = 0; j < dim; j++)
            for (size_t c = 0; c < AIS_BLOCK; c++)
                block->gradient[(size_t)j * AIS_BLOCK + c] +=
                    factor[i * dim + j] * block->gradient_x[(size_t)i * AIS_BLOCK + c];
    for (size_t i = 0; i < 2 * rows; i++)
        if (block->bad[i % AIS_BLOCK] || !isfinite(block->gradient[i])) block->gradient[i] = 0;
}

/* Of the acceptance, math.md (13), or of the exact ratio, math.md (16). */
static double loss_at(ais_exact_loss kind, double ratio, double *slope) {
    double odds = exp(-fabs(ratio)), barker = (ratio < 0 ? odds : 1) / (1 + odds), root = sqrt(1 + ratio * ratio);
    *slope = kind == AIS_CHANCE ? (ratio < 0 ? -odds : 0)
             : kind == AIS_SOFT ? -2 * barker * (1 - barker)
                                : ratio / root;
    return kind == AIS_CHANCE ? (ratio < 0 ? -odds : -1) : kind == AIS_SOFT ? -2 * barker : root - 1;
}

/* math.md (13) with a discriminator, (16) without. */
static void acceptance_block(void *data, int b, ais_real *gradient, double *loss) {
    const ais_henon_objective *objective = data;
    ais_henon_block *block = &objective->block[b];
    double share = 1 / (lanes * objective->blocks), by_chance[AIS_BLOCK] = {0};
    memset(block->gradient_x, 0, (size_t)objective->henon.dim * AIS_BLOCK * sizeof(double));
    if (objective->mixing)
        ais_mixing_pull_back(objective->mixing, &objective->mixing_block[b], block->chance, block->image_x,
                             block->gradient_x, by_chance);
    for (size_t c = 0; c < AIS_BLOCK; c++) {
        double slope, chance_slope = block->ratio[c] < 0 ? block->chance[c] : 0;
        block->gradient_ratio[c] = 0;
        if (block->bad[c]) continue;
        *loss += share * loss_at(objective->phi ? AIS_SOFT : objective->exact, block->ratio[c], &slope);
        block->gradient_ratio[c] = by_chance[c] * chance_slope + share * slope;
    }
    image_gradient(objective, block);
    map_backward(objective, block, loss, gradient);
}

double ais_henon_acceptance(ais_henon_objective *objective, const ais_real *theta, const ais_real *phi) {
    ais_pool *pool = objective->batch.pool;
    objective->theta = theta;
    objective->phi = phi;
    ais_pool_run_part(pool, objective->blocks, propose, objective);
    double term = 0;
    if (objective->mixing) { /* of all proposals at once: every rank computes it */
        exchange(objective);
        ais_pool_run(pool, objective->blocks, features, objective);
        ais_mixing_standard(objective->mixing, objective->mixing_block, objective->blocks);
        ais_pool_run(pool, objective->blocks, correlate, objective);
        term = ais_mixing_total(objective->mixing, objective->mixing_block, objective->blocks, objective->strength);
    }
    return term + ais_batch_run(&objective->batch, acceptance_block, objective);
}

/* ---- discriminator ----------------------------------------------------------------------------- */

/* math.md (14). */
static void discriminate_block(void *data, int b, ais_real *gradient, double *loss) {
    const ais_henon_objective *objective = data;
    ais_henon_block *block = &objective->block[b];
    double share = 1 / (lanes * objective->blocks);
    map(objective, block);
    ais_discriminator_forward(objective->discriminator, objective->phi, block->discriminator, block->z, block->image,
                              block->ratio);
    for (size_t c = 0; c < AIS_BLOCK; c++) {
        double slope, value = ais_discriminator_loss_at(objective->loss, block->ratio[c], &slope);
        bool good = isfinite(value) && isfinite(slope);
        *loss += good ? share * value : 0;
        block->gradient_ratio[c] = good ? share * slope : 0;
    }
    ais_discriminator_backward(objective->discriminator, objective->phi, block->discriminator, block->gradient_ratio,
                               NULL, NULL, gradient);
}

double ais_henon_discriminate(ais_henon_objective *objective, const ais_real *theta, const ais_real *phi) {
    objective->theta = theta;
    objective->phi = phi;
    return ais_batch_run(&objective->discriminator_batch, discriminate_block, objective);
}
