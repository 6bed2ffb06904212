#include "draws/netcdf_file.h"

#include <errno.h>
#include <stdbool.h>

#include <netcdf.h>

#include "draws/sink.h"

static bool is_system_reason(int error) {
    return error == ENOSPC || error == EDQUOT || error == EFBIG || error == EIO || error == EACCES || error == EROFS ||
           error == EISDIR || error == EMFILE || error == ENFILE || error == ENOENT;
}

ais_status ais_fail_netcdf(ais_context *context, const char *doing, const char *path, int code) {
    int error = errno;
    if (code == NC_ENOMEM || error == ENOMEM)
        return ais_fail(context, AIS_NO_MEMORY, "cannot %s %s: out of memory", doing, path);
    if (is_system_reason(error)) return ais_fail_file(context, doing, path, error);
    if (code > 0) return ais_fail_file(context, doing, path, code);
    return ais_fail(context, AIS_FILE_ERROR, "cannot %s %s: %s", doing, path, nc_strerror(code));
}
