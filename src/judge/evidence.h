/* log Z from the independent proposals that the steps of a run made, with the help of its draws, docs/math.md (45). */
#ifndef AIS_JUDGE_EVIDENCE_H
#define AIS_JUDGE_EVIDENCE_H

#include <aisampler/draws.h>

#include "base/status.h"

typedef struct ais_evidence {
    size_t proposals;        /* that were weighed */
    double log_z, log_error; /* NAN where there are too few of them, or of draws */
} ais_evidence;

/* The draws' column log_weight__ has the proposals. weight: log p - log q of the draws themselves, or NULL if not
 * known: then only proposals are used. */
ais_status ais_weigh_evidence(ais_context *context, const ais_draws *draws, const double *weight,
                              ais_evidence *evidence);

#endif
