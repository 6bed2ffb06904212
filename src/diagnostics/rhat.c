/* R-hat: how much wider all chains together are than each alone. */
#include <aisampler/diagnostics.h>

#include <math.h>

#include "diagnostics/column.h"

/* Between chains there is something to compare from two chains on. */
static bool prepare(ais_column *column, const double *x, int chains, int draws) {
    return chains >= 2 && draws >= 4 && ais_column_usable(x, (size_t)chains * (size_t)draws) &&
           ais_column_init(column, chains, draws);
}

double ais_rhat_split(const double *x, int chains, int draws) {
    ais_column column;
    if (!prepare(&column, x, chains, draws)) return NAN;
    ais_column_split(&column, x, column.split);
    double rhat = ais_column_rhat(&column, column.split);
    ais_column_free(&column);
    return rhat;
}

double ais_rhat_bulk(const double *x, int chains, int draws) {
    ais_column column;
    if (!prepare(&column, x, chains, draws)) return NAN;
    ais_column_split(&column, x, column.split);
    ais_column_normalise(&column, column.split, column.other);
    double rhat = ais_column_rhat(&column, column.other);
    ais_column_free(&column);
    return rhat;
}

double ais_rhat_folded(const double *x, int chains, int draws) {
    ais_column column;
    if (!prepare(&column, x, chains, draws)) return NAN;
    ais_column_split(&column, x, column.split);
    ais_column_normalise(&column, column.split, column.other); /* for its order */
    ais_column_normalise_folded(&column, column.split, column.other);
    double rhat = ais_column_rhat(&column, column.other);
    ais_column_free(&column);
    return rhat;
}

double ais_rhat(const double *x, int chains, int draws) {
    ais_column column;
    if (!prepare(&column, x, chains, draws)) return NAN;
    double rhat;
    ais_column_bulk(&column, x, &rhat);
    ais_column_free(&column);
    return rhat;
}
