#include "trainer/training_run.h"

#include <math.h>
#include <string.h>

#include "base/clock.h"

/* ---- progress and curve -------------------------------------------------------------------------- */

/* record: a point of the curve, also without a loss. */
static void tell(ais_training_run *this, ais_train_progress progress, bool record) {
    if (!this->stage || strcmp(this->stage, progress.stage) != 0) {
        this->stage = progress.stage;
        this->stage_began = ais_now();
    }
    progress.evaluations = this->evaluations;
    this->last = progress;
    this->reported = ais_now();
    ais_training_tell(this->training, this->began, this->stage_began, progress, !isnan(progress.loss) || record,
                      this->options->progress, this->options->progress_data);
}

void ais_training_run_tick(void *data, long evaluations) {
    static const double interval = 0.5;
    ais_training_run *this = data;
    this->evaluations = evaluations;
    if (this->last.stage && ais_now() - this->reported > interval) {
        ais_train_progress again = this->last;
        again.loss = NAN; /* for the curve it is no new point */
        tell(this, again, false);
    }
}

void ais_training_run_start_progress(const char *stage, double share, void *data) {
    ais_training_run *this = data;
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
    tell(this,
         (ais_train_progress){.stage = "start",
                              .share = share,
                              .loss = NAN,
                              .discriminator_loss = NAN,
                              .acceptance = NAN,
                              .worst_ess = NAN,
                              .best_ess = NAN},
         false);
}

void ais_training_run_fit_progress(void *data, const ais_loop_progress *p) {
    ais_training_run *this = data;
    tell(this,
         (ais_train_progress){.stage = p->stage,
                              .share = (double)p->step / (double)p->steps,
                              .loss = p->loss,
                              .discriminator_loss = NAN,
                              .acceptance = this->training->acceptance,
                              .worst_ess = this->training->worst_ess,
                              .best_ess = this->best_ess,
                              .rollbacks = this->training->rollbacks + p->rollbacks},
         false);
}

/* A stage without a loss: what the present kernel is worth, once one was judged. */
static void tell_worth(ais_training_run *this, const char *stage, double share, bool record) {
    bool known = this->best_ess >= 0;
    tell(this,
         (ais_train_progress){.stage = stage,
                              .share = share,
                              .loss = NAN,
                              .discriminator_loss = NAN,
                              .acceptance = known ? this->training->acceptance : NAN,
                              .worst_ess = known ? this->training->worst_ess : NAN,
                              .best_ess = this->best_ess,
                              .rollbacks = this->training->rollbacks},
         record);
}

static void judged(ais_training_run *this, const char *stage, double share, double acceptance, double worst_ess) {
    this->training->acceptance = acceptance;
    this->training->worst_ess = worst_ess;
    this->best_ess = fmax(this->best_ess, worst_ess);
    tell_worth(this, stage, share, true);
}

ais_watch ais_training_run_watch(ais_training_run *job, double deadline, bool kept) {
    return (ais_watch){.progress = ais_training_run_fit_progress,
                       .data = job,
                       .stop = job->options->stop,
                       .deadline = deadline,
                       .ranks = job->options->ranks,
                       .checkpoint = kept ? job->checkpoint : NULL};
}

void ais_training_run_judged(ais_training_run *this, const ais_verdict *verdict, double efficiency) {
    judged(this, "judge", 1, verdict->acceptance, efficiency);
}

void ais_training_run_climbs(ais_training_run *this, int k, int rounds) {
    tell_worth(this, "ladder", fmin((double)k / rounds, 1), false);
}

void ais_training_run_climbed(ais_training_run *this, int k, int rounds, double acceptance, double worst_ess) {
    judged(this, "ladder", fmin((k + 1.0) / rounds, 1), acceptance, worst_ess);
}

void ais_training_run_progress(void *data, const ais_loop_progress *p) {
    ais_training_run *this = data;
    tell(this,
         (ais_train_progress){.stage = p->stage,
                              .share = (double)p->step / (double)p->steps,
                              .loss = p->loss,
                              .discriminator_loss = p->other_loss,
                              .acceptance = p->acceptance,
                              .worst_ess = p->judged ? p->score : NAN,
                              .best_ess = p->best_score,
                              .rollbacks = p->rollbacks},
         false);
    this->training->acceptance = p->acceptance;
}

/* ---- checkpoint ---------------------------------------------------------------------------------- */

void ais_training_run_exchange(ais_checkpoint *checkpoint, void *data) {
    ais_training_run *this = data;
    ais_training *training = this->training;
    size_t dim = (size_t)training->dim;
    ais_began_exchange(checkpoint, &this->began);
    ais_training_exchange(checkpoint, training);
    ais_checkpoint_bytes(checkpoint, "start_x", training->x, (size_t)training->count * dim * sizeof(double));
    AIS_FIELD(checkpoint, this, number);
    AIS_FIELD(checkpoint, this, stages_done);
    AIS_FIELD(checkpoint, this, paper_start);
    AIS_FIELD(checkpoint, this, best_ess);
    ais_checkpoint_kernel(checkpoint, "best", &this->best);
    if (this->best && ais_kernel_dim(this->best) != training->dim) ais_checkpoint_refuse(checkpoint, "best");
}

void ais_training_run_exchange_present(ais_checkpoint *checkpoint, void *data) {
    ais_training_run *this = data;
    ais_checkpoint_kernel(checkpoint, "kernel", &this->present);
    if (!this->present || ais_kernel_dim(this->present) != this->training->dim)
        ais_checkpoint_refuse(checkpoint, "kernel");
}
