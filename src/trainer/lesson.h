/* What train.c works with: all of one training. */
#ifndef AIS_TRAINER_LESSON_H
#define AIS_TRAINER_LESSON_H

#include "trainer/henon_trainer.h"
#include "trainer/plan.h"
#include "trainer/training.h"

typedef struct ais_lesson {
    const ais_target *target;
    const ais_train_options *options;
    ais_pool *pool;
    ais_population *population;
    ais_training *training;
    ais_checkpoint *checkpoint; /* or NULL */
    ais_situation situation;
    bool annealed;
    double *laplace;      /* mean (dim) and factor (dim x dim) of the only mode, or NULL */
    size_t laplace_bytes; /* 0 without */
    double began, stage_began;
    const char *stage;
    int number;          /* of the present attempt */
    int stages_done;     /* of an attempt at a henon kernel */
    int way;             /* that the paper's preset has to go: 0 not judged yet */
    double work;         /* of the attempts so far: steps x batch x weights */
    ais_kernel *present; /* of the present attempt */
    ais_kernel *best;
    double best_ess; /* of the best kernel; -1 before there is one */
} ais_lesson;

enum { AIS_MOST_POINTS = 4096 }; /* of the curve */

/* Callbacks for the start and both trainers, data being the lesson: they tell the caller and draw the curve. */
void ais_lesson_start_progress(const char *stage, double share, void *lesson);
bool ais_lesson_flow_progress(void *lesson, const ais_flow_progress *progress);
bool ais_lesson_henon_progress(void *lesson, const ais_henon_progress *progress);

/* Sections of the checkpoint: what the start found and the attempts so far; and the kernel in the making. */
void ais_lesson_exchange(ais_checkpoint *checkpoint, void *lesson);
void ais_lesson_exchange_present(ais_checkpoint *checkpoint, void *lesson);

#endif
