#include "checkpoint/components.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LONGEST = 64 };

static const char *full(char *room, const char *name, const char *field) {
    snprintf(room, LONGEST, "%s.%s", name, field);
    return room;
}

/* The factors say how many components there are: as many as the file really holds. */
static bool exchange_factors(ais_checkpoint *checkpoint, const char *name, int dim, ais_components *components,
                             ais_arena *arena) {
    size_t square = (size_t)dim * (size_t)dim * sizeof(double), bytes = (size_t)components->count * square;
    void *factor = components->factor;
    ais_checkpoint_memory(checkpoint, name, &factor, &bytes);
    if (!ais_checkpoint_reads(checkpoint)) return true;
    size_t count = bytes / square;
    bool fits = bytes % square == 0 && count < INT_MAX;
    if (fits && count) fits = ais_components_take(components, arena, dim, (int)count);
    if (fits && count) memcpy(components->factor, factor, bytes);
    if (!fits) ais_checkpoint_refuse(checkpoint, name);
    components->count = fits ? (int)count : 0;
    free(factor);
    return fits;
}

void ais_components_exchange(ais_checkpoint *checkpoint, const char *name, int dim, ais_components *components,
                             ais_arena *arena) {
    char field[LONGEST];
    if (!exchange_factors(checkpoint, full(field, name, "factor"), dim, components, arena)) return;
    size_t count = (size_t)components->count, d = (size_t)dim;
    if (!count) return;
    ais_checkpoint_numbers(checkpoint, full(field, name, "mean"), components->mean, count * d);
    ais_checkpoint_numbers(checkpoint, full(field, name, "whiten"), components->whiten, count * d * d);
    ais_checkpoint_numbers(checkpoint, full(field, name, "log_volume"), components->log_volume, count);
    ais_checkpoint_numbers(checkpoint, full(field, name, "log_scale"), components->log_scale, count);
    ais_checkpoint_numbers(checkpoint, full(field, name, "weight"), components->weight, count);
    for (size_t k = 0; k < count; k++)
        if (!(components->weight[k] >= 0)) ais_checkpoint_refuse(checkpoint, field);
    full(field, name, "freedom");
    ais_checkpoint_bytes(checkpoint, field, &components->freedom, sizeof components->freedom); /* may be infinite */
    if (!(components->freedom > 0)) ais_checkpoint_refuse(checkpoint, field);
}
