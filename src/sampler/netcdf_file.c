#include "sampler/netcdf_file.h"

#include <errno.h>
#include <pthread.h>

#include <netcdf.h>

#include "sampler/sink.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

void ais_netcdf_lock(void) { pthread_mutex_lock(&lock); }
void ais_netcdf_unlock(void) { pthread_mutex_unlock(&lock); }

static int is_system_reason(int error) {
    return error == ENOSPC || error == EDQUOT || error == EFBIG || error == EIO || error == EACCES || error == EROFS ||
           error == EISDIR || error == EMFILE || error == ENFILE;
}

ais_status ais_fail_netcdf(ais_context *context, const char *doing, const char *path, int code) {
    int error = errno;
    if (code > 0) return ais_fail_file(context, doing, path, code);
    if (code == NC_ENOMEM) return ais_fail(context, AIS_NO_MEMORY, "cannot %s %s: out of memory", doing, path);
    if (is_system_reason(error)) return ais_fail_file(context, doing, path, error);
    return ais_fail(context, AIS_FILE_ERROR, "cannot %s %s: %s", doing, path, nc_strerror(code));
}
