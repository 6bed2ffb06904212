#include "diagnostics/worst.h"

#include <math.h>

#include <aisampler/diagnostics.h>

double ais_column_worst(ais_column *column, const double *x) {
    if (!ais_column_usable(x, column->n)) return 0;
    double ess = ais_column_bulk(column, x, NULL);
    for (size_t k = 0; k < column->n; k++) column->function[k] = x[k] * x[k];
    double square = ais_column_usable(column->function, column->n) ? ais_column_bulk_square(column) : 0;
    double worst = square < ess ? square : ess;
    return worst > 0 ? worst : 0;
}

double ais_column_tail(ais_column *column, const double *x) {
    if (!ais_column_usable(x, column->n)) return 0;
    ais_column_sort(column, x);
    double low = ais_column_ess_quantile(column, x, 0.05), high = ais_column_ess_quantile(column, x, 0.95);
    double ess = low < high ? low : high;
    return ess > 0 ? ess : 0;
}

double ais_column_agreement(ais_column *column, const double *x) {
    if (!ais_column_usable(x, column->n)) return INFINITY;
    double rhat;
    ais_column_bulk(column, x, &rhat);
    return rhat > 1 ? (AIS_MOST_RHAT - 1) / (rhat - 1) : INFINITY;
}

ais_status ais_find_worst_ess(ais_context *context, int dim, int chains, int draws, const double *x, double *worst) {
    ais_column column;
    *worst = NAN;
    if (dim < 1 || chains < 1 || draws < 4) return AIS_OK;
    if (!ais_column_init(&column, chains, draws))
        return ais_fail_memory(context, "the worst ESS", (size_t)chains * (size_t)draws * sizeof *x);
    *worst = INFINITY;
    for (int i = 0; i < dim; i++) *worst = fmin(*worst, ais_column_worst(&column, x + (size_t)i * column.n));
    ais_column_free(&column);
    return AIS_OK;
}

double ais_worst_ess(int dim, int chains, int draws, const double *x) {
    ais_context ignored;
    double worst;
    return ais_find_worst_ess(&ignored, dim, chains, draws, x, &worst) == AIS_OK ? worst : NAN;
}
