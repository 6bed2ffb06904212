/* A whole run: every parameter's numbers, and the worst of each. */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/status.h"
#include "diagnostics/judge.h"

#define SONG_CUT 0.05

/* Fewer chains than this say too little about the error of a chain's mean. */
enum { ERROR_CHAINS = 100 };

const double *ais_judge_stat(const ais_draws *draws, const char *stan_name, const char *arviz_name) {
    for (int s = 0; s < draws->stats; s++)
        if (!strcmp(draws->stat_name[s], stan_name) || !strcmp(draws->stat_name[s], arviz_name))
            return draws->stat + (size_t)s * (size_t)draws->chains * (size_t)draws->draws;
    return NULL;
}

/* The smaller one, where NAN is none. */
static double smaller(double a, double b) { return isnan(a) || b < a ? b : a; }

void ais_judge_ess(ais_judge *judge, double ess, const char *format, ...) {
    ais_diagnosis *diagnosis = judge->diagnosis;
    double per_chain = ess / diagnosis->chains;
    if (isnan(per_chain) || !(isnan(diagnosis->worst_ess) || per_chain < diagnosis->worst_ess)) return;
    diagnosis->worst_ess = per_chain;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(diagnosis->worst_ess_function, sizeof diagnosis->worst_ess_function, format, arguments);
    va_end(arguments);
}

double ais_judge_known(ais_judge *judge, const double *x, double mean, double variance) {
    ais_diagnosis *diagnosis = judge->diagnosis;
    int chains = diagnosis->chains, draws = diagnosis->draws;
    double song = 0;
    for (int c = 0; c < chains; c++)
        song += ais_ess_song(x + (size_t)c * (size_t)draws, draws, mean, variance, SONG_CUT) / chains;
    diagnosis->worst_ess_song = smaller(diagnosis->worst_ess_song, song);
    if (chains >= ERROR_CHAINS)
        diagnosis->worst_ess_error =
            smaller(diagnosis->worst_ess_error, ais_ess_error(x, chains, draws, mean, variance));
    return song;
}

static void keep_worst(ais_worst *worst, double value, bool worse_is_larger, int parameter) {
    if (isnan(value)) return;
    bool worse = worse_is_larger ? value > worst->value : value < worst->value;
    if (worst->parameter < 0 || worse) *worst = (ais_worst){value, parameter};
}

/* The sampling error of the mean of x, whose ESS is computed here: it is not rank-normalised. */
static double mean_error(ais_column *column, const double *x) {
    if (column->draws < 4 || !ais_column_usable(x, column->n)) return NAN;
    ais_column_split(column, x, column->split);
    return sqrt(ais_variance(x, column->n) / ais_column_ess(column, column->split));
}

static void note_not_finite(ais_judge *judge, const double *x, int parameter) {
    for (size_t k = 0; k < judge->column.n; k++) {
        if (isfinite(x[k])) continue;
        if (judge->not_finite++ > 0) continue;
        judge->bad_parameter = parameter;
        judge->bad_chain = (int)(k / (size_t)judge->column.draws);
        judge->bad_draw = (int)(k % (size_t)judge->column.draws);
    }
}

static bool known(const double *mean, const double *variance, int i) {
    return mean && variance && isfinite(mean[i]) && variance[i] > 0;
}

/* The standard error of a difference, x being the draws, mcse their own error and variance the truth's: draws that have
 * not met the largest values of a heavy tail yet (a funnel's x^2) take themselves for more precise than they are. To it
 * comes that of a truth which was estimated. */
static double joint_error(const ais_reference *truth, const ais_column *column, const double *x, double mcse,
                          double variance) {
    double widened = mcse * sqrt(fmax(1, variance / ais_variance(x, column->n)));
    return truth->size > 0 ? sqrt(widened * widened + variance / truth->size) : widened;
}

/* Numbers that compare x_i and x_i^2 (in column.function) with the truth. */
static void compare_with_truth(ais_judge *judge, int i, const double *x) {
    const ais_reference *truth = judge->reference;
    ais_parameter_summary *p = &judge->diagnosis->parameter[i];
    ais_column *column = &judge->column;
    if (known(truth->mean, truth->variance, i)) {
        p->ess_song = ais_judge_known(judge, x, truth->mean[i], truth->variance[i]);
        p->z_mean = (p->mean - truth->mean[i]) / joint_error(truth, column, x, p->mcse, truth->variance[i]);
        judge->diagnosis->mean_ess_song = smaller(judge->diagnosis->mean_ess_song, p->ess_song);
    }
    if (known(truth->square_mean, truth->square_variance, i)) {
        const double *square = column->function;
        p->ess_song_square = ais_judge_known(judge, square, truth->square_mean[i], truth->square_variance[i]);
        double error = joint_error(truth, column, square, mean_error(column, square), truth->square_variance[i]);
        p->z_square = (ais_mean(square, column->n) - truth->square_mean[i]) / error;
    }
    keep_worst(&judge->z_mean, fabs(p->z_mean), true, i);
    keep_worst(&judge->z_square, fabs(p->z_square), true, i);
}

/* All numbers are not known; or, of a column x, those that are computed from it alone. */
static void set_numbers(ais_parameter_summary *p, const double *x, const ais_column *column) {
    const ais_summary_number *number;
    for (int k = 0; (number = ais_summary_builtin(k)); k++) {
        if (x && !number->compute) continue;
        double value = x ? number->compute(x, column->chains, column->draws) : NAN;
        memcpy((char *)p + number->offset, &value, sizeof value);
    }
}

static void judge_parameter(ais_judge *judge, int i) {
    ais_column *column = &judge->column;
    const double *x = judge->draws->value + (size_t)i * column->n;
    ais_parameter_summary *p = &judge->diagnosis->parameter[i];
    *p = (ais_parameter_summary){.name = judge->draws->name[i]};
    set_numbers(p, NULL, column);
    long before = judge->not_finite;
    note_not_finite(judge, x, i);
    if (judge->not_finite > before) return;
    p->mean = ais_mean(x, column->n);
    p->sd = sqrt(ais_variance(x, column->n));
    ais_column_sort(column, x);
    p->q5 = ais_sorted_quantile(column->sorted, column->n, 0.05);
    p->q50 = ais_sorted_quantile(column->sorted, column->n, 0.50);
    p->q95 = ais_sorted_quantile(column->sorted, column->n, 0.95);
    if (!ais_column_usable(x, column->n)) return; /* a constant, as Stan's correlation matrices have on the diagonal */
    set_numbers(p, x, column);
    for (size_t k = 0; k < column->n; k++) column->function[k] = x[k] * x[k];
    if (column->draws >= 4) {
        double low = ais_column_ess_quantile(column, x, 0.05), high = ais_column_ess_quantile(column, x, 0.95);
        p->ess_tail = low < high ? low : high;
        p->ess_bulk = ais_column_bulk_sorted(column, x, &p->rhat);
        if (ais_column_usable(column->function, column->n)) p->ess_square = ais_column_bulk_square(column);
        p->mcse = mean_error(column, x);
    }
    if (judge->reference) compare_with_truth(judge, i, x);
    ais_judge_ess(judge, p->ess_bulk, "%.60s", p->name);
    ais_judge_ess(judge, p->ess_square, "%.60s^2", p->name);
    keep_worst(&judge->ess, p->ess_bulk, false, i);
    keep_worst(&judge->ess, p->ess_square, false, i);
    keep_worst(&judge->tail, p->ess_tail, false, i);
    keep_worst(&judge->rhat, p->rhat, true, i);
}

/* Where some steps are proposals, which have no momenta, over the trajectories. */
static void find_ebfmi(ais_judge *judge, const double *energy) {
    const ais_draws *draws = judge->draws;
    const double *proposed = ais_judge_stat(draws, ais_info_name[AIS_INFO_LOG_WEIGHT], "log_weight");
    const double *leapfrogs = ais_judge_stat(draws, "n_leapfrog__", "n_steps");
    size_t n = (size_t)draws->draws, moved = 0;
    for (size_t k = 0; proposed && leapfrogs && k < judge->column.n; k++) moved += leapfrogs[k] > 0;
    bool mixed = moved && moved < judge->column.n;
    for (size_t c = 0; c < (size_t)draws->chains; c++) {
        const double *own = energy + c * n;
        size_t steps = mixed ? 0 : n;
        for (size_t k = c * n; mixed && k < (c + 1) * n; k++)
            if (leapfrogs[k] > 0) judge->column.split[steps++] = energy[k];
        if (mixed) own = judge->column.split;
        judge->diagnosis->lowest_ebfmi = smaller(judge->diagnosis->lowest_ebfmi, ais_ebfmi(own, (int)steps));
    }
}

static void judge_sampler(ais_judge *judge) {
    const ais_draws *draws = judge->draws;
    ais_diagnosis *diagnosis = judge->diagnosis;
    const double *accept = ais_judge_stat(draws, "accept_stat__", "acceptance_rate");
    const double *energy = ais_judge_stat(draws, "energy__", "energy");
    const double *divergent = ais_judge_stat(draws, "divergent__", "diverging");
    if (accept) diagnosis->acceptance = ais_mean(accept, judge->column.n);
    if (energy) find_ebfmi(judge, energy);
    for (size_t k = 0; divergent && k < judge->column.n; k++) diagnosis->divergences += divergent[k] != 0;
    const double *leapfrogs = ais_judge_stat(draws, "n_leapfrog__", "n_steps");
    for (size_t k = 0; leapfrogs && k < judge->column.n; k++) diagnosis->trajectories += leapfrogs[k] > 0;
    const double *trip = ais_judge_stat(draws, "ladder_trip__", "ladder_trip");
    const double *rejection = ais_judge_stat(draws, "swap_rejection__", "swap_rejection");
    if (trip) diagnosis->round_trips = ais_sum(trip, judge->column.n);
    if (rejection) diagnosis->barrier = 2 * ais_mean(rejection, judge->column.n); /* every second pair at a step */
}

static ais_status judge_all(ais_judge *judge) {
    ais_diagnosis *diagnosis = judge->diagnosis;
    for (int i = 0; i < diagnosis->dim; i++) judge_parameter(judge, i);
    if (judge->rhat.parameter >= 0) diagnosis->worst_rhat = judge->rhat.value;
    if (judge->ess.parameter >= 0)
        ais_cross_chain_correlation(judge->draws->value + (size_t)judge->ess.parameter * judge->column.n,
                                    diagnosis->chains, diagnosis->draws, &diagnosis->cross_chain_mean,
                                    &diagnosis->cross_chain_largest);
    judge_sampler(judge);
    ais_status status = AIS_OK;
    if (judge->reference && judge->reference->modes > 0) status = ais_judge_modes(judge);
    if (status == AIS_OK && judge->target && judge->target->dim == 2 && !judge->target->draws)
        status = ais_judge_total_variation(judge);
    if (status == AIS_OK) status = ais_judge_warnings(judge);
    return status == AIS_OK ? ais_judge_checks(judge) : status;
}

static ais_status check(ais_context *context, const ais_draws *draws, const ais_target *target) {
    if (draws->dim < 1 || draws->chains < 1 || draws->draws < 1)
        return ais_fail(context, AIS_BAD_ARGUMENT,
                        "there are %d parameters, %d chains and %d draws per chain: diagnostics need 1 or more of each",
                        draws->dim, draws->chains, draws->draws);
    if (target && ais_target_shown(target) != draws->dim)
        return ais_fail(context, AIS_BAD_ARGUMENT,
                        "the draws have %d parameters, but target %s has %d: name the target they were made for",
                        draws->dim, target->name, ais_target_shown(target));
    return AIS_OK;
}

ais_status ais_diagnose(ais_context *context, const ais_draws *draws, const ais_target *target,
                        ais_diagnosis **diagnosis_out) {
    ais_status status = check(context, draws, target);
    if (status != AIS_OK) return status;
    if (target && target->view) target = NULL; /* what is known of x says nothing of what is shown of it */
    ais_diagnosis *diagnosis = calloc(1, sizeof *diagnosis);
    ais_parameter_summary *parameter = calloc((size_t)draws->dim, sizeof *parameter);
    ais_judge judge = {.context = context, .draws = draws, .target = target, .diagnosis = diagnosis};
    judge.reference = target ? target->reference : NULL;
    judge.ess.parameter = judge.tail.parameter = judge.rhat.parameter = -1;
    judge.z_mean.parameter = judge.z_square.parameter = -1;
    if (!diagnosis || !parameter || !ais_column_init(&judge.column, draws->chains, draws->draws)) {
        free(diagnosis);
        free(parameter);
        return ais_fail_memory(context, "diagnostics",
                               (size_t)draws->chains * (size_t)draws->draws * 8 * sizeof(double));
    }
    *diagnosis = (ais_diagnosis){.dim = draws->dim, .chains = draws->chains, .draws = draws->draws};
    diagnosis->parameter = parameter;
    diagnosis->worst_ess = diagnosis->worst_ess_song = diagnosis->worst_ess_error = diagnosis->mean_ess_song = NAN;
    diagnosis->worst_rhat = diagnosis->cross_chain_mean = diagnosis->cross_chain_largest = NAN;
    diagnosis->mode_kl = diagnosis->total_variation = diagnosis->acceptance = diagnosis->lowest_ebfmi = NAN;
    diagnosis->round_trips = diagnosis->barrier = diagnosis->log_z = diagnosis->log_z_error = NAN;
    status = judge_all(&judge);
    free(judge.mode);
    free(judge.visits);
    ais_column_free(&judge.column);
    if (status != AIS_OK) {
        ais_diagnosis_free(diagnosis);
        return status;
    }
    *diagnosis_out = diagnosis;
    return AIS_OK;
}

void ais_diagnosis_free(ais_diagnosis *diagnosis) {
    if (!diagnosis) return;
    free(diagnosis->parameter);
    free(diagnosis->mode_share);
    free(diagnosis->warning);
    free(diagnosis->check);
    free(diagnosis);
}
