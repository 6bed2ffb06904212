#define _GNU_SOURCE /* close_range */
#include "base/apart.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MOST_DESCRIPTORS = 1 << 16, IDLE_FACTOR = 10, LEAST_IDLE = 60 };

bool ais_apart_read(int descriptor, void *data, size_t bytes) {
    unsigned char *to = data;
    while (bytes > 0) {
        ssize_t got = read(descriptor, to, bytes);
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) return false;
        to += got;
        bytes -= (size_t)got;
    }
    return true;
}

bool ais_apart_write(int descriptor, const void *data, size_t bytes) {
    const unsigned char *from = data;
    while (bytes > 0) {
        ssize_t put = send(descriptor, from, bytes, MSG_NOSIGNAL);
        if (put < 0 && errno == EINTR) continue;
        if (put <= 0) return false;
        from += put;
        bytes -= (size_t)put;
    }
    return true;
}

/* No file of this process stays open there: a lock, or the far end of a pipe, would outlive it. */
static void close_others(int descriptor) {
    if (descriptor != 3 && dup2(descriptor, 3) < 0) _exit(1);
    if (close_range(4, ~0U, 0) == 0) return;
    long most = sysconf(_SC_OPEN_MAX);
    for (int d = 4; d < (most > 0 && most < MOST_DESCRIPTORS ? (int)most : MOST_DESCRIPTORS); d++) close(d);
}

/* Sets up the other process; its socket is 3 afterwards. */
static void settle(int descriptor) {
    /* The program's own handlers (a fault printer, say) must not run there. */
    static const int deadly[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGXCPU, SIGALRM};
    for (size_t i = 0; i < sizeof deadly / sizeof *deadly; i++) signal(deadly[i], SIG_DFL);
    /* Signals that stop a run stop its main process, which then gives the orders; a limit on file size becomes a write
     * error. */
    static const int ignored[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGXFSZ, SIGPIPE};
    for (size_t i = 0; i < sizeof ignored / sizeof *ignored; i++) signal(ignored[i], SIG_IGN);
    int socket = fcntl(descriptor, F_DUPFD, 3); /* it may be 2 if the program has closed stderr */
    int nowhere = open("/dev/null", O_RDWR);
    if (socket < 0 || (nowhere >= 0 && (dup2(nowhere, STDOUT_FILENO) < 0 || dup2(nowhere, STDERR_FILENO) < 0)))
        _exit(1);
    close_others(socket);
    setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
}

bool ais_apart_begin(ais_servant *servant, void (*serve)(void *data, int descriptor), void *data) {
    int end[2];
    *servant = (ais_servant){-1, -1};
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, end) != 0) return false;
    pid_t process = fork();
    if (process == 0) {
        settle(end[1]);
        serve(data, 3);
        _exit(0);
    }
    int error = errno;
    close(end[1]);
    if (process < 0) {
        close(end[0]);
        errno = error;
        return false;
    }
    *servant = (ais_servant){end[0], process};
    return true;
}

void ais_apart_end(ais_servant *servant) {
    if (servant->descriptor < 0) return;
    close(servant->descriptor);
    /* ECHILD: the program handles SIGCHLD in its own way. */
    while (waitpid((pid_t)servant->process, NULL, 0) < 0 && errno == EINTR) continue;
    *servant = (ais_servant){-1, -1};
}

/* No more memory than there is now, and `bytes` more. */
static void limit_memory(double bytes) {
    FILE *file = fopen("/proc/self/statm", "r");
    double pages = 0;
    bool known = file && fscanf(file, "%lf", &pages) == 1;
    if (file) fclose(file);
    double most = pages * (double)sysconf(_SC_PAGESIZE) + bytes;
    if (known && most < 0x1p62) setrlimit(RLIMIT_AS, &(struct rlimit){(rlim_t)most, (rlim_t)most});
}

static void serve_job(void *data, int descriptor) {
    const ais_apart_job *job = data;
    ais_context context = {0};
    rlim_t limit = (rlim_t)job->seconds + 1;
    setrlimit(RLIMIT_CPU, &(struct rlimit){limit, limit + 1});
    alarm((unsigned)(IDLE_FACTOR * job->seconds) + LEAST_IDLE); /* a lock that another thread held when it forked */
    if (job->bytes > 0) limit_memory(job->bytes);
    context.status = job->work(&context, job->data);
    if (!ais_apart_write(descriptor, &context, sizeof context) || context.status != AIS_OK || !job->give) return;
    if (!job->give(job->data, descriptor)) _exit(1);
}

ais_status ais_apart(ais_context *context, const ais_apart_job *job) {
    ais_servant servant;
    ais_context there;
    if (!ais_apart_begin(&servant, serve_job, (void *)(uintptr_t)job))
        return ais_fail(context, AIS_FILE_ERROR, "cannot %s: no process for it could be started: %s", job->doing,
                        strerror(errno));
    ais_status status;
    if (!ais_apart_read(servant.descriptor, &there, sizeof there)) {
        status = ais_fail(context, job->blame, "cannot %s: %s", job->doing, job->death);
    } else if (there.status != AIS_OK) {
        *context = there;
        status = there.status;
    } else {
        status = job->take ? job->take(context, job->data, servant.descriptor) : AIS_OK;
    }
    ais_apart_end(&servant);
    return status;
}
