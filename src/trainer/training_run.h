/* What train.c works with: all of one training. */
#ifndef AIS_TRAINER_TRAINING_RUN_H
#define AIS_TRAINER_TRAINING_RUN_H

#include "fit/henon_trainer.h"
#include "fit/loop.h"
#include "judge/weights.h"
#include "trainer/training.h"

typedef struct ais_training_run {
    const ais_target *target;
    const ais_train_options *options;
    ais_pool *pool;
    ais_population *population;
    ais_training *training;
    ais_checkpoint *checkpoint; /* or NULL */
    double began, stage_began;
    const char *stage;
    int number;          /* of the present attempt */
    int stages_done;     /* of an attempt at a henon kernel */
    int paper_start;     /* how far the paper's preset begins from the target; 0: not judged yet */
    ais_kernel *present; /* of the present attempt */
    ais_kernel *best;
    ais_train_progress last; /* reported */
    double reported;         /* when */
    long evaluations;        /* so far, as far as they are counted */
    double best_ess;         /* of the best kernel; -1 before there is one */
} ais_training_run;

/* Callbacks for the start and the fits, data being the ais_training_run: they tell the caller and draw the curve. */
void ais_training_run_start_progress(const char *stage, double share, void *job);
void ais_training_run_tick(void *job, long evaluations);
void ais_training_run_progress(void *job, const ais_loop_progress *progress);

/* The fit of a map, between two judgements. */
void ais_training_run_fit_progress(void *job, const ais_loop_progress *progress);

/* With it, the job's way to stop, this deadline and, if `kept`, its checkpoint: what a fit of a map is watched by.
 */
ais_watch ais_training_run_watch(ais_training_run *job, double deadline, bool kept);

/* A map was judged. */
void ais_training_run_judged(ais_training_run *job, const ais_verdict *verdict, double efficiency);

/* Before round k of a ladder's, about `rounds` of them; and after it. */
void ais_training_run_climbs(ais_training_run *job, int k, int rounds);
void ais_training_run_climbed(ais_training_run *job, int k, int rounds, double acceptance, double worst_ess);

/* Sections of the checkpoint: what the start found and the attempts so far; and the kernel in the making. */
void ais_training_run_exchange(ais_checkpoint *checkpoint, void *job);
void ais_training_run_exchange_present(ais_checkpoint *checkpoint, void *job);

#endif
