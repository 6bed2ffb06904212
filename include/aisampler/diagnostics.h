/* diagnostics.h: how good draws are, of any sampler.
 *
 * The first half works on plain arrays: x holds one quantity, x[c * draws + t] for chain c and
 * draw t. A number that cannot be computed (too few draws, a constant or non-finite quantity, no
 * memory) is NAN. ESS counts are over all chains together unless said otherwise. Definitions and
 * references: docs/diagnostics.md.
 */
#ifndef AISAMPLER_DIAGNOSTICS_H
#define AISAMPLER_DIAGNOSTICS_H

#include "draws.h"
#include "target.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- one quantity ---------------------------------------------------------------------------- */

/* Rank-normalised, split chains, Geyer's initial monotone sequence (Vehtari et al. 2021). */
double ais_ess_bulk(const double *x, int chains, int draws);
double ais_ess_tail(const double *x, int chains, int draws); /* smaller of the 5% and 95% quantile's */
double ais_ess_mean(const double *x, int chains, int draws);
double ais_ess_sd(const double *x, int chains, int draws);
double ais_ess_quantile(const double *x, int chains, int draws, double probability);

double ais_rhat_split(const double *x, int chains, int draws);  /* split, not rank-normalised */
double ais_rhat_bulk(const double *x, int chains, int draws);   /* split, rank-normalised */
double ais_rhat_folded(const double *x, int chains, int draws); /* of |x - median|, rank-normalised */
double ais_rhat(const double *x, int chains, int draws);        /* the larger of bulk and folded */

double ais_mcse_mean(const double *x, int chains, int draws);
double ais_mcse_sd(const double *x, int chains, int draws);
double ais_mcse_quantile(const double *x, int chains, int draws, double probability);

double ais_mean(const double *x, size_t n);
double ais_variance(const double *x, size_t n);                     /* divides by n - 1 */
double ais_quantile(const double *x, size_t n, double probability); /* numpy's default, linear */

/* Autocovariance of one chain at lags 0..draws-1 (divides by draws), by FFT. */
ais_status ais_autocovariance(ais_context *context, const double *x, int draws, double *autocovariance);

/* Song, Zhao and Ermon's ESS of one chain with the true mean and variance: autocorrelations are
 * summed until the first one below cut (the paper: 0.05). It can mislead: never report it alone. */
double ais_ess_song(const double *x, int draws, double mean, double variance, double cut);

/* The most reliable measure where the truth is known, per chain: variance over the mean of (chain mean - truth)^2.
 * Needs 100 chains or more. */
double ais_ess_error(const double *x, int chains, int draws, double mean, double variance);

/* The worst ESS, the program's measure of efficiency: the smallest bulk ESS over x_i and x_i^2, all chains together. x
 * is dim x chains x draws, as ais_draws.value. 0 when a coordinate never changes or is not finite; NAN below 4 draws.
 * Where a target's modes are known ais_diagnose counts their indicators as well. */
double ais_worst_ess(int dim, int chains, int draws, const double *x);

/* Energy Bayesian fraction of missing information of one chain. */
double ais_ebfmi(const double *energy, int draws);

/* The mean and largest absolute Pearson correlation between two different chains; of more than AIS_MOST_COMPARED
 * chains, that many evenly spaced ones are compared. */
enum { AIS_MOST_COMPARED = 1024 };
void ais_cross_chain_correlation(const double *x, int chains, int draws, double *mean, double *largest);

/* ---- two coordinates, modes -------------------------------------------------------------------- */

/* A rectangular grid of nx x ny cells; value[iy * nx + ix] is the value at a cell's centre. */
typedef struct ais_grid {
    double x_low, x_high, y_low, y_high;
    int nx, ny;
} ais_grid;

/* Gaussian kernel density at the cell centres. Bandwidths: Scott's rule when 0. */
ais_status ais_kde(ais_context *context, const double *x, const double *y, size_t n, const ais_grid *grid,
                   double bandwidth_x, double bandwidth_y, double *density);

/* Total variation between the draws' histogram on the grid (the outside is one more cell) and the
 * two-dimensional target, whose mass in a cell is computed by quadrature. */
ais_status ais_total_variation(ais_context *context, const double *x, const double *y, size_t n,
                               const ais_target *target, const ais_grid *grid, double *distance);

/* sum_k w_k log(w_k / estimate_k), the share of draws in each mode being the estimate; +INFINITY if a mode was never
 * visited. */
double ais_mode_kl(const double *weight, const double *share, int modes);

/* ---- a whole run ------------------------------------------------------------------------------- */

typedef struct ais_parameter_summary {
    const char *name; /* owned by the draws */
    double mean, sd, mcse, q5, q50, q95;
    double ess_bulk, ess_tail, rhat;
    double ess_square;                /* bulk ESS of x^2 */
    double ess_song, ess_song_square; /* per chain, mean over chains; NAN where the truth is unknown */
    double z_mean, z_square;          /* (estimate - truth) / mcse; NAN where the truth is unknown */
    double mcse_sd;                   /* Monte Carlo standard error of sd */
} ais_parameter_summary;

/* The table of its numbers, in the order of files: entry i, or NULL past the end. */
typedef struct ais_summary_number {
    const char *name;
    size_t offset; /* in ais_parameter_summary */
    /* Of a column that is finite and not constant; NULL for what is computed with others, or from the truth. */
    double (*compute)(const double *x, int chains, int draws);
} ais_summary_number;
const ais_summary_number *ais_summary_builtin(int i);
double ais_summary_value(const ais_parameter_summary *parameter, const ais_summary_number *number);

/* A check behind the verdict, with its numbers, and whether it passed. */
typedef struct ais_diagnosis_check {
    char name[32];
    bool passed;
    char text[512];
} ais_diagnosis_check;

typedef struct ais_diagnosis {
    int dim, chains, draws;
    ais_parameter_summary *parameter;       /* dim */
    double worst_ess;                       /* bulk, per chain, over x_i, x_i^2 and mode indicators */
    char worst_ess_function[64];            /* e.g. "x.1", "x.1^2", "mode 3" */
    double worst_ess_song, worst_ess_error; /* per chain; NAN where the truth is unknown */
    double mean_ess_song;                   /* the paper's: smallest over x_i only */
    double worst_rhat;
    double cross_chain_mean, cross_chain_largest; /* of the worst parameter */
    int modes;
    double *mode_share;        /* modes, or NULL */
    double mode_kl;            /* NAN without mode indicators */
    int fewest_modes;          /* that one chain visited */
    double total_variation;    /* 2D targets only, else NAN */
    double acceptance;         /* NAN without accept_stat__ */
    double lowest_ebfmi;       /* NAN without energy__ */
    long divergences;          /* 0 without divergent__ */
    long trajectories;         /* draws that a trajectory led to, not a proposal of a map; 0 without n_leapfrog__ */
    double round_trips;        /* of a ladder's replicas, all chains; NAN without ladder_trip__ */
    double barrier;            /* of a ladder: the sum of its swaps' rejection rates; NAN without swap_rejection__ */
    double log_z, log_z_error; /* of the density, if the kernel gives it (ais_verify); else NAN */
    int warnings;
    char (*warning)[256]; /* one sentence each: what is wrong, and what to do */
    int checks;
    ais_diagnosis_check *check; /* in the order in which they were made */
} ais_diagnosis;

/* Limits of the verdict: bulk and tail ESS per chain; round trips of a ladder, all chains together; R-hat; E-BFMI. */
enum { AIS_LEAST_ESS = 100, AIS_LEAST_TRIPS = 100 };
#define AIS_MOST_RHAT   1.01
#define AIS_LEAST_EBFMI 0.3

/* Diagnoses draws; target, if known, adds modes and truth (NULL otherwise). Trust the draws if there is no warning. */
ais_status ais_diagnose(ais_context *context, const ais_draws *draws, const ais_target *target,
                        ais_diagnosis **diagnosis);
void ais_diagnosis_free(ais_diagnosis *diagnosis); /* NULL is allowed */

/* Adds a warning of the caller's own (cut at 255 bytes), so that the verdict in text and JSON counts it. */
ais_status ais_diagnosis_warn(ais_context *context, ais_diagnosis *diagnosis, const char *sentence);

/* Adds a check to those behind the verdict. One that did not pass should come with a warning. */
ais_status ais_diagnosis_note(ais_context *context, ais_diagnosis *diagnosis, const char *name, bool passed,
                              const char *format, ...) __attribute__((format(printf, 5, 6)));

#ifdef __cplusplus
}
#endif
#endif
