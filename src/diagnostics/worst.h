/* The worst ESS, column by column, for those who keep their columns apart or share them out over threads. */
#ifndef AIS_DIAGNOSTICS_WORST_H
#define AIS_DIAGNOSTICS_WORST_H

#include "base/status.h"
#include "diagnostics/column.h"

/* The smaller bulk ESS of x and x^2 over all chains (x: chains x draws). 0 where there is none: a coordinate that never
 * changes, or is not finite, has given nothing. Uses all of the column's room but sorted. */
double ais_column_worst(ais_column *column, const double *x);

/* The tail ESS of x, in the same way. Uses all of the column's room. */
double ais_column_tail(ais_column *column, const double *x);

/* How far below its limit R-hat of x lies: what it may exceed 1 by over what it does, infinity for a constant. It grows
 * as the draws do. Uses split and other. */
double ais_column_agreement(ais_column *column, const double *x);

/* ais_worst_ess, which cannot tell that memory ran out: with it a kernel would be taken for worthless. */
ais_status ais_find_worst_ess(ais_context *context, int dim, int chains, int draws, const double *x, double *worst);

#endif
