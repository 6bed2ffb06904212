/* The groups, dimensions and variables of draws.nc: ArviZ's InferenceData. */
#ifndef AIS_DRAWS_NETCDF_LAYOUT_H
#define AIS_DRAWS_NETCDF_LAYOUT_H

#include "draws/columns.h"

/* What is written of a draw's point: what is shown and, of a target with a view, x as well. */
enum { AIS_NETCDF_SHOWN, AIS_NETCDF_RAW, AIS_NETCDF_SETS };

/* One group: its netCDF id, and that of its coordinate variable `draw`. */
typedef struct ais_netcdf_group {
    int id, draw;
} ais_netcdf_group;

/* One phase (sampling or warm-up): groups of parameters and a group of statistics. */
typedef struct ais_netcdf_phase {
    ais_netcdf_group set[AIS_NETCDF_SETS], stats;
    int logp; /* variable lp */
    int info[AIS_INFO_COUNT];
    int *variable[AIS_NETCDF_SETS]; /* of columns->variable */
    int block;                      /* draws of one storage chunk */
} ais_netcdf_phase;

/* The length of storage chunks, at most `most`, that share out a dimension evenly: the last one is stored whole, too.
 */
size_t ais_netcdf_share(size_t length, size_t most);

/* Defines everything in the open file; phase[0] is sampling, phase[1] warm-up if it is saved. columns of a set that is
 * not written: NULL. Returns netCDF's code. */
int ais_netcdf_define(int file, const ais_run_header *header, ais_columns *const columns[AIS_NETCDF_SETS],
                      ais_netcdf_phase phase[2]);

#endif
