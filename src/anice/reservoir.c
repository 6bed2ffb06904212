#include "anice/reservoir.h"

#include <stdlib.h>

void ais_reservoir_free(ais_reservoir *reservoir) {
    free(reservoir->x);
    *reservoir = (ais_reservoir){.dim = reservoir->dim};
}

void ais_reservoir_discard(ais_reservoir *reservoir, double share, const ais_stream *stream) {
    size_t dim = reservoir->dim, keep = (size_t)((double)reservoir->count * (1 - share));
    for (size_t i = 0; i < keep; i++) { /* the first steps of a shuffle */
        size_t other = i + (size_t)ais_random_below(stream, (uint32_t)i, reservoir->count - i);
        for (size_t k = 0; k < dim; k++) {
            double swapped = reservoir->x[i * dim + k];
            reservoir->x[i * dim + k] = reservoir->x[other * dim + k];
            reservoir->x[other * dim + k] = swapped;
        }
    }
    reservoir->count = keep;
}

ais_status ais_reservoir_insert(ais_context *context, ais_reservoir *reservoir, size_t count, const double *x) {
    size_t dim = reservoir->dim, wanted = reservoir->count + count;
    if (wanted > reservoir->room) {
        double *larger = realloc(reservoir->x, wanted * dim * sizeof *larger);
        if (!larger) return ais_fail_memory(context, "draws to train on", wanted * dim * sizeof *larger);
        reservoir->x = larger;
        reservoir->room = wanted;
    }
    double *to = reservoir->x + reservoir->count * dim;
    for (size_t c = 0; c < count; c++)
        for (size_t i = 0; i < dim; i++) to[c * dim + i] = x[i * count + c];
    reservoir->count = wanted;
    return AIS_OK;
}

void ais_reservoir_exchange(ais_checkpoint *checkpoint, ais_reservoir *reservoir) {
    size_t row = reservoir->dim * sizeof *reservoir->x, bytes = reservoir->count * row;
    void *x = reservoir->x;
    ais_checkpoint_memory(checkpoint, "reservoir", &x, &bytes);
    if (!ais_checkpoint_reads(checkpoint)) return;
    free(reservoir->x);
    reservoir->x = x;
    reservoir->count = reservoir->room = bytes / row;
    if (bytes % row) ais_checkpoint_refuse(checkpoint, "reservoir");
}

const double *ais_reservoir_pick(const ais_reservoir *reservoir, const ais_stream *stream, size_t index) {
    return reservoir->x + ais_random_below(stream, (uint32_t)index, reservoir->count) * reservoir->dim;
}
