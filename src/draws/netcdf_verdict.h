/* What a run's judgement adds to its netCDF file. */
#ifndef AIS_DRAWS_NETCDF_VERDICT_H
#define AIS_DRAWS_NETCDF_VERDICT_H

#include <aisampler/draws.h>

/* Adds attributes to the complete file `path`, by way of a copy called `part`: whatever goes wrong, the file is there
 * as it was or with all of them. */
ais_status ais_netcdf_add_judgement(ais_context *context, const char *path, const char *part,
                                    const ais_run_judgement *judgement);

#endif
