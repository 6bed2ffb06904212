#include "judge/evidence.h"

#include <math.h>
#include <stdlib.h>

#include "diagnostics/judge.h"

/* c of (45) in units of Z. The larger it is, the more proposals say and the less the draws, which follow one another
 * and where there is no other step come from the same proposals. docs/results/calibration.md has others. */
static const double limit = 20;
static const double near = 1e-7; /* of log Z, from its value at the previous turn */

typedef struct means {
    double proposals, draws;
} means;

/* w / (1 + w / c) and 1 / (1 + w / c), in units of Z. */
static double of_proposal(double log_w, double c) { return 1 / (exp(-log_w) + 1 / c); }
static double of_draw(double log_w, double c) { return 1 / (1 + exp(log_w) / c); }

/* log Z of the proposals alone, as the starting value. */
static ais_evidence count_proposals(size_t n, const double *log_weight) {
    double top = -INFINITY, sum = 0;
    ais_evidence of = {.log_z = -INFINITY, .log_error = NAN};
    for (size_t k = 0; k < n; k++) {
        if (isnan(log_weight[k])) continue;
        top = fmax(top, log_weight[k]);
        of.proposals++;
    }
    for (size_t k = 0; k < n && top > -INFINITY; k++)
        if (!isnan(log_weight[k])) sum += exp(log_weight[k] - top);
    if (sum > 0) of.log_z = top + log(sum / (double)of.proposals);
    return of;
}

static means means_of(size_t n, const double *log_weight, const double *weight, const ais_evidence *at, double c) {
    means of = {0, weight ? 0 : 1};
    for (size_t k = 0; k < n; k++) {
        if (!isnan(log_weight[k])) of.proposals += of_proposal(log_weight[k] - at->log_z, c) / (double)at->proposals;
        if (weight) of.draws += of_draw(weight[k] - at->log_z, c) / (double)n;
    }
    return of;
}

/* What too few proposals may have missed: beyond the largest weight of m lies 1 / (m (1 - k)) of it in the mean,
 * if the tail is Pareto's with shape k. k = 1/2 is as heavy as a standard error can stand. */
static double unmet(size_t n, const double *log_weight, const ais_evidence *at) {
    static const double k = 0.5;
    double top = 0;
    for (size_t t = 0; t < n; t++)
        if (!isnan(log_weight[t])) top = fmax(top, log_weight[t] - at->log_z);
    return expm1(top) / ((double)at->proposals * (1 - k));
}

/* Of the mean of a series along the chains; not by ais_mcse_mean, which does not report that memory is out. */
static ais_status mean_error(ais_context *context, const ais_draws *draws, const double *part, double *error) {
    size_t n = (size_t)draws->chains * (size_t)draws->draws;
    ais_column column;
    *error = NAN;
    if (draws->draws < 4) return AIS_OK;
    if (!ais_column_init(&column, draws->chains, draws->draws))
        return ais_fail_memory(context, "weights of proposals", n * sizeof *part);
    ais_column_split(&column, part, column.split);
    double variance = ais_variance(part, n);
    *error = variance > 0 ? sqrt(variance / ais_column_ess(&column, column.split)) : 0;
    ais_column_free(&column);
    return AIS_OK;
}

/* What every step adds to log Z in the first order: a proposal and the draw that may have come from it are correlated,
 * and the error of their difference is that of a mean along chains. */
static ais_status find_error(ais_context *context, const ais_draws *draws, const double *log_weight,
                             const double *weight, double c, ais_evidence *at) {
    size_t n = (size_t)draws->chains * (size_t)draws->draws;
    means of = means_of(n, log_weight, weight, at, c);
    double *part = malloc(n * sizeof *part), often = (double)n / (double)at->proposals;
    if (!part) return ais_fail_memory(context, "weights of proposals", n * sizeof *part);
    for (size_t k = 0; k < n; k++) {
        part[k] = isnan(log_weight[k]) ? 0 : often * (of_proposal(log_weight[k] - at->log_z, c) / of.proposals - 1);
        if (weight) part[k] -= of_draw(weight[k] - at->log_z, c) / of.draws - 1;
    }
    double error;
    ais_status status = mean_error(context, draws, part, &error);
    /* A mass of one over their number is what proposals may have missed altogether. */
    at->log_error = hypot(hypot(error, 1 / (double)at->proposals), unmet(n, log_weight, at));
    free(part);
    return status;
}

ais_status ais_weigh_evidence(ais_context *context, const ais_draws *draws, const double *weight,
                              ais_evidence *evidence) {
    enum { FEW = 100, TURNS = 20 };
    size_t n = (size_t)draws->chains * (size_t)draws->draws;
    const double *log_weight = ais_judge_stat(draws, ais_info_name[AIS_INFO_LOG_WEIGHT], "log_weight");
    ais_evidence at = log_weight ? count_proposals(n, log_weight) : (ais_evidence){0};
    *evidence = (ais_evidence){at.proposals, NAN, NAN};
    if (at.proposals < FEW || !(at.log_z > -INFINITY)) return AIS_OK;
    double c = weight ? limit : INFINITY;
    /* (45) holds for any c, so that it matters little how near c comes to its multiple of Z. */
    double moved = weight ? INFINITY : 0;
    for (int turn = 0; turn < TURNS && fabs(moved) > near; turn++) {
        means of = means_of(n, log_weight, weight, &at, c);
        if (!(of.proposals > 0 && of.draws > 0)) return AIS_OK;
        at.log_z += moved = log(of.proposals / of.draws);
    }
    ais_status status = find_error(context, draws, log_weight, weight, c, &at);
    if (status == AIS_OK && !isnan(at.log_error)) *evidence = at;
    return status;
}
