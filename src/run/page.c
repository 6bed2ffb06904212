/* The page of a run, from what the run left. */
#include <aisampler/run.h>

#include <math.h>

#include "base/status.h"

ais_status ais_run_html(ais_context *context, const ais_run_result *result, const ais_run_page *page, FILE *file) {
    if (!result->draws || !result->diagnosis)
        return ais_fail(context, AIS_BAD_ARGUMENT, "there is nothing to report: %s", result->verdict);
    const ais_training *training = result->training ? result->training : page->training;
    const ais_report_run run = {.target = page->title,
                                .sampler = result->draws->sampler,
                                .seed = page->seed,
                                .train_seconds = training ? training->start_seconds + training->train_seconds : NAN,
                                .result = &result->sample,
                                .evaluations = result->evaluations,
                                .training = training,
                                .about = page->target ? page->target->about : NULL};
    /* Figures must not evaluate a user's own density: only one whose truth is known. */
    const ais_figure_data data = {.draws = result->draws,
                                  .diagnosis = result->diagnosis,
                                  .target = page->target && page->target->reference ? page->target : NULL,
                                  .curve = training ? training->point : NULL,
                                  .points = training ? training->points : 0,
                                  .rungs = training ? &training->rungs : NULL,
                                  .parameter = page->parameter,
                                  .parameters = page->parameters,
                                  .truth = page->truth};
    const ais_report_page rest = {.training = training, .configuration = page->configuration};
    return ais_report_html(context, &data, &run, &rest, file);
}
