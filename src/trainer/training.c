#include "trainer/training.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/ranks.h"
#include "trainer/identity.h"
#include "trainer/learned_discriminator.h"

static const double default_interval = 1;

void ais_training_free(ais_training *training) {
    if (!training) return;
    free(training->x);
    free(training->point);
    ais_learned_discriminator_free(training->discriminator);
    free(training);
}

ais_status ais_training_checkpoint(ais_context *context, const ais_target *target, const ais_train_options *options,
                                   ais_checkpoint **checkpoint) {
    *checkpoint = NULL;
    if (!options->checkpoint) return AIS_OK;
    double interval = options->checkpoint_seconds > 0 ? options->checkpoint_seconds : default_interval;
    if (!ais_ranks_lead(options->ranks)) interval = INFINITY; /* rank 0 writes; all read */
    char *identity = ais_training_identity(target, options);
    if (!identity) return ais_fail_memory(context, "a checkpoint", 0);
    ais_status status =
        ais_checkpoint_open(context, options->checkpoint, identity, options->resume, interval, checkpoint);
    free(identity);
    return status;
}

/* ---- the curve ----------------------------------------------------------------------------------- */

static const char *const stages[] = {"start", "annealing", "likelihood", "exact", "path", "adversarial", "ratio"};
enum { STAGES = sizeof stages / sizeof *stages };

/* A point with its stage as a number. */
typedef struct flat_point {
    double stage, seconds, loss, discriminator_loss, acceptance, worst_ess, beta;
} flat_point;

static flat_point flatten(const ais_train_point *point) {
    int stage = 0;
    while (stage < STAGES - 1 && strcmp(stages[stage], point->stage) != 0) stage++;
    return (flat_point){.stage = stage,
                        .seconds = point->seconds,
                        .loss = point->loss,
                        .discriminator_loss = point->discriminator_loss,
                        .acceptance = point->acceptance,
                        .worst_ess = point->worst_ess,
                        .beta = point->beta};
}

static void exchange_curve(ais_checkpoint *checkpoint, ais_training *training, int most) {
    size_t bytes = (size_t)training->points * sizeof(flat_point);
    flat_point *flat = NULL;
    bool reads = ais_checkpoint_reads(checkpoint);
    if (!reads && bytes && !(flat = malloc(bytes))) bytes = 0; /* a curve without its beginning does no harm */
    for (size_t i = 0; !reads && i < bytes / sizeof *flat; i++) flat[i] = flatten(&training->point[i]);
    ais_checkpoint_memory(checkpoint, "curve", (void **)&flat, &bytes);
    size_t points = bytes / sizeof *flat;
    if (reads && points > (size_t)most) {
        ais_checkpoint_refuse(checkpoint, "curve");
        points = 0;
    }
    for (size_t i = 0; reads && i < points; i++) {
        const flat_point *p = &flat[i];
        bool known = p->stage >= 0 && p->stage < STAGES;
        training->point[i] = (ais_train_point){.stage = stages[known ? (int)p->stage : 0],
                                               .seconds = p->seconds,
                                               .loss = p->loss,
                                               .discriminator_loss = p->discriminator_loss,
                                               .acceptance = p->acceptance,
                                               .worst_ess = p->worst_ess,
                                               .beta = p->beta};
    }
    if (reads) training->points = (int)points;
    free(flat);
}

/* ---- the rest ------------------------------------------------------------------------------------ */

void ais_training_exchange(ais_checkpoint *checkpoint, ais_training *training, int most) {
    AIS_FIELD(checkpoint, training, log_z);
    AIS_FIELD(checkpoint, training, log_z_error);
    AIS_FIELD(checkpoint, training, modes);
    AIS_FIELD(checkpoint, training, trusted);
    AIS_FIELD(checkpoint, training, sentence);
    AIS_FIELD(checkpoint, training, warning);
    AIS_FIELD(checkpoint, training, densities);
    AIS_FIELD(checkpoint, training, gradients);
    AIS_FIELD(checkpoint, training, start_seconds);
    AIS_FIELD(checkpoint, training, acceptance);
    AIS_FIELD(checkpoint, training, attempts);
    AIS_FIELD(checkpoint, training, rollbacks);
    exchange_curve(checkpoint, training, most);
    training->sentence[sizeof training->sentence - 1] = training->warning[sizeof training->warning - 1] = 0;
    if (ais_checkpoint_reads(checkpoint)) training->resumed = true;
}

void ais_began_exchange(ais_checkpoint *checkpoint, double *began) {
    double seconds = ais_now() - *began;
    ais_checkpoint_bytes(checkpoint, "seconds", &seconds, sizeof seconds);
    if (ais_checkpoint_reads(checkpoint)) *began = ais_now() - seconds;
}

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
