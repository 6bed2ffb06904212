#include "report/verdict.h"

#include <math.h>
#include <stdlib.h>

void ais_report_number(double value, char number[32]) {
    snprintf(number, 32, "%.3g", value);
    if (fabs(value) >= 999.5 && fabs(value) < 1e9) snprintf(number, 32, "%.0f", strtod(number, NULL));
}

void ais_report_verdict(const ais_diagnosis *diagnosis, char verdict[256]) {
    char numbers[96] = "", ess[32];
    ais_report_number(diagnosis->worst_ess, ess);
    if (!isnan(diagnosis->worst_ess) && !isnan(diagnosis->worst_rhat))
        snprintf(numbers, sizeof numbers, ", worst ESS %s per chain and R-hat %.3f", ess, diagnosis->worst_rhat);
    if (diagnosis->warnings == 0)
        snprintf(verdict, 256, "trust these draws: no warnings%s", numbers);
    else
        snprintf(verdict, 256, "do not trust these draws: %d warning%s%s", diagnosis->warnings,
                 diagnosis->warnings > 1 ? "s" : "", numbers);
}

static double rate(const ais_diagnosis *diagnosis, double seconds) {
    return seconds > 0 ? diagnosis->worst_ess * diagnosis->chains / seconds : NAN;
}

double ais_report_rate(const ais_diagnosis *diagnosis, const ais_report_run *run) {
    return run && run->result ? rate(diagnosis, run->result->sample_seconds) : NAN;
}

double ais_report_rate_with_training(const ais_diagnosis *diagnosis, const ais_report_run *run) {
    if (!run || !run->result) return NAN;
    return rate(diagnosis, run->train_seconds + run->result->warmup_seconds + run->result->sample_seconds);
}

double ais_report_acceptance(const ais_diagnosis *diagnosis, const ais_report_run *run) {
    return run && run->result && !isnan(run->result->acceptance) ? run->result->acceptance : diagnosis->acceptance;
}

void ais_report_log(double value, double error, char number[32]) {
    enum { USUAL = 4, MOST = 12 };
    int decimals = error > 0 ? (int)fmin(fmax(1 - floor(log10(error)), USUAL), MOST) : USUAL;
    snprintf(number, 32, "%.*f", decimals, fabs(value) < 0.5 * pow(10, -decimals) ? 0 : value);
}

double ais_report_log_z(const ais_diagnosis *diagnosis, const ais_report_run *run, double *error) {
    const ais_training *training = run ? run->training : NULL;
    bool judged = !isnan(diagnosis->log_z) || !training;
    *error = judged ? diagnosis->log_z_error : training->log_z_error;
    return judged ? diagnosis->log_z : training->log_z;
}
