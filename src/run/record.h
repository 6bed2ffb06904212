/* The record of a job in its checkpoint: what identifies it, and what was learned. The drawing has a section of its own
 * after it (sampler/resume.h). */
#ifndef AIS_RUN_RECORD_H
#define AIS_RUN_RECORD_H

#include <aisampler/run.h>

#include "checkpoint/checkpoint.h"

typedef struct ais_job_record {
    ais_checkpoint *checkpoint; /* NULL: none is kept */
    char *journal;              /* path */
    int dim;
    bool found;         /* there is a checkpoint to continue from, */
    double began;       /* its job by ais_now(), the time before the interruption included; */
    ais_kernel *kernel; /* that was learned or given, and its training, or NULL */
    ais_training *training;
    bool owns; /* both: they were read */
} ais_job_record;

/* Opens the checkpoint that the options name, and removes one that is not to be continued. */
ais_status ais_job_open(ais_context *context, const ais_target *target, const ais_run_options *options,
                        ais_job_record *record);

/* Reads what was learned, when there is a checkpoint; else notes it, for all checkpoints to come. */
ais_status ais_job_recall(ais_context *context, ais_job_record *record, const ais_target *target);
ais_status ais_job_note(ais_context *context, ais_job_record *record, const ais_kernel *kernel,
                        const ais_training *training, double began);

/* No checkpoint is kept from now on. */
void ais_job_forget(ais_job_record *record);
void ais_job_close(ais_job_record *record);

#endif
