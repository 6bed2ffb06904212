/* report.h: a diagnosis as text and as files. */
#ifndef AISAMPLER_REPORT_H
#define AISAMPLER_REPORT_H

#include <stdio.h>

#include "diagnostics.h"
#include "sampler.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What a report says besides the diagnosis. Fields that do not apply are NULL or NAN. */
typedef struct ais_report_run {
    const char *target;
    const char *sampler;
    uint64_t seed;
    double train_seconds; /* 0: nothing was trained; NAN: not known */
    const ais_sample_result *result;
} ais_report_run;

/* The table of parameters, the warnings and a verdict, for people. At most rows parameters (0: all),
 * those with the smallest ESS. */
ais_status ais_report_text(ais_context *context, const ais_diagnosis *diagnosis, const ais_report_run *run, int rows,
                           FILE *file);

/* summary.json (docs/formats.md). run may be NULL: only what the draws tell. */
ais_status ais_report_json(ais_context *context, const ais_diagnosis *diagnosis, const ais_report_run *run, FILE *file);

#ifdef __cplusplus
}
#endif
#endif
