#include "draws/netcdf_file.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <netcdf.h>

#include "draws/sink.h"

enum { MOST_DESCRIPTORS = 1 << 16 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

void ais_netcdf_lock(void) { pthread_mutex_lock(&lock); }
void ais_netcdf_unlock(void) { pthread_mutex_unlock(&lock); }

static int is_system_reason(int error) {
    return error == ENOSPC || error == EDQUOT || error == EFBIG || error == EIO || error == EACCES || error == EROFS ||
           error == EISDIR || error == EMFILE || error == ENFILE;
}

ais_status ais_fail_netcdf(ais_context *context, const char *doing, const char *path, int code) {
    int error = errno;
    if (code == NC_ENOMEM) return ais_fail(context, AIS_NO_MEMORY, "cannot %s %s: out of memory", doing, path);
    if (is_system_reason(error)) return ais_fail_file(context, doing, path, error);
    if (code > 0) return ais_fail_file(context, doing, path, code);
    return ais_fail(context, AIS_FILE_ERROR, "cannot %s %s: %s", doing, path, nc_strerror(code));
}

void ais_netcdf_detach(const char *path) {
    struct stat file, other;
    int nowhere = open("/dev/null", O_RDWR | O_CLOEXEC);
    if (nowhere < 0) return;
    bool found = stat(path, &file) == 0;
    long most = sysconf(_SC_OPEN_MAX);
    for (int d = 0; found && d < (most > 0 && most < MOST_DESCRIPTORS ? (int)most : MOST_DESCRIPTORS); d++)
        if (fstat(d, &other) == 0 && other.st_dev == file.st_dev && other.st_ino == file.st_ino) dup2(nowhere, d);
    close(nowhere);
}

/* No more memory than there is now, and so many bytes. */
static void limit_memory(double bytes) {
    FILE *file = fopen("/proc/self/statm", "r");
    double pages = 0;
    bool known = file && fscanf(file, "%lf", &pages) == 1;
    if (file) fclose(file);
    double most = pages * (double)sysconf(_SC_PAGESIZE) + bytes;
    if (known && most < 0x1p62) setrlimit(RLIMIT_AS, &(struct rlimit){(rlim_t)most, (rlim_t)most});
}

static int attempt_alone(int (*attempt)(void *data), void *data, double seconds, double bytes) {
    static const int deadly[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGXCPU};
    /* The program's own handlers (a fault printer, say) have no business here, nor what netCDF prints
     * when it is at a loss. */
    for (size_t i = 0; i < sizeof deadly / sizeof *deadly; i++) signal(deadly[i], SIG_DFL);
    int nowhere = open("/dev/null", O_WRONLY);
    if (nowhere >= 0 && (dup2(nowhere, STDOUT_FILENO) < 0 || dup2(nowhere, STDERR_FILENO) < 0)) return 0;
    rlim_t limit = (rlim_t)seconds + 1;
    setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
    setrlimit(RLIMIT_CPU, &(struct rlimit){limit, limit + 1});
    if (bytes > 0) limit_memory(bytes);
    return attempt(data);
}

int ais_netcdf_attempt(int (*attempt)(void *data), void *data, double seconds, double bytes) {
    /* A byte through a pipe, because the program may have its own ideas about SIGCHLD. */
    int end[2];
    unsigned char verdict = 0;
    if (pipe(end) != 0) return 0;
    pid_t child = fork();
    if (child == 0) {
        verdict = (unsigned char)attempt_alone(attempt, data, seconds, bytes);
        _exit(write(end[1], &verdict, 1) == 1 ? 0 : 1);
    }
    close(end[1]);
    ssize_t got = -1;
    if (child > 0) {
        while ((got = read(end[0], &verdict, 1)) < 0 && errno == EINTR) continue;
        while (waitpid(child, NULL, 0) < 0 && errno == EINTR) continue;
    }
    close(end[0]);
    return child < 0 ? 0 : got == 1 ? verdict : -1;
}
