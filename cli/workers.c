/* How it works: a keeper, forked before the command has threads, forks the workers and tells how they ended. So a
 * worker always begins with the memory of a process of one thread in which the density was opened and never evaluated.
 * Every worker shares a piece of memory with the command, followed by a page that must not be touched; it holds
 * requests and answers, and two semaphores wake the side that waits. */
#define _GNU_SOURCE /* sem_clockwait */
#include "workers.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

typedef enum state { NOBODY, STARTING, READY, ASKED, DEAD } state;
typedef enum wish { WISH_NOTHING, WISH_START, WISH_KILL } wish;

struct worker {
    sem_t asked, answered;
    atomic_int state, wish;
    atomic_bool taken; /* by a thread of the command */
    pid_t pid;         /* the keeper's alone */
    long answers;      /* of this process; the command's alone */
    question what;
    size_t n;
    uint64_t stream;
    /* How it ended, by the worker itself, or else by the keeper. */
    bool told;
    death end;
    double room[]; /* what goes in, then what comes out */
};

static struct {
    ais_target target;
    worker_limits limits;
    size_t in, size; /* doubles that go in; bytes from one worker to the next */
    char *memory;    /* all workers, then the request */
    sem_t *request;  /* wakes the keeper */
    pid_t command, keeper;
    worker *self; /* in a worker: which one it is */
} all;

static worker *worker_at(int k) { return (worker *)(all.memory + (size_t)k * all.size); }

static void wait_for(sem_t *semaphore) {
    while (sem_wait(semaphore) != 0) continue;
}

/* ---- in a worker ---------------------------------------------------------------------------------------------- */

/* By /proc, which handlers of signals may read. 0: unknown. */
static double address_space(void) {
    char text[64] = "";
    int file = open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
    ssize_t got = file < 0 ? 0 : read(file, text, sizeof text - 1);
    if (file >= 0) close(file);
    double pages = 0;
    for (ssize_t i = 0; i < got && text[i] >= '0' && text[i] <= '9'; i++) pages = 10 * pages + (text[i] - '0');
    return pages * (double)sysconf(_SC_PAGESIZE);
}

static double memory_end; /* of the address space */

static void end_with(ending how, int code) {
    static const double close_to_it = 64e6; /* the last request did not fit */
    all.self->end = (death){how, code, how == ENDED_BY_SIGNAL && address_space() + close_to_it > memory_end};
    all.self->told = true;
    for (;;) syscall(SYS_exit_group, 1);
}

static void crashed(int number) { end_with(ENDED_BY_SIGNAL, number); }

void worker_leave(int code) {
    if (all.self) end_with(ENDED_BY_EXIT, code);
}

static void limit_memory(void) {
    struct rlimit limit;
    memory_end = address_space() + all.limits.bytes;
    if (getrlimit(RLIMIT_AS, &limit) != 0) return;
    if (limit.rlim_max == RLIM_INFINITY || memory_end < (double)limit.rlim_max)
        limit.rlim_cur = (rlim_t)memory_end;
    else
        memory_end = (double)limit.rlim_max;
    setrlimit(RLIMIT_AS, &limit);
    setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0}); /* one for every death would fill the disk */
}

static void catch_crashes(void) {
    static const int fatal[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};
    static char stack[32768]; /* when its own has run over */
    sigaltstack(&(stack_t){.ss_sp = stack, .ss_size = sizeof stack}, NULL);
    struct sigaction action = {.sa_handler = crashed, .sa_flags = SA_ONSTACK};
    for (size_t i = 0; i < sizeof fatal / sizeof *fatal; i++) sigaction(fatal[i], &action, NULL);
}

static void answer(worker *self) {
    const ais_target *target = &all.target;
    double *x = self->room, *out = x + all.in;
    switch (self->what) {
    case ASK_LOGP:
        *out = target->logp(x, target->data);
        break;
    case ASK_GRAD:
        *out = target->grad(x, out + 1, target->data);
        break;
    case ASK_BATCH:
        target->batch(self->n, x, out, target->data);
        break;
    case ASK_SHOW:
        target->view->show(self->n, x, self->stream, out, out + self->n * (size_t)target->view->count, target->data);
        break;
    }
}

static void serve(worker *self) {
    all.self = self;
    for (int k = 0; k < all.limits.workers; k++) /* out of reach of a density that writes anywhere */
        if (worker_at(k) != self) munmap(worker_at(k), all.size);
    limit_memory();
    catch_crashes();
    atomic_store(&self->state, READY);
    sem_post(&self->answered);
    for (;;) {
        wait_for(&self->asked);
        answer(self);
        atomic_store(&self->state, READY);
        sem_post(&self->answered);
    }
}

/* ---- in the keeper -------------------------------------------------------------------------------------------- */

static void child_ended(int number) {
    (void)number;
    int kept = errno;
    sem_post(all.request);
    errno = kept;
}

static void note_death(worker *at, int status) {
    if (!at->told) {
        bool signal = WIFSIGNALED(status);
        at->end =
            (death){signal ? ENDED_BY_SIGNAL : ENDED_BY_EXIT, signal ? WTERMSIG(status) : WEXITSTATUS(status), false};
    }
    at->pid = 0;
    atomic_store(&at->state, DEAD);
    sem_post(&at->answered);
}

static void bury(void) {
    int status;
    for (pid_t pid; (pid = waitpid(-1, &status, WNOHANG)) > 0;)
        for (int k = 0; k < all.limits.workers; k++)
            if (worker_at(k)->pid == pid) note_death(worker_at(k), status);
}

/* A process ends with the one that forked it, however that one ended. */
static void end_with_parent(pid_t parent) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) _exit(1);
}

static void start(worker *at) {
    sem_init(&at->asked, 1, 0);
    at->told = false;
    pid_t keeper = getpid(), pid = fork();
    if (pid == 0) {
        signal(SIGCHLD, SIG_DFL);
        end_with_parent(keeper);
        serve(at);
    }
    if (pid > 0) {
        at->pid = pid;
        return;
    }
    at->end = (death){NEVER_BEGAN, errno, false};
    atomic_store(&at->state, DEAD);
    sem_post(&at->answered);
}

static void fulfil(worker *at) {
    int wanted = atomic_exchange(&at->wish, WISH_NOTHING);
    if (wanted == WISH_START && at->pid == 0) start(at);
    if (wanted == WISH_KILL && at->pid > 0) kill(at->pid, SIGKILL);
}

static void keep(void) {
    /* Ctrl-C and a cluster's warning go to all processes: the command decides, and may still have questions. */
    static const int other[] = {SIGINT, SIGTERM, SIGHUP, SIGUSR1, SIGUSR2, SIGALRM, SIGPIPE};
    for (size_t i = 0; i < sizeof other / sizeof *other; i++) signal(other[i], SIG_IGN);
    end_with_parent(all.command);
    setlinebuf(stdout); /* what a density prints is seen before it dies */
    sigaction(SIGCHLD, &(struct sigaction){.sa_handler = child_ended}, NULL);
    for (;;) {
        wait_for(all.request);
        bury();
        for (int k = 0; k < all.limits.workers; k++) fulfil(worker_at(k));
    }
}

/* ---- in the command ------------------------------------------------------------------------------------------- */

static size_t largest(size_t a, size_t b) { return a > b ? a : b; }

bool workers_open(const ais_target *target, const worker_limits *limits) {
    size_t page = (size_t)sysconf(_SC_PAGESIZE), shown = target->view ? (size_t)target->view->count + 1 : 1;
    all.target = *target;
    all.limits = *limits;
    all.in = (size_t)target->dim * WORKER_POINTS;
    size_t out = largest(shown * WORKER_POINTS, (size_t)target->dim + 1), used;
    used = sizeof(worker) + (all.in + out) * sizeof(double);
    all.size = (used + page - 1) / page * page + page;
    size_t bytes = (size_t)limits->workers * all.size;
    all.memory = mmap(NULL, bytes + page, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (all.memory == MAP_FAILED) return false;
    all.request = (sem_t *)(all.memory + bytes);
    sem_init(all.request, 1, 0);
    for (int k = 0; k < limits->workers; k++) {
        mprotect((char *)worker_at(k) + all.size - page, page, PROT_NONE);
        sem_init(&worker_at(k)->answered, 1, 0);
    }
    fflush(NULL); /* or it is written twice */
    all.command = getpid();
    all.keeper = fork();
    if (all.keeper == 0) keep();
    return all.keeper > 0;
}

void workers_close(void) {
    if (all.keeper <= 0 || all.self) return;
    kill(all.keeper, SIGKILL);
    while (waitpid(all.keeper, NULL, 0) < 0 && errno == EINTR) continue;
    all.keeper = 0;
}

worker *worker_take(void) {
    static _Thread_local int last;
    for (;;) {
        for (int k = 0; k < all.limits.workers; k++) {
            worker *at = worker_at((last + k) % all.limits.workers);
            if (atomic_exchange(&at->taken, true)) continue;
            last = (last + k) % all.limits.workers;
            return at;
        }
        sched_yield();
    }
}

void worker_give(worker *at) { atomic_store(&at->taken, false); }

bool worker_is_fresh(const worker *at) { return at->answers == 0; }

const double *worker_answer(const worker *at) { return at->room + all.in; }

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

/* Whether the keeper was killed: then there are no reports on the workers. */
static bool is_alone(void) { return waitpid(all.keeper, NULL, WNOHANG) != 0; }

/* Until the worker is in another state than this; false after `seconds`, or when the keeper is gone. */
static bool leaves(worker *at, state from, double seconds) {
    double end = now() + seconds;
    while ((int)atomic_load(&at->state) == (int)from) {
        double left = end - now(), slice = left < 1 ? left : 1;
        if (left <= 0) return false;
        double until = now() + slice;
        struct timespec time = {.tv_sec = (time_t)until, .tv_nsec = (long)(1e9 * (until - (double)(time_t)until))};
        if (sem_clockwait(&at->answered, CLOCK_MONOTONIC, &time) != 0 && errno == ETIMEDOUT && is_alone()) return false;
    }
    return true;
}

static void wish_for(worker *at, wish what) {
    atomic_store(&at->wish, (int)what);
    sem_post(all.request);
}

enum { A_WHILE = 60 }; /* seconds for the system to fork a process, or to end one */

static bool bring_to_life(worker *at, death *end) {
    if (atomic_load(&at->state) == READY) return true;
    at->answers = 0;
    atomic_store(&at->state, STARTING);
    wish_for(at, WISH_START);
    bool moved = leaves(at, STARTING, A_WHILE);
    if (moved && atomic_load(&at->state) == READY) return true;
    *end = moved ? at->end : (death){NEVER_BEGAN, is_alone() ? ECHILD : ETIMEDOUT, false};
    end->how = NEVER_BEGAN;
    return false;
}

bool worker_ask(worker *at, question what, size_t n, const double *x, uint64_t stream, death *end) {
    if (!bring_to_life(at, end)) return false;
    memcpy(at->room, x, n * (size_t)all.target.dim * sizeof *x);
    at->what = what;
    at->n = n;
    at->stream = stream;
    atomic_store(&at->state, ASKED);
    sem_post(&at->asked);
    bool timely = leaves(at, ASKED, all.limits.seconds * (double)n);
    if (!timely && is_alone()) {
        *end = (death){NEVER_BEGAN, ECHILD, false};
        return false;
    }
    if (!timely) {
        wish_for(at, WISH_KILL);
        leaves(at, ASKED, A_WHILE);
    }
    if (atomic_load(&at->state) == READY) {
        at->answers++;
        return true;
    }
    *end = timely ? at->end : (death){ENDED_BY_TIME, 0, false};
    return false;
}
