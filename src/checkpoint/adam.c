#include "checkpoint/adam.h"

#include <stdio.h>

static void adam_field(ais_checkpoint *checkpoint, const char *name, const char *field, void *data, size_t bytes) {
    char full[64];
    snprintf(full, sizeof full, "%s.%s", name, field);
    ais_checkpoint_bytes(checkpoint, full, data, bytes);
}

void ais_adam_exchange(ais_checkpoint *checkpoint, const char *name, ais_adam *adam) {
    size_t bytes = adam->count * sizeof(ais_real);
    adam_field(checkpoint, name, "step", &adam->step, sizeof adam->step);
    adam_field(checkpoint, name, "scale", &adam->scale, sizeof adam->scale);
    adam_field(checkpoint, name, "m", adam->m, bytes);
    adam_field(checkpoint, name, "v", adam->v, bytes);
    if (adam->averaged) adam_field(checkpoint, name, "averaged", adam->averaged, bytes);
}
