/* From a table to the covariates and the outcome of a regression.
 *
 * A column of numbers is one covariate. A column of text is a factor: one covariate for each level but the first in
 * sorted order, 1 in the rows of that level and 0 in others, called column[level]. Every covariate is standardised over
 * all rows, whichever rows are used: less its mean, over its standard deviation. Without an intercept nothing is
 * centred, and the first factor keeps all its levels. */
#ifndef AIS_TARGET_REGRESSION_DATA_H
#define AIS_TARGET_REGRESSION_DATA_H

#include "target/fields.h"

typedef struct ais_regression_data {
    size_t rows;
    size_t missing; /* further rows, dropped for missing values */
    int dim;        /* the intercept included */
    bool intercept; /* its covariate is the first one, and 1 */
    bool numbered_rows;
    const double *covariate;         /* rows x dim: (value - mean) / sd */
    const double *mean, *sd;         /* dim, on the data's scale; the intercept's are 0 and 1 */
    const char *const *names;        /* dim */
    const double *outcome;           /* rows: 0 or 1, or numbers as they are */
    double outcome_mean, outcome_sd; /* linear: standardised by these */
    const char *outcome_name;
    int outcome_column;   /* from 0 */
    bool named;           /* the table has a header */
    const char *level[2]; /* binary: what stands for 0 and for 1 */
    size_t ones;          /* binary: rows with 1 */
    int columns;          /* of the table, that covariates were made from */
} ais_regression_data;

/* Memory comes from arena; the table may be freed afterwards. */
ais_status ais_regression_prepare(ais_context *context, const char *path, ais_table *table, const ais_field_wish *wish,
                                  bool intercept, ais_arena *arena, ais_regression_data *data);

#endif
