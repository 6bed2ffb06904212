#include "draws/sink.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

ais_status ais_header_check(ais_context *context, const ais_run_header *header) {
    if (header->chains < 1 || header->warmup < 0 || header->draws < 0 || header->x.count < 1)
        return ais_fail(context, AIS_BAD_ARGUMENT, "a run of %d chains, %d warm-up steps, %d draws and %d dimensions",
                        header->chains, header->warmup, header->draws, header->x.count);
    return AIS_OK;
}

const ais_names *ais_header_shown(const ais_run_header *header) {
    return header->value.count ? &header->value : &header->x;
}

ais_status ais_rows_add(ais_context *context, ais_rows *rows, const ais_run_header *header, const ais_chunk *chunk) {
    int *done = chunk->warmup ? &rows->warmup : &rows->draws;
    int planned = chunk->warmup ? header->warmup : header->draws;
    const char *phase = chunk->warmup ? "warm-up" : "sampling";
    if (chunk->count < 0 || chunk->first != *done || (chunk->warmup && rows->draws > 0))
        return ais_fail(context, AIS_BAD_ARGUMENT,
                        "a chunk of %d draws from draw %d of %s came out of order: draw %d is next", chunk->count,
                        chunk->first, phase, *done);
    if (chunk->count > planned - *done)
        return ais_fail(context, AIS_BAD_ARGUMENT, "draw %d of %s came, but only %d were planned",
                        chunk->first + chunk->count - 1, phase, planned);
    *done += chunk->count;
    return AIS_OK;
}

ais_status ais_fail_file(ais_context *context, const char *doing, const char *path, int error) {
    if (error == ENOSPC || error == EDQUOT)
        return ais_fail(context, AIS_FILE_ERROR,
                        "cannot %s %s: disk full (%s); free some space or choose another directory", doing, path,
                        strerror(error));
    return ais_fail(context, AIS_FILE_ERROR, "cannot %s %s: %s", doing, path, strerror(error));
}

ais_status ais_directory_make(ais_context *context, const char *directory) {
    char *path = strdup(directory);
    if (!path) return ais_fail_memory(context, "a path", strlen(directory) + 1);
    /* A parent that cannot be made is no error when it is there already, or lies above what we may
     * write; it is the reason when the last step then finds nothing to stand in. */
    int error = 0, parent_error = 0;
    for (char *at = path; *at; at++) {
        if (*at != '/' || at == path) continue;
        *at = 0;
        if (mkdir(path, 0777) != 0 && errno != EEXIST && !parent_error) parent_error = errno;
        *at = '/';
    }
    struct stat status;
    if (mkdir(path, 0777) != 0) error = errno;
    if (error == EEXIST) error = stat(path, &status) != 0 ? errno : S_ISDIR(status.st_mode) ? 0 : ENOTDIR;
    if (error == ENOENT && parent_error) error = parent_error;
    free(path);
    return error ? ais_fail_file(context, "make the directory", directory, error) : AIS_OK;
}

char *ais_path_join(const char *directory, const char *name) {
    size_t length = strlen(directory), bytes = length + strlen(name) + 2;
    char *path = malloc(bytes);
    const char *separator = length && directory[length - 1] == '/' ? "" : "/";
    if (path) snprintf(path, bytes, "%s%s%s", directory, separator, name);
    return path;
}

/* N of draws-N.csv; 0 for every other name. */
static int chain_number(const char *name) {
    if (strncmp(name, "draws-", 6) != 0 || name[6] < '1' || name[6] > '9') return 0;
    char *end;
    errno = 0;
    long number = strtol(name + 6, &end, 10);
    return errno == 0 && number <= INT_MAX && strcmp(end, ".csv") == 0 ? (int)number : 0;
}

ais_status ais_directory_each(ais_context *context, const char *directory,
                              ais_status (*visit)(ais_context *, void *data, int number), void *data) {
    DIR *stream = opendir(directory);
    if (!stream) return ais_fail_file(context, "read the directory", directory, errno);
    ais_status status = AIS_OK;
    const struct dirent *entry;
    while (status == AIS_OK && (entry = readdir(stream)) != NULL) {
        int number = chain_number(entry->d_name);
        if (number) status = visit(context, data, number);
    }
    closedir(stream);
    return status;
}
