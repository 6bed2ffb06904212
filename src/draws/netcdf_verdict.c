#include "draws/netcdf_verdict.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <netcdf.h>

#include "base/apart.h"
#include "draws/netcdf_file.h"
#include "draws/sink.h"

enum { COPY_BYTES = 1 << 20 };

typedef struct notes {
    const char *part;
    const ais_run_judgement *judgement;
} notes;

static int put_count(int file, const char *name, long long value) {
    return nc_put_att_longlong(file, NC_GLOBAL, name, NC_INT64, 1, &value);
}

static int put_number(int file, const char *name, double value) {
    return isnan(value) ? NC_NOERR : nc_put_att_double(file, NC_GLOBAL, name, NC_DOUBLE, 1, &value);
}

static int put_text(int file, const char *name, const char *text) {
    return *text ? nc_put_att_text(file, NC_GLOBAL, name, strlen(text), text) : NC_NOERR;
}

static int put_notes(int file, const ais_run_judgement *j) {
    signed char trust = j->trust;
    int code = put_number(file, "log_z", j->log_z);
    if (!code) code = put_number(file, "log_z_error", j->log_z_error);
    if (!code) code = put_count(file, "evaluations", (long long)j->densities + j->gradients);
    if (!code) code = put_count(file, "evaluations_gradients", j->gradients);
    if (!code) code = put_text(file, "warnings", j->warnings);
    if (!code) code = nc_put_att_schar(file, NC_GLOBAL, "trust", NC_BYTE, 1, &trust);
    if (!code) code = put_text(file, "verdict", j->verdict); /* the last one: where it is, all are */
    return code;
}

/* In a process of its own. */
static ais_status add_notes(ais_context *context, void *data) {
    const notes *this = data;
    int file;
    errno = 0;
    int code = nc_open(this->part, NC_WRITE, &file);
    if (!code) {
        code = put_notes(file, this->judgement);
        int closed = nc_close(file);
        if (!code) code = closed;
    }
    return code ? ais_fail_netcdf(context, "write", this->part, code) : AIS_OK;
}

static int copy_bytes(int from, int to, char *buffer) {
    for (;;) {
        ssize_t got = read(from, buffer, COPY_BYTES);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) return errno;
        if (got == 0) return 0;
        for (ssize_t done = 0; done < got;) {
            ssize_t put = write(to, buffer + done, (size_t)(got - done));
            if (put < 0 && errno != EINTR) return errno;
            if (put == 0) return ENOSPC;
            if (put > 0) done += put;
        }
    }
}

/* 0, or the system's reason. */
static int copy_file(const char *path, const char *part) {
    unlink(part);
    char *buffer = malloc(COPY_BYTES);
    int from = open(path, O_RDONLY | O_CLOEXEC), to = -1, error = !buffer ? ENOMEM : from < 0 ? errno : 0;
    if (!error) {
        to = open(part, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        error = to < 0 ? errno : copy_bytes(from, to, buffer);
    }
    if (from >= 0) close(from);
    if (to >= 0 && close(to) != 0 && !error) error = errno;
    free(buffer);
    return error;
}

ais_status ais_netcdf_add_judgement(ais_context *context, const char *path, const char *part,
                                    const ais_run_judgement *judgement) {
    notes this = {part, judgement};
    const ais_apart_job job = {.doing = "write it",
                               .death = "the netCDF library failed (is the disk full, or memory used up?)",
                               .blame = AIS_FILE_ERROR,
                               .seconds = 60,
                               .work = add_notes,
                               .data = &this};
    ais_context why = {0};
    int error = copy_file(path, part);
    if (error) ais_fail_file(&why, "write", part, error);
    if (!error && ais_apart(&why, &job) != AIS_OK) error = -1;
    if (!error && rename(part, path) != 0) ais_fail_file(&why, "rename", part, error = errno);
    if (!error) return AIS_OK;
    unlink(part);
    return ais_fail(context, AIS_FILE_ERROR,
                    "cannot add log Z and verdict to %.200s: %.600s; the draws in it are complete", path, why.message);
}
