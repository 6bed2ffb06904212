/* What is known of draws beyond themselves: by their density, by the kernel that drew them and by its training. */
#include "trainer/verify.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "judge/again.h"
#include "judge/evidence.h"
#include "judge/frontier.h"
#include "judge/reach.h"
#include "judge/tails.h"
#include "learned/latent.h"

typedef struct verification {
    ais_context *context;
    const ais_target *target;
    const ais_draws *draws;
    const ais_verify_options *options;
    ais_diagnosis *diagnosis;
    ais_pool *pool;
    size_t n;
    double deadline; /* of all checks together, by ais_now(); 0: none */
} verification;

static ais_status tell_search(const verification *of) {
    const ais_training *training = of->options->training;
    if (!training) return AIS_OK;
    bool passed = !training->warning[0];
    ais_status status = AIS_OK;
    if (!passed) status = ais_diagnosis_warn(of->context, of->diagnosis, training->warning);
    if (status != AIS_OK || !training->sentence[0]) return status;
    return ais_diagnosis_note(of->context, of->diagnosis, "search", passed, "%s", training->sentence);
}

/* ---- the density, once more ------------------------------------------------------------------------- */

static ais_evaluator evaluator_of(const verification *of, long used) {
    const ais_verify_options *options = of->options;
    long left = options->evaluations > used ? options->evaluations - used : options->evaluations > 0 ? 1 : 0;
    return (ais_evaluator){
        .context = of->context, .target = of->target, .pool = of->pool, .most = left, .deadline = of->deadline};
}

static bool may_ask(const verification *of) {
    return of->target && of->target->logp && of->options->evaluations >= 0 && of->options->seconds >= 0;
}

static ais_status tell_again(const verification *of, const ais_again *again) {
    char sentence[256];
    snprintf(sentence, sizeof sentence,
             "the density is not what it was: of %d draws that were evaluated again %d have another log density (%.6g "
             "became %.6g): it changes over time, or several threads disturb it (--threads 1 or --isolate)",
             again->asked, again->changed, again->before, again->now);
    ais_status status = again->changed ? ais_diagnosis_warn(of->context, of->diagnosis, sentence) : AIS_OK;
    if (status != AIS_OK) return status;
    return ais_diagnosis_note(of->context, of->diagnosis, "the density again", !again->changed,
                              "%d of %d draws that were evaluated again have another log density", again->changed,
                              again->asked);
}

static ais_status check_again(const verification *of, long *densities) {
    ais_again again;
    if (!may_ask(of)) return AIS_OK;
    ais_evaluator evaluator = evaluator_of(of, 0);
    ais_status status = ais_judge_again(of->context, &evaluator, of->draws, &again);
    *densities += evaluator.densities + evaluator.gradients;
    ais_evaluator_free(&evaluator);
    return status == AIS_OK && again.asked ? tell_again(of, &again) : status;
}

/* ---- tails ----------------------------------------------------------------------------------------- */

static ais_status tell_tails(const verification *of, const ais_tails *tails, long evaluations) {
    /* By shares, not by values: x need not be on the scale that people know. */
    const char *name = of->draws->name[tails->coordinate], *end = tails->high ? "highest" : "lowest";
    bool passed = !(tails->z > tails->limit);
    char sentence[256];
    snprintf(sentence, sizeof sentence,
             "a tail ends too early: the %s %.2g%% of the draws of %.60s lie where the density has %.2g%% of the mass "
             "(%.1f standard errors): chains do not get there; transform it, or draw more",
             end, 100 * tails->drawn, name, 100 * tails->expected, tails->z);
    ais_status status = passed ? AIS_OK : ais_diagnosis_warn(of->context, of->diagnosis, sentence);
    if (status != AIS_OK) return status;
    return ais_diagnosis_note(
        of->context, of->diagnosis, "tails", passed,
        "%d continued by %ld evaluations; most is missing where the %s %.2g%% of the draws of %s lie: %.2g%% "
        "+- %.1g%% by the density, z = %.1f, at most %.1f",
        tails->tried, evaluations, end, 100 * tails->drawn, name, 100 * tails->expected, 100 * tails->error, tails->z,
        tails->limit);
}

static ais_status check_tails(const verification *of, long *densities) {
    ais_tails tails;
    if (!may_ask(of)) return AIS_OK;
    ais_evaluator evaluator = evaluator_of(of, *densities);
    ais_status status = ais_judge_tails(of->context, &evaluator, of->draws, &tails);
    *densities += evaluator.densities;
    ais_evaluator_free(&evaluator);
    return status == AIS_OK && tails.tried ? tell_tails(of, &tails, evaluator.densities) : status;
}

/* ---- the kernel's proposals -------------------------------------------------------------------------- */

static ais_status tell_reach(const verification *of, const ais_reach *reach) {
    bool passed = reach->visits >= reach->needed, relieved = ais_is_relieved(of->options->kernel);
    char where[64], sentence[384];
    snprintf(where, sizeof where, relieved ? "nothing (fewer than %d times in the run)" : "least, beside the density",
             AIS_FEW_PROPOSALS);
    snprintf(sentence, sizeof sentence,
             "%.2g%% of the draws lie where the map proposes %s, in %.0f visits of the chains: too few to know what is "
             "there and beyond; transform the parameters, or ask for more effective draws",
             100 * reach->share, where, reach->visits);
    ais_status status = passed ? AIS_OK : ais_diagnosis_warn(of->context, of->diagnosis, sentence);
    if (status != AIS_OK) return status;
    return ais_diagnosis_note(of->context, of->diagnosis, "reach of the map", passed,
                              "%.2g%% +- %.1g%% of the draws lie where it proposes %s: %.0f visits, at least %.0f are "
                              "needed",
                              100 * reach->share, 100 * reach->error, where, reach->visits, ceil(reach->needed));
}

static ais_status check_reach(const verification *of, const double *weight) {
    ais_reach reach;
    ais_status status = ais_judge_reach(of->context, of->options->kernel, of->options->thin, of->draws->chains,
                                        of->draws->draws, weight, &reach);
    return status == AIS_OK ? tell_reach(of, &reach) : status;
}

static ais_status tell_frontier(const verification *of, const ais_frontier *frontier) {
    char sentence[256];
    snprintf(sentence, sizeof sentence,
             "the density continues where the map proposes nothing: local steps led %.0f%% of %d draws there, and at "
             "least %.1f%% of the mass is missing; transform the parameters, or ask for more effective draws",
             100 * frontier->beyond, frontier->walkers, 100 * frontier->missing);
    ais_status status = frontier->passed ? AIS_OK : ais_diagnosis_warn(of->context, of->diagnosis, sentence);
    if (status != AIS_OK) return status;
    return ais_diagnosis_note(of->context, of->diagnosis, "beyond the map", frontier->passed,
                              "local steps from the %.2g%% of the draws where the map proposes least led %.0f%% of %d "
                              "to where it proposes less than at any draw: %.1g%% of the mass, by chance %.2g",
                              100 * frontier->edge, 100 * frontier->beyond, frontier->walkers, 100 * frontier->missing,
                              frontier->chance);
}

static ais_status check_frontier(const verification *of, const double *weight, long *densities) {
    ais_frontier frontier;
    if (!may_ask(of)) return AIS_OK;
    ais_evaluator evaluator = evaluator_of(of, *densities);
    ais_status status = ais_judge_frontier(of->context, &evaluator, of->options->kernel, of->draws, weight, &frontier);
    *densities += evaluator.densities;
    ais_evaluator_free(&evaluator);
    return status == AIS_OK && frontier.walkers ? tell_frontier(of, &frontier) : status;
}

/* By the run's own proposals, which played no part in any choice, rather than those by which learning chose the kernel.
 */
static ais_status tell_log_z(const verification *of, const double *weight) {
    const ais_training *training = of->options->training;
    ais_diagnosis *diagnosis = of->diagnosis;
    ais_evidence evidence;
    if (training) {
        diagnosis->log_z = training->log_z;
        diagnosis->log_z_error = training->log_z_error;
    }
    ais_status status = ais_weigh_evidence(of->context, of->draws, weight, &evidence);
    if (status != AIS_OK || isnan(evidence.log_z)) return status;
    diagnosis->log_z = evidence.log_z;
    diagnosis->log_z_error = evidence.log_error;
    return AIS_OK;
}

ais_status ais_verify_weighed(ais_context *context, const ais_target *target, const ais_draws *draws,
                              const ais_verify_options *options, const double *weight, ais_diagnosis *diagnosis,
                              long *densities) {
    verification of = {.context = context,
                       .target = target,
                       .draws = draws,
                       .options = options,
                       .diagnosis = diagnosis,
                       .deadline = options->seconds > 0 ? ais_now() + options->seconds : 0,
                       .n = (size_t)draws->chains * (size_t)draws->draws};
    double *weighed = NULL;
    long used = 0;
    ais_status status = ais_pool_new(context, options->threads, &of.pool);
    if (status == AIS_OK) status = tell_search(&of);
    if (status == AIS_OK) status = check_again(&of, &used);
    if (status == AIS_OK && options->kernel && !weight) {
        status = ais_weigh_draws(context, of.pool, options->kernel, draws, &weighed);
        weight = weighed;
    }
    if (status == AIS_OK && weight) status = check_reach(&of, weight);
    if (status == AIS_OK && weight) status = check_frontier(&of, weight, &used);
    if (status == AIS_OK) status = check_tails(&of, &used);
    *densities += used;
    if (status == AIS_OK) status = tell_log_z(&of, weight);
    free(weighed);
    ais_pool_free(of.pool);
    return status;
}

ais_status ais_verify(ais_context *context, const ais_target *target, const ais_draws *draws,
                      const ais_verify_options *options, ais_diagnosis *diagnosis, long *densities) {
    return ais_verify_weighed(context, target, draws, options, NULL, diagnosis, densities);
}
