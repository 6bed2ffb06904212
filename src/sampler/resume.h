/* Drawing that can be continued, from a checkpoint and a journal (docs/design.md, "Resuming"). */
#ifndef AIS_SAMPLER_RESUME_H
#define AIS_SAMPLER_RESUME_H

#include <aisampler/sampler.h>

#include "checkpoint/checkpoint.h"
#include "draws/journal.h"
#include "sampler/kept.h"

typedef struct ais_drawing {
    ais_checkpoint *checkpoint; /* open; its next section, if there is one, is that of the drawing */
    const char *path;           /* of the journal */
    int extend;                 /* draws per chain that are added to a finished run; 0: none */
    ais_journal *journal;       /* rank 0's, during the run; closed at its end */
    bool unlimited;             /* out: the run was extended, and budgets did not count */
} ais_drawing;

/* ais_sample, resumed where the checkpoint has the section of a drawing, and with checkpoints on the way. A run that
 * was finished is not continued, except by `extend`: its draws are passed to the sinks again. drawing NULL:
 * nothing of that. doubt, or NULL, may require more draws than the effective draws that are wanted; it must be a
 * function of the draws alone. */
ais_status ais_sample_on(ais_context *context, const ais_target *target, const ais_kernel *kernel,
                         const ais_sample_options *options, ais_drawing *drawing, const ais_doubt *doubt,
                         ais_sink *const *sinks, int sink_count, ais_sample_result *result);

#endif
