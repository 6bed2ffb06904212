/* The groups, dimensions and variables of draws.nc: ArviZ's InferenceData. */
#ifndef AIS_SAMPLER_NETCDF_LAYOUT_H
#define AIS_SAMPLER_NETCDF_LAYOUT_H

#include "sampler/columns.h"

/* One phase (sampling or warm-up): a group of parameters and a group of statistics. */
typedef struct ais_netcdf_phase {
    int posterior, stats; /* groups */
    int draw[2];          /* the coordinate variable `draw` of each group */
    int logp;             /* variable lp */
    int info[AIS_INFO_COUNT];
    int *variable; /* of columns->variable */
    int block;     /* draws of one storage chunk */
} ais_netcdf_phase;

/* The length of storage chunks, at most `most`, that share out a dimension evenly: the last one is stored whole, too.
 */
size_t ais_netcdf_share(size_t length, size_t most);

/* Defines everything in the open file; phase[0] is sampling, phase[1] warm-up if it is saved. Returns
 * netCDF's code. */
int ais_netcdf_define(int file, const ais_run_header *header, const ais_columns *columns, ais_netcdf_phase phase[2]);

#endif
