/* Working room for one quantity of chains x draws values, and the pieces its numbers are made of.
 *
 * Split chains: every chain is cut into two halves, the middle draw of an odd number being left
 * out, so a split column is 2 chains x half values, split[h * half + t]. The functions below that
 * take a split column look at nothing else. */
#ifndef AIS_DIAGNOSTICS_COLUMN_H
#define AIS_DIAGNOSTICS_COLUMN_H

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "diagnostics/fft.h"
#include "diagnostics/order.h"

typedef struct ais_column {
    int chains, draws, half;
    size_t n;                   /* chains x draws */
    size_t split_n;             /* 2 chains x half */
    double *split, *other;      /* split_n each: for the caller of the functions below */
    double *function;           /* n: x^2 and the like */
    double *sorted;             /* n, see ais_column_sort */
    double *score;              /* split_n: the normal score of rank r + 1 */
    ais_ordered *order, *spare; /* n each */
    double *lag;                /* half: mean autocovariance, then autocorrelation, as far as it is wanted */
    double *centred;            /* split_n: half chains less their means */
    double *re, *im;            /* of one half chain */
    double *power;              /* of all of them */
    ais_fft fft;
    ais_arena arena;
} ais_column;

/* False when memory is out. Wants 4 draws or more. */
bool ais_column_init(ais_column *column, int chains, int draws);
void ais_column_free(ais_column *column);

/* True when every value is finite and not all are equal: only then do the other numbers exist. */
bool ais_column_usable(const double *x, size_t n);

/* x (chains x draws) sorted into column->sorted; column->order has the order. */
void ais_column_sort(ais_column *column, const double *x);

void ais_column_split(const ais_column *column, const double *x, double *split);

/* split[i] = 1 if x <= bound, else 0, split. */
void ais_column_split_below(const ais_column *column, const double *x, double bound, double *split);

/* Normal scores of the pooled ranks, ties sharing their mean rank: Phi^-1((r - 3/8) / (n + 1/4)). column->order has the
 * order of the split column afterwards. */
void ais_column_normalise(ais_column *column, const double *split, double *scores);

/* The same where column->order is that of the split column already. */
void ais_column_score(const ais_column *column, double *scores);

/* Of |x - median|, and of x^2, where column->order is that of the split column and stays so: both follow from
 * it without sorting again. */
void ais_column_normalise_folded(ais_column *column, const double *split, double *scores);
void ais_column_normalise_square(ais_column *column, const double *split, double *scores);

/* ESS over all chains of the mean of the split column, by Geyer's initial monotone sequence. A
 * constant column counts as independent draws, as ArviZ has it: indicators of a quantile need it. */
double ais_column_ess(ais_column *column, const double *split);

/* The same when values that differ by no more than tolerance count as equal. */
double ais_column_ess_tolerant(ais_column *column, const double *split, double tolerance);

double ais_column_rhat(const ais_column *column, const double *split);

/* ESS of (x - mean)^2, the sd's. Uses function and split. */
double ais_column_ess_sd(ais_column *column, const double *x);

/* The bulk ESS and R-hat of x in one go (rhat may be NULL). With one chain R-hat compares its halves.
 * Uses split and other. */
double ais_column_bulk(ais_column *column, const double *x, double *rhat);

/* The same right after ais_column_sort of x. */
double ais_column_bulk_sorted(ais_column *column, const double *x, double *rhat);

/* The bulk ESS of x^2, right after that of x. Uses other. */
double ais_column_bulk_square(ais_column *column);

/* ESS of the indicator of x being below its own quantile. column->sorted holds x sorted. */
double ais_column_ess_quantile(ais_column *column, const double *x, double probability);

/* sorted[0..n) at a probability, in the two roundings that others use: numpy's, and that of R's type
 * 7 in SciPy's mquantiles, which decides on which side of a quantile tied values fall. */
double ais_sorted_quantile(const double *sorted, size_t n, double probability);
double ais_sorted_quantile_weighted(const double *sorted, size_t n, double probability);

/* The sum in blocks: its rounding error does not grow with n. */
double ais_sum(const double *x, size_t n);

#endif
