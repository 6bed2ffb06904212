/* What writing and reading netCDF share. */
#ifndef AIS_SAMPLER_NETCDF_FILE_H
#define AIS_SAMPLER_NETCDF_FILE_H

#include "base/status.h"

/* libnetcdf and libhdf5 keep state of their own for the whole process and are not safe to enter from
 * two threads: every use stands between these two. */
void ais_netcdf_lock(void);
void ais_netcdf_unlock(void);

/* "cannot DO path: reason". code is what nc_... returned; errno, set to 0 before the call, says more
 * than the code when the system refused (a full disk is just an "HDF error" to netCDF). */
ais_status ais_fail_netcdf(ais_context *context, const char *doing, const char *path, int code);

#endif
