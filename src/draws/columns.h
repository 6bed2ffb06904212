/* What parameters are called in files, and which of them make up a vector or a matrix.
 *
 * Target names are free text. In a file a name must survive a comma-separated header, be a legal
 * netCDF name, differ from every other one, and mean the same to every reader: a dotted tail of
 * numbers is an index (Stan's x.1, L.2.1), `__` at the end marks a column of the sampler. */
#ifndef AIS_DRAWS_COLUMNS_H
#define AIS_DRAWS_COLUMNS_H

#include <string.h>

#include <aisampler/draws.h>

#include "base/arena.h"
#include "base/status.h"

enum { AIS_MAX_RANK = 8, AIS_NAME_BYTES = 200 };

/* Consecutive parameters whose indices fill a box; a parameter without index has rank 0. */
typedef struct ais_variable {
    char *name;
    int first, count;
    int rank;
    int extent[AIS_MAX_RANK];
} ais_variable;

typedef struct ais_columns {
    int dim, variables;
    ais_variable *variable;
    char **name; /* dim: the variable's name with its index, x.1 or L.2.1 */
    int *place;  /* dim: row-major place inside the variable */
    ais_arena arena;
} ais_columns;

ais_status ais_columns_new(ais_context *context, const ais_names *names, ais_columns **columns);
void ais_columns_free(ais_columns *columns); /* NULL is allowed */

/* The fields of ais_info as columns: ais_info_name in CSV, `netcdf` in sample_stats. */
typedef enum ais_column_type { AIS_COLUMN_DOUBLE, AIS_COLUMN_INTEGER, AIS_COLUMN_BOOL } ais_column_type;
typedef struct ais_info_column {
    size_t offset; /* in ais_info */
    const char *netcdf;
    ais_column_type type;
} ais_info_column;
extern const ais_info_column ais_info_columns[AIS_INFO_COUNT];

static inline double ais_info_value(const ais_info *info, int field) {
    double value;
    memcpy(&value, (const char *)info + ais_info_columns[field].offset, sizeof value);
    return value;
}

static inline void ais_info_set(ais_info *info, int field, double value) {
    memcpy((char *)info + ais_info_columns[field].offset, &value, sizeof value);
}

/* Lists the fields that are set in `info` and returns how many there are. */
int ais_info_fields(unsigned info, int field[AIS_INFO_COUNT]);

#endif
