/* What writing and reading netCDF share. Its functions are called in a process of their own only (base/apart.h). */
#ifndef AIS_DRAWS_NETCDF_FILE_H
#define AIS_DRAWS_NETCDF_FILE_H

#include "base/status.h"

/* "cannot DO path: reason". code is what nc_... returned; errno, set to 0 before the call, says more
 * than the code when the system refused (a full disk is just an "HDF error" to netCDF). */
ais_status ais_fail_netcdf(ais_context *context, const char *doing, const char *path, int code);

#endif
