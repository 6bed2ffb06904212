/* The numbers and sentences that text and JSON share. */
#ifndef AIS_REPORT_VERDICT_H
#define AIS_REPORT_VERDICT_H

#include <aisampler/report.h>

/* Three significant digits; no exponent where a whole number of up to nine digits does. */
void ais_report_number(double value, char number[32]);

/* The sentence at the end of a report. */
void ais_report_verdict(const ais_diagnosis *diagnosis, char verdict[256]);

/* Worst ESS of all chains per second of sampling, or of training, warm-up and sampling; NAN where
 * the times are unknown. run may be NULL. */
double ais_report_rate(const ais_diagnosis *diagnosis, const ais_report_run *run);
double ais_report_rate_with_training(const ais_diagnosis *diagnosis, const ais_report_run *run);

/* log Z with its *error: from draws and weights together, otherwise from learning; NAN if there is neither. */
double ais_report_log_z(const ais_diagnosis *diagnosis, const ais_report_run *run, double *error);

/* With four decimals, or as many as show where a smaller error begins; never -0. */
void ais_report_log(double value, double error, char number[32]);

/* As the run counted it, otherwise from the draws. */
double ais_report_acceptance(const ais_diagnosis *diagnosis, const ais_report_run *run);

#endif
