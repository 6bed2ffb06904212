#include "look/weighted.h"

#include <math.h>
#include <string.h>

#include "base/block.h"
#include "simd/normal.h"

enum { FIRST_DRAWS = 2048, CHOICE = 1 << 30 };

bool ais_weighted_take(ais_weighted *weighted, ais_arena *arena, size_t most, int dim) {
    *weighted = (ais_weighted){.most = most,
                               .dim = (size_t)dim,
                               .x = AIS_TAKE(arena, double, most *(size_t)dim),
                               .logp = AIS_TAKE(arena, double, most),
                               .logq = AIS_TAKE(arena, double, most),
                               .weight = AIS_TAKE(arena, double, most),
                               .room = AIS_TAKE(arena, double, most)};
    return weighted->x && weighted->logp && weighted->logq && weighted->weight && weighted->room;
}

ais_status ais_weighted_draw(ais_weighted *weighted, ais_evaluator *evaluator, const ais_components *mixture,
                             uint64_t seed, uint64_t step, double wanted) {
    size_t dim = weighted->dim, batch = FIRST_DRAWS;
    for (weighted->n = 0; weighted->n < weighted->most; batch = weighted->n) {
        size_t done = weighted->n, left = weighted->most - done;
        if (batch > left) batch = left;
        double *x = weighted->x + done * dim;
        ais_components_draw(mixture, seed, step + done, batch, x, evaluator->pool);
        ais_status status = ais_evaluate(evaluator, batch, x, weighted->logp + done);
        if (status != AIS_OK) return status;
        ais_components_logq(mixture, batch, x, weighted->logq + done, NULL, evaluator->pool);
        for (size_t c = done; c < done + batch; c++) weighted->weight[c] = weighted->logp[c] - weighted->logq[c];
        weighted->n += batch;
        weighted->weighing = ais_weigh(weighted->n, weighted->weight, weighted->room);
        double ess = weighted->weighing.ess;
        if (ess >= wanted || (ess < 0.01 * (double)weighted->n && weighted->n >= 2 * FIRST_DRAWS)) break;
    }
    return AIS_OK;
}

void ais_weighted_resample(const ais_weighted *weighted, double shift, size_t count, size_t *index, double *x,
                           double *logp) {
    ais_systematic(weighted->n, weighted->weight, shift, count, index);
    for (size_t c = 0; c < count; c++) {
        memcpy(x + c * weighted->dim, weighted->x + index[c] * weighted->dim, weighted->dim * sizeof *x);
        logp[c] = weighted->logp[index[c]];
    }
}

void ais_weighted_modes(const ais_weighted *weighted, const ais_components *mixture, double *share,
                        double *mode_weight) {
    double top = -INFINITY, sum = 0, logq[AIS_BLOCK];
    size_t count = (size_t)mixture->count;
    for (size_t k = 0; k < count; k++) mode_weight[k] = 0;
    for (size_t c = 0; c < weighted->n; c++) top = fmax(top, weighted->weight[c]);
    if (top == -INFINITY) return;
    for (size_t first = 0; first < weighted->n; first += AIS_BLOCK) {
        size_t rows = weighted->n - first < AIS_BLOCK ? weighted->n - first : AIS_BLOCK;
        ais_components_logq(mixture, rows, weighted->x + first * weighted->dim, logq, share, NULL);
        for (size_t c = 0; c < rows; c++) {
            double weight = exp(weighted->weight[first + c] - top);
            sum += weight;
            for (size_t k = 0; k < count; k++) mode_weight[k] += weight * share[c * count + k];
        }
    }
    for (size_t k = 0; k < count; k++) mode_weight[k] /= sum;
}

static void propose_walk(const ais_stream *of, double step, size_t dim, const double *x, double *y) {
    ais_stream stream = *of;
    double length[1];
    ais_normals(&stream, dim, y);
    stream.purpose = AIS_FOR_ANNEAL; /* steps here are far above those of annealing */
    ais_normals(&stream, 1, length);
    for (size_t i = 0; i < dim; i++) y[i] = x[i] + step * exp(0.7 * length[0]) * y[i];
}

ais_status ais_weighted_sweep(ais_weighted *weighted, ais_evaluator *evaluator, const ais_components *mixture,
                              uint64_t seed, uint64_t first_step, int sweeps, double step, size_t n, double *x,
                              double *logp) {
    size_t dim = weighted->dim;
    double *held = weighted->weight, *fresh = weighted->logq;
    ais_components_logq(mixture, n, x, held, NULL, evaluator->pool);
    for (uint64_t k = 0; k < 2 * (uint64_t)sweeps; k++) {
        bool walk = k % 2;
        for (size_t c = 0; c < n; c++) {
            ais_stream stream = {seed, first_step + k, (uint32_t)c, AIS_FOR_MIXTURE};
            if (walk)
                propose_walk(&stream, step, dim, x + c * dim, weighted->x + c * dim);
            else
                ais_components_draw_one(mixture, &stream, weighted->x + c * dim);
        }
        ais_status status = ais_evaluate(evaluator, n, weighted->x, weighted->logp);
        if (status != AIS_OK) return status;
        ais_components_logq(mixture, n, weighted->x, fresh, NULL, evaluator->pool);
        for (size_t c = 0; c < n; c++) {
            ais_stream stream = {seed, first_step + k, (uint32_t)c, AIS_FOR_LOCAL};
            double ratio = weighted->logp[c] - logp[c] + (walk ? 0 : held[c] - fresh[c]);
            if (!(log(ais_random_uniform(&stream, CHOICE)) < ratio)) continue;
            memcpy(x + c * dim, weighted->x + c * dim, dim * sizeof *x);
            logp[c] = weighted->logp[c];
            held[c] = fresh[c];
        }
    }
    return AIS_OK;
}
