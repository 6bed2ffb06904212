#include "trainer/training.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/ranks.h"
#include "trainer/identity.h"
#include "trainer/learned_discriminator.h"

void ais_training_free(ais_training *training) {
    if (!training) return;
    free(training->x);
    free(training->point);
    ais_learned_discriminator_free(training->discriminator);
    free(training);
}

ais_status ais_training_open(ais_context *context, const char *path, char *identity, bool resume, double seconds,
                             bool writes, ais_checkpoint **checkpoint) {
    double interval = !writes ? INFINITY : seconds > 0 ? seconds : 0;
    *checkpoint = NULL;
    ais_status status = identity
                            ? ais_checkpoint_open(context, "training", path, identity, resume, interval, checkpoint)
                            : ais_fail_memory(context, "a checkpoint", 0);
    free(identity);
    return status;
}

ais_status ais_training_checkpoint(ais_context *context, const ais_target *target, const ais_train_options *options,
                                   ais_checkpoint **checkpoint) {
    *checkpoint = NULL;
    if (!options->checkpoint) return AIS_OK;
    return ais_training_open(context, options->checkpoint, ais_training_identity(target, options), options->resume,
                             options->checkpoint_seconds, ais_ranks_lead(options->ranks), checkpoint);
}

/* ---- the curve ----------------------------------------------------------------------------------- */

static const char *const stages[] = {"start",       "annealing", "likelihood", "exact", "fisher", "judge",
                                     "adversarial", "ratio",     "joint",      "anice", "ladder"};
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

void ais_training_tell(ais_training *training, double began, double stage_began, ais_train_progress progress,
                       bool point, void (*tell)(const ais_train_progress *, void *), void *data) {
    double time = ais_now(), share = progress.share;
    progress.seconds = time - began;
    progress.seconds_left = share > 0 ? (time - stage_began) * (1 - share) / share : NAN;
    if (point && training->points < AIS_MOST_POINTS)
        training->point[training->points++] = (ais_train_point){.stage = progress.stage,
                                                                .seconds = progress.seconds,
                                                                .loss = progress.loss,
                                                                .discriminator_loss = progress.discriminator_loss,
                                                                .acceptance = progress.acceptance,
                                                                .worst_ess = progress.worst_ess};
    if (tell) tell(&progress, data);
}

static void exchange_curve(ais_checkpoint *checkpoint, ais_training *training) {
    size_t bytes = (size_t)training->points * sizeof(flat_point);
    flat_point *flat = NULL;
    bool reads = ais_checkpoint_reads(checkpoint);
    if (!reads && bytes && !(flat = malloc(bytes))) {
        ais_checkpoint_no_memory(checkpoint);
        bytes = 0;
    }
    for (size_t i = 0; !reads && i < bytes / sizeof *flat; i++) flat[i] = flatten(&training->point[i]);
    ais_checkpoint_memory(checkpoint, "curve", (void **)&flat, &bytes);
    size_t points = bytes / sizeof *flat;
    if (reads && points > AIS_MOST_POINTS) {
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

void ais_training_exchange(ais_checkpoint *checkpoint, ais_training *training) {
    AIS_FIELD(checkpoint, training, log_z);
    AIS_FIELD(checkpoint, training, log_z_error);
    AIS_FIELD(checkpoint, training, modes);
    ais_checkpoint_flag(checkpoint, "trusted", &training->trusted);
    AIS_FIELD(checkpoint, training, sentence);
    AIS_FIELD(checkpoint, training, warning);
    ais_checkpoint_count(checkpoint, "densities", &training->densities, ais_most_count);
    ais_checkpoint_count(checkpoint, "gradients", &training->gradients, ais_most_count);
    ais_checkpoint_count(checkpoint, "start_evaluations", &training->start_evaluations, ais_most_count);
    AIS_FIELD(checkpoint, training, start_seconds);
    AIS_FIELD(checkpoint, training, acceptance);
    AIS_FIELD(checkpoint, training, worst_ess);
    ais_checkpoint_integer(checkpoint, "attempts", &training->attempts, 0, INT_MAX / 2);
    ais_checkpoint_integer(checkpoint, "rollbacks", &training->rollbacks, 0, INT_MAX / 2);
    exchange_curve(checkpoint, training);
    training->sentence[sizeof training->sentence - 1] = training->warning[sizeof training->warning - 1] = 0;
    if (ais_checkpoint_reads(checkpoint)) training->resumed = true;
}

void ais_began_exchange(ais_checkpoint *checkpoint, double *began) {
    double seconds = ais_now() - *began;
    ais_checkpoint_bytes(checkpoint, "seconds", &seconds, sizeof seconds);
    if (ais_checkpoint_reads(checkpoint)) *began = ais_now() - seconds;
}

/* Names of kernels that learning compares with. */
static bool known_rival(const char *name) { return !*name || strcmp(name, "nuts") == 0 || strcmp(name, "rwm") == 0; }

/* What a finished training has besides. */
static void exchange_end(ais_checkpoint *checkpoint, ais_training *training) {
    size_t bytes = (size_t)training->count * (size_t)training->dim * sizeof(double);
    AIS_FIELD(checkpoint, training, train_seconds);
    ais_checkpoint_integer(checkpoint, "rungs", &training->rungs.count, 0, AIS_MOST_RUNGS);
    AIS_FIELD(checkpoint, training, rungs.beta);
    AIS_FIELD(checkpoint, training, rungs.rejection);
    AIS_FIELD(checkpoint, training, rival);
    AIS_FIELD(checkpoint, training, rival_ess_per_second);
    AIS_FIELD(checkpoint, training, ess_per_second);
    ais_checkpoint_memory(checkpoint, "x", (void **)&training->x, &bytes);
    if (!ais_checkpoint_reads(checkpoint)) return;
    training->rival[sizeof training->rival - 1] = 0;
    if (!known_rival(training->rival)) ais_checkpoint_refuse(checkpoint, "rival");
    if (bytes != (size_t)training->count * (size_t)training->dim * sizeof(double))
        ais_checkpoint_refuse(checkpoint, "x");
    if (training->densities < 0 || training->gradients < 0 || training->start_evaluations < 0)
        ais_checkpoint_refuse(checkpoint, "densities");
}

void ais_training_exchange_whole(ais_checkpoint *checkpoint, int dim, ais_training **training) {
    bool there = *training != NULL;
    if (!ais_checkpoint_flag(checkpoint, "training", &there) || !there) return;
    ais_training *this = *training;
    if (ais_checkpoint_reads(checkpoint)) {
        this = calloc(1, sizeof *this);
        if (this) this->point = calloc(AIS_MOST_POINTS, sizeof *this->point);
        if (!this || !this->point) {
            free(this);
            ais_checkpoint_refuse(checkpoint, "training");
            return;
        }
        *training = this;
        this->dim = dim;
    }
    ais_checkpoint_integer(checkpoint, "count", &this->count, 0, 1 << 24);
    ais_training_exchange(checkpoint, this);
    exchange_end(checkpoint, this);
}
