#include "fit/flow_data.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/sort.h"

static const double clipped = 0.005; /* share of the weights that count as the largest of the others */

/* Row c of the archive into place k. */
static void put(ais_flow_data *data, const ais_archive *archive, const ais_learned *learned, size_t c, size_t k) {
    size_t dim = (size_t)data->dim;
    const ais_whitening *whitening = &learned->whitening;
    const double *x = archive->x + c * dim;
    double *u = data->u + k * dim, *slope = data->slope ? data->slope + k * dim : NULL;
    const double *gradient = archive->gradient ? archive->gradient + c * dim : NULL;
    data->logp[k] = archive->logp[c];
    for (size_t i = 0; i < dim; i++) {
        u[i] = 0;
        if (slope) slope[i] = 0;
    }
    for (size_t i = 0; i < dim; i++)
        for (size_t j = 0; j < dim; j++) {
            u[i] += whitening->inverse[i * dim + j] * (x[j] - whitening->mean[j]);
            if (slope) slope[j] += whitening->factor[i * dim + j] * gradient[i];
        }
}

static bool take(ais_flow_data *data, int dim, size_t room, bool slopes, bool chances) {
    size_t rows = room * (size_t)dim;
    *data = (ais_flow_data){.dim = dim};
    data->u = AIS_TAKE(&data->arena, double, rows);
    data->logp = AIS_TAKE(&data->arena, double, room);
    data->slope = slopes ? AIS_TAKE(&data->arena, double, rows) : NULL;
    data->chance = chances ? AIS_TAKE(&data->arena, double, room) : NULL;
    return data->u && data->logp && (data->slope || !slopes) && (data->chance || !chances);
}

void ais_flow_data_free(ais_flow_data *data) { ais_arena_free(&data->arena); }

bool ais_flow_bends(const ais_learned *learned) {
    const ais_flow *flow = &learned->flow;
    const ais_flow_layer *first = flow->layer;
    return flow->layers > 1 && (first->neck || (first->element->scales && flow->pivot > 0));
}

/* Rows through the pivot layer: z = P(u), and the slope of log p by z, the volume with it, by a pass back from z. */
static bool unbend(ais_flow_data *data, const ais_learned *learned) {
    size_t dim = (size_t)data->dim, total = data->count + data->held;
    ais_arena arena = {0};
    ais_flow first = learned->flow;
    first.layers = 1;
    ais_flow_tape *tape = ais_flow_tape_new(&first, AIS_BLOCK, &arena);
    double *z = AIS_TAKE(&arena, double, dim *AIS_BLOCK), *back = AIS_TAKE(&arena, double, dim *AIS_BLOCK);
    double *slope = AIS_TAKE(&arena, double, dim *AIS_BLOCK), det[AIS_BLOCK], one[AIS_BLOCK];
    bool room = tape && z && back && slope;
    for (size_t from = 0; from < total && room; from += AIS_BLOCK) {
        size_t rows = total - from < AIS_BLOCK ? total - from : AIS_BLOCK;
        for (size_t c = 0; c < AIS_BLOCK; c++) {
            size_t row = from + (c < rows ? c : rows - 1);
            one[c] = 1;
            det[c] = 0;
            for (size_t i = 0; i < dim; i++) {
                z[i * AIS_BLOCK + c] = data->u[row * dim + i];
                slope[i * AIS_BLOCK + c] = data->slope[row * dim + i];
            }
        }
        ais_flow_map(&first, learned->weights, tape, false, z, det);
        for (size_t c = 0; c < rows; c++) data->logp[from + c] -= det[c];
        memcpy(back, z, dim * AIS_BLOCK * sizeof *z);
        ais_flow_map(&first, learned->weights, tape, true, back, det);
        ais_flow_backward(&first, learned->weights, tape, true, slope, one, NULL);
        for (size_t c = 0; c < rows; c++)
            for (size_t i = 0; i < dim; i++) {
                data->u[(from + c) * dim + i] = z[i * AIS_BLOCK + c];
                data->slope[(from + c) * dim + i] = slope[i * AIS_BLOCK + c];
            }
    }
    ais_arena_free(&arena);
    return room;
}

/* Without rows far from the highest: no chain will see those below, and those above are where a bend that was fitted
 * elsewhere squeezes space without end. The highest but a few, which may be of that kind. False: no memory. */
static bool drop_deep(ais_flow_data *data) {
    static const double few = 0.005;
    size_t dim = (size_t)data->dim, total = data->count + data->held, learned = data->count;
    double *sorted = malloc((total + 1) * sizeof *sorted), deepest = 50 + 3.0 * data->dim;
    if (!sorted) return false;
    memcpy(sorted, data->logp, total * sizeof *sorted);
    qsort(sorted, total, sizeof *sorted, ais_falling);
    double top = total ? sorted[(size_t)(few * (double)total)] : 0;
    free(sorted);
    data->count = data->held = 0;
    for (size_t k = 0; k < total; k++) {
        size_t to = data->count + data->held;
        if (!(fabs(data->logp[k] - top) < deepest)) continue;
        memmove(data->u + to * dim, data->u + k * dim, dim * sizeof *data->u);
        memmove(data->slope + to * dim, data->slope + k * dim, dim * sizeof *data->slope);
        data->logp[to] = data->logp[k];
        if (k < learned)
            data->count++;
        else
            data->held++;
    }
    return true;
}

ais_status ais_flow_data_slopes(ais_context *context, ais_flow_data *data, const ais_archive *archive,
                                const ais_learned *learned, double hold) {
    if (!take(data, archive->dim, archive->count, true, false))
        return ais_fail_memory(context, "points to learn from", archive->count * sizeof(double));
    size_t every = hold > 0 ? (size_t)(1 / hold + 0.5) : 0;
    for (int held = 0; held < 2; held++) /* those held out come last */
        for (size_t c = 0; c < archive->count; c++) {
            bool out = every && c % every == every - 1;
            if (out != held || !ais_archive_has_gradient(archive, c)) continue;
            put(data, archive, learned, c, data->count + data->held);
            if (held)
                data->held++;
            else
                data->count++;
        }
    if ((ais_flow_bends(learned) && !unbend(data, learned)) || !drop_deep(data))
        return ais_fail_memory(context, "points to learn from", archive->count * sizeof(double));
    return AIS_OK;
}

ais_status ais_flow_data_draws(ais_context *context, ais_flow_data *data, const ais_archive *archive,
                               const ais_learned *learned, const double *weight) {
    size_t n = archive->count, chains = 0;
    double *sorted = malloc((n + 1) * sizeof *sorted);
    if (!sorted || !take(data, archive->dim, n, archive->gradient != NULL, true)) {
        free(sorted);
        return ais_fail_memory(context, "points to learn from", n * sizeof(double));
    }
    for (size_t c = 0; c < n; c++) chains += archive->from[c] == AIS_FROM_CHAIN;
    bool weighted = ais_weigh(n, weight, sorted).ess > (double)chains;
    double largest = INFINITY, sum = 0;
    if (weighted) {
        memcpy(sorted, weight, n * sizeof *sorted);
        qsort(sorted, n, sizeof *sorted, ais_falling);
        largest = sorted[(size_t)(clipped * (double)n)];
    }
    for (size_t c = 0; c < n; c++) {
        double w = weighted ? exp(fmin(weight[c], largest) - largest) : archive->from[c] == AIS_FROM_CHAIN;
        if (!(w > 1e-12)) continue;
        if (data->slope && !ais_archive_has_gradient(archive, c)) data->slope = NULL;
        put(data, archive, learned, c, data->count);
        data->chance[data->count++] = sum += w;
    }
    for (size_t k = 0; k < data->count; k++) data->chance[k] /= sum;
    free(sorted);
    return AIS_OK;
}

static size_t pick(const ais_flow_data *data, const ais_stream *stream, uint32_t index) {
    if (!data->chance) return (size_t)ais_random_below(stream, index, data->count);
    double u = ais_random_uniform(stream, index);
    size_t low = 0, high = data->count - 1;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (data->chance[middle] < u)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static void copy(const ais_flow_data *data, size_t member, ais_flow_trainer *trainer, size_t lane) {
    size_t dim = (size_t)data->dim, at = lane / AIS_BLOCK * dim * AIS_BLOCK + lane % AIS_BLOCK;
    for (size_t i = 0; i < dim; i++) {
        trainer->u[at + i * AIS_BLOCK] = data->u[member * dim + i];
        if (data->slope) trainer->slope[at + i * AIS_BLOCK] = data->slope[member * dim + i];
    }
    trainer->logp[lane] = data->logp[member];
}

void ais_flow_data_batch(const ais_flow_data *data, const ais_stream *stream, ais_flow_trainer *trainer) {
    size_t lanes = (size_t)trainer->batch.blocks * AIS_BLOCK;
    for (size_t k = 0; k < lanes; k++) copy(data, pick(data, stream, (uint32_t)k), trainer, k);
}

double ais_flow_data_held_loss(const ais_flow_data *data, ais_flow_trainer *trainer) {
    size_t lanes = (size_t)trainer->batch.blocks * AIS_BLOCK, batches = (data->held + lanes - 1) / lanes;
    double sum = 0;
    for (size_t b = 0; b < batches; b++) {
        for (size_t k = 0; k < lanes; k++) copy(data, data->count + (b * lanes + k) % data->held, trainer, k);
        sum += ais_flow_fisher(trainer);
    }
    return batches ? sum / (double)batches : NAN;
}
