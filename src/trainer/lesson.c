#include "trainer/lesson.h"

#include <math.h>
#include <string.h>

#include "base/clock.h"

/* ---- progress and curve -------------------------------------------------------------------------- */

/* On every rank or on none. */
static bool stopped(const ais_lesson *this) {
    double asked = this->options->stop && *this->options->stop;
    ais_context ignored;
    return ais_ranks_largest(&ignored, this->options->ranks, &asked, 1) != AIS_OK || asked != 0;
}

static void tell(ais_lesson *this, ais_train_progress progress) {
    double time = ais_now();
    if (!this->stage || strcmp(this->stage, progress.stage) != 0) {
        this->stage = progress.stage;
        this->stage_began = time;
    }
    progress.seconds = time - this->began;
    progress.seconds_left =
        progress.share > 0 ? (time - this->stage_began) * (1 - progress.share) / progress.share : NAN;
    ais_training *training = this->training;
    if (training->points < AIS_MOST_POINTS && !isnan(progress.loss))
        training->point[training->points++] = (ais_train_point){.stage = progress.stage,
                                                                .seconds = progress.seconds,
                                                                .loss = progress.loss,
                                                                .discriminator_loss = progress.discriminator_loss,
                                                                .acceptance = progress.acceptance,
                                                                .worst_ess = progress.worst_ess};
    if (this->options->progress) this->options->progress(&progress, this->options->progress_data);
}

void ais_lesson_start_progress(const char *stage, double share, void *data) {
    ais_lesson *this = data;
    ais_training *training = this->training;
    /* What the start is at is not for the table, but its temperatures are for the curve: while annealing, the share is
     * the inverse temperature. */
    if (strcmp(stage, "annealing") == 0 && training->points < AIS_MOST_POINTS)
        training->point[training->points++] = (ais_train_point){.stage = "annealing",
                                                                .seconds = ais_now() - this->began,
                                                                .loss = NAN,
                                                                .discriminator_loss = NAN,
                                                                .acceptance = NAN,
                                                                .worst_ess = NAN,
                                                                .beta = share};
    tell(this, (ais_train_progress){.stage = "start",
                                    .share = share,
                                    .loss = NAN,
                                    .discriminator_loss = NAN,
                                    .acceptance = NAN,
                                    .worst_ess = NAN,
                                    .best_ess = NAN});
}

bool ais_lesson_flow_progress(void *data, const ais_flow_progress *p) {
    ais_lesson *this = data;
    tell(this, (ais_train_progress){.stage = p->stage,
                                    .share = (double)p->step / (double)p->steps,
                                    .loss = p->loss,
                                    .discriminator_loss = NAN,
                                    .acceptance = p->acceptance,
                                    .worst_ess = p->worst_ess,
                                    .best_ess = fmax(p->best_ess, this->best_ess),
                                    .rollbacks = p->rollbacks});
    return !stopped(this);
}

bool ais_lesson_henon_progress(void *data, const ais_henon_progress *p) {
    ais_lesson *this = data;
    tell(this, (ais_train_progress){.stage = p->stage,
                                    .share = (double)p->step / (double)p->steps,
                                    .loss = p->loss,
                                    .discriminator_loss = p->discriminator_loss,
                                    .acceptance = p->acceptance,
                                    .worst_ess = p->worst_ess,
                                    .best_ess = p->best_ess,
                                    .rollbacks = p->rollbacks});
    this->training->acceptance = p->acceptance;
    return !stopped(this);
}

/* ---- checkpoint ---------------------------------------------------------------------------------- */

void ais_lesson_exchange(ais_checkpoint *checkpoint, void *data) {
    ais_lesson *this = data;
    ais_training *training = this->training;
    size_t dim = (size_t)training->dim;
    ais_began_exchange(checkpoint, &this->began);
    ais_training_exchange(checkpoint, training, AIS_MOST_POINTS);
    ais_checkpoint_bytes(checkpoint, "start_x", training->x, (size_t)training->count * dim * sizeof(double));
    AIS_FIELD(checkpoint, this, annealed);
    ais_checkpoint_memory(checkpoint, "laplace", (void **)&this->laplace, &this->laplace_bytes);
    if (this->laplace_bytes && this->laplace_bytes != (dim + dim * dim) * sizeof(double))
        ais_checkpoint_refuse(checkpoint, "laplace");
    AIS_FIELD(checkpoint, this, number);
    AIS_FIELD(checkpoint, this, stages_done);
    AIS_FIELD(checkpoint, this, way);
    AIS_FIELD(checkpoint, this, work);
    AIS_FIELD(checkpoint, this, best_ess);
    ais_checkpoint_kernel(checkpoint, "best", &this->best);
    if (this->best && ais_kernel_dim(this->best) != training->dim) ais_checkpoint_refuse(checkpoint, "best");
}

void ais_lesson_exchange_present(ais_checkpoint *checkpoint, void *data) {
    ais_lesson *this = data;
    ais_checkpoint_kernel(checkpoint, "kernel", &this->present);
    if (!this->present || ais_kernel_dim(this->present) != this->training->dim)
        ais_checkpoint_refuse(checkpoint, "kernel");
}
