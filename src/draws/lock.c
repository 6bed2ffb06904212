/* A lock on an output directory. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "draws/sink.h"

struct ais_lock {
    int descriptor;
};

/* "process 123 on HOST", as the one that has the lock wrote it; for people. */
static ais_status taken(ais_context *context, int descriptor, const char *directory) {
    char holder[300] = "";
    ssize_t count = pread(descriptor, holder, sizeof holder - 1, 0);
    holder[count > 0 ? strcspn(holder, "\n") : 0] = 0;
    return ais_fail(context, AIS_FILE_ERROR,
                    "another run (%.200s) is writing into %s: wait until it ends, or choose another directory",
                    holder[0] ? holder : "unknown", directory);
}

static void sign(int descriptor) {
    char host[200] = "", text[256];
    (void)gethostname(host, sizeof host - 1);
    int length = snprintf(text, sizeof text, "process %ld on %s\n", (long)getpid(), host);
    if (ftruncate(descriptor, 0) == 0 && pwrite(descriptor, text, (size_t)length, 0) < 0) return; /* a courtesy */
}

ais_status ais_directory_lock(ais_context *context, const char *directory, ais_lock **out) {
    *out = NULL;
    char *path = ais_path_join(directory, ".lock");
    ais_lock *lock = malloc(sizeof *lock);
    ais_status status = AIS_OK;
    if (!path || !lock) status = ais_fail_memory(context, "a lock", sizeof *lock);
    if (status == AIS_OK) {
        lock->descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
        if (lock->descriptor < 0)
            status = ais_fail_file(context, "open", path, errno);
        else if (flock(lock->descriptor, LOCK_EX | LOCK_NB) == 0)
            sign(lock->descriptor);
        else if (errno == EWOULDBLOCK)
            status = taken(context, lock->descriptor, directory);
    }
    if (status == AIS_OK) {
        *out = lock;
    } else if (lock) {
        if (path && lock->descriptor >= 0) close(lock->descriptor);
        free(lock);
    }
    free(path);
    return status;
}

void ais_directory_unlock(ais_lock *lock) {
    if (!lock) return;
    close(lock->descriptor);
    free(lock);
}
