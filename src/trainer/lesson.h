/* What train.c works with: all of one training. */
#ifndef AIS_TRAINER_LESSON_H
#define AIS_TRAINER_LESSON_H

#include "fit/henon_trainer.h"
#include "fit/loop.h"
#include "judge/weights.h"
#include "trainer/training.h"

typedef struct ais_lesson {
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
    int way;             /* that the paper's preset has to go: 0 not judged yet */
    ais_kernel *present; /* of the present attempt */
    ais_kernel *best;
    ais_train_progress last; /* told */
    double told;             /* when */
    long evaluations;        /* so far, as far as anybody counted */
    double best_ess;         /* of the best kernel; -1 before there is one */
} ais_lesson;

/* Callbacks for the start and the fits, data being the lesson: they tell the caller and draw the curve. */
void ais_lesson_start_progress(const char *stage, double share, void *lesson);
void ais_lesson_tick(void *lesson, long evaluations);
void ais_lesson_progress(void *lesson, const ais_loop_progress *progress);

/* The fit of a map, between two judgements. */
void ais_lesson_fit_progress(void *lesson, const ais_loop_progress *progress);

/* With it, the lesson's way to stop, this deadline and, if `kept`, its checkpoint: what a fit of a map is watched by.
 */
ais_watch ais_lesson_watch(ais_lesson *lesson, double deadline, bool kept);

/* A map was judged. */
void ais_lesson_judged(ais_lesson *lesson, const ais_verdict *verdict, double efficiency);

/* Before round k of a ladder's, about `rounds` of them; and after it. */
void ais_lesson_climbs(ais_lesson *lesson, int k, int rounds);
void ais_lesson_climbed(ais_lesson *lesson, int k, int rounds, double acceptance, double worst_ess);

/* Sections of the checkpoint: what the start found and the attempts so far; and the kernel in the making. */
void ais_lesson_exchange(ais_checkpoint *checkpoint, void *lesson);
void ais_lesson_exchange_present(ais_checkpoint *checkpoint, void *lesson);

#endif
