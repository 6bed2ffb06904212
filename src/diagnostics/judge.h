/* What is noted while a run is judged, between the numbers and the sentences about them. */
#ifndef AIS_DIAGNOSTICS_JUDGE_H
#define AIS_DIAGNOSTICS_JUDGE_H

#include <aisampler/diagnostics.h>

#include "diagnostics/column.h"

/* Limits of the verdict. */
#define AIS_Z_LIMIT 5.0

/* The worst of some number over parameters; parameter is -1 while there is none. */
typedef struct ais_worst {
    double value;
    int parameter;
} ais_worst;

typedef struct ais_judge {
    ais_context *context;
    const ais_draws *draws;
    const ais_target *target;       /* or NULL */
    const ais_reference *reference; /* or NULL */
    ais_diagnosis *diagnosis;
    ais_column column;
    ais_worst ess; /* over x_i and x_i^2, all chains */
    ais_worst tail, rhat, z_mean, z_square;
    long not_finite; /* draws; where the first is: */
    int bad_parameter, bad_chain, bad_draw;
    int *mode;    /* chains x draws: of each draw, -1 for a draw that is not finite; NULL without modes */
    long *visits; /* chains x modes */
} ais_judge;

/* A column that describes the sampler, under Stan's name or ArviZ's; NULL if there is none. */
const double *ais_judge_stat(const ais_draws *draws, const char *stan_name, const char *arviz_name);

/* Takes value as a function's bulk ESS over all chains; NAN is passed over. */
void ais_judge_ess(ais_judge *judge, double ess, const char *format, ...) __attribute__((format(printf, 3, 4)));

/* Takes Song and error ESS, per chain, of a function with known moments into the diagnosis' worst; x holds
 * it, chains x draws. Returns Song's, mean over chains. */
double ais_judge_known(ais_judge *judge, const double *x, double mean, double variance);

ais_status ais_judge_modes(ais_judge *judge);
ais_status ais_judge_total_variation(ais_judge *judge);
ais_status ais_judge_warnings(ais_judge *judge);

/* What the verdict rests on, as far as the draws tell. */
ais_status ais_judge_checks(ais_judge *judge);

/* Divergences beyond which a part of the target may be left out: one in a thousand draws. Infinity where most draws are
 * proposals of a map: how many of the trajectories between them diverge says nothing of the answer
 * (docs/notebook/verdict.md). */
double ais_most_divergences(const ais_judge *judge);

#endif
