/* What writing and reading netCDF share. */
#ifndef AIS_DRAWS_NETCDF_FILE_H
#define AIS_DRAWS_NETCDF_FILE_H

#include "base/status.h"

/* libnetcdf and libhdf5 keep state of their own for the whole process and are not safe to enter from
 * two threads: every use stands between these two. */
void ais_netcdf_lock(void);
void ais_netcdf_unlock(void);

/* "cannot DO path: reason". code is what nc_... returned; errno, set to 0 before the call, says more
 * than the code when the system refused (a full disk is just an "HDF error" to netCDF). */
ais_status ais_fail_netcdf(ais_context *context, const char *doing, const char *path, int code);

/* After a failed write HDF5 can neither finish nor give up a file: it tries again when the file is
 * closed and when the process ends, and crashes there. This points its descriptor of `path` to
 * /dev/null, where the rest of what it holds can go, and leaves the file as it is. */
void ais_netcdf_detach(const char *path);

/* HDF5 crashes on some damaged files, never comes back from others, and crashes when closing a file
 * fails. Runs attempt(data) in a forked process, which shares no memory and ends without running
 * exit handlers. Gives what attempt returned (0 to 255), or -1 if it did not come back within so
 * many seconds of processor time; 0 where there can be no such process. It gets so many bytes of
 * memory more than there are now; 0: as many as there are. */
int ais_netcdf_attempt(int (*attempt)(void *data), void *data, double seconds, double bytes);

#endif
