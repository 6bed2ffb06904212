/* What a verdict rests on: the checks that the draws alone allow, each with its number and its limit. */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/status.h"
#include "diagnostics/judge.h"

ais_status ais_diagnosis_note(ais_context *context, ais_diagnosis *diagnosis, const char *name, bool passed,
                              const char *format, ...) {
    size_t count = (size_t)diagnosis->checks + 1;
    ais_diagnosis_check *grown = realloc(diagnosis->check, count * sizeof *grown);
    if (!grown) return ais_fail_memory(context, "checks", count * sizeof *grown);
    diagnosis->check = grown;
    ais_diagnosis_check *made = &grown[diagnosis->checks++];
    made->passed = passed;
    snprintf(made->name, sizeof made->name, "%s", name);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(made->text, sizeof made->text, format, arguments);
    va_end(arguments);
    return AIS_OK;
}

double ais_most_divergences(const ais_judge *judge) {
    double draws = (double)judge->column.n, trajectories = (double)judge->diagnosis->trajectories;
    return trajectories > 0 && trajectories < 0.5 * draws ? INFINITY : draws / 1000;
}

static ais_status note_chains(ais_judge *judge) {
    ais_diagnosis *d = judge->diagnosis;
    if (judge->rhat.parameter < 0) return AIS_OK;
    return ais_diagnosis_note(judge->context, d, "chains agree", !(d->worst_rhat > AIS_MOST_RHAT),
                              "largest R-hat %.4f of %d %s, at most %.2f", d->worst_rhat, d->chains,
                              d->chains > 1 ? "chains" : "chain (its halves)", AIS_MOST_RHAT);
}

static ais_status note_draws(ais_judge *judge) {
    ais_diagnosis *d = judge->diagnosis;
    double tail = judge->tail.parameter < 0 ? NAN : judge->tail.value / d->chains;
    if (isnan(d->worst_ess)) return AIS_OK;
    return ais_diagnosis_note(judge->context, d, "effective draws",
                              d->worst_ess >= AIS_LEAST_ESS && !(tail < AIS_LEAST_ESS),
                              "worst ESS %.0f per chain (%s), smallest tail ESS %.0f; at least %d", d->worst_ess,
                              d->worst_ess_function, tail, AIS_LEAST_ESS);
}

static ais_status note_trajectories(ais_judge *judge) {
    ais_diagnosis *d = judge->diagnosis;
    double most = ais_most_divergences(judge);
    if (!d->trajectories || isinf(most)) return AIS_OK;
    return ais_diagnosis_note(judge->context, d, "trajectories", !((double)d->divergences > most),
                              "%ld of %ld diverged, at most %.0f", d->divergences, d->trajectories, floor(most));
}

static ais_status note_trips(ais_judge *judge) {
    ais_diagnosis *d = judge->diagnosis;
    if (isnan(d->round_trips)) return AIS_OK;
    return ais_diagnosis_note(judge->context, d, "round trips", !(d->round_trips < AIS_LEAST_TRIPS),
                              "%.0f of the ladder's replicas, at least %d", d->round_trips, AIS_LEAST_TRIPS);
}

static ais_status note_truth(ais_judge *judge) {
    double z = fmax(judge->z_mean.parameter < 0 ? 0 : judge->z_mean.value,
                    judge->z_square.parameter < 0 ? 0 : judge->z_square.value);
    if (judge->z_mean.parameter < 0 && judge->z_square.parameter < 0) return AIS_OK;
    return ais_diagnosis_note(judge->context, judge->diagnosis, "known moments", !(z > AIS_Z_LIMIT),
                              "largest error %.2g of its standard errors, at most %.0f", z, AIS_Z_LIMIT);
}

ais_status ais_judge_checks(ais_judge *judge) {
    static ais_status (*const note[])(ais_judge *) = {note_chains, note_draws, note_trajectories, note_trips,
                                                      note_truth};
    ais_status status = AIS_OK;
    for (size_t i = 0; i < sizeof note / sizeof *note && status == AIS_OK; i++) status = note[i](judge);
    return status;
}
