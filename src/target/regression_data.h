/* From a table to covariates and labels. */
#ifndef AIS_TARGET_REGRESSION_DATA_H
#define AIS_TARGET_REGRESSION_DATA_H

#include "base/csv.h"

typedef struct ais_regression_data {
    size_t rows;
    int dim;                  /* the bias included */
    const double *covariate;  /* rows x dim, the bias first, standardised over all rows */
    const double *label;      /* rows, 0 or 1 */
    const char *const *names; /* dim */
} ais_regression_data;

/* label: the name of its column or its number from 1; NULL or "last" for the last one. Memory comes
 * from arena; the table may be freed afterwards. */
ais_status ais_regression_prepare(ais_context *context, const char *path, const ais_table *table, const char *label,
                                  ais_arena *arena, ais_regression_data *data);

#endif
