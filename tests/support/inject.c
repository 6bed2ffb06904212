/* Faults for the command, from outside: LD_PRELOADed, it makes the n-th call of a kind fail, whichever library makes
 * it.
 *
 *     AIS_FAULT=KIND:N       the N-th call (from 1) of this kind fails, the next one works again
 *     AIS_FAULT=KIND:N+      all fail from the N-th on
 *     AIS_FAULT=CLOCK:N:S    from the N-th question on the clock (realtime, monotonic) is S seconds ahead
 *     AIS_FAULT_ERROR=E      the error's number, where a kind has several
 *     AIS_FAULT_LOG=FILE     counts of calls and whether the fault has come to pass; made by whoever asks for it
 *     AIS_FAULT_TRACE=KIND   notes in FILE where every call of this kind came from (a hash of the stack)
 *     AIS_FAULT_STACK=1      prints on stderr where the call came from that failed
 *
 * Memory, threads, processes and clocks are functions that the linker finds here first. Calls of the system are trapped
 * by seccomp, because stdio makes them within libc, where no linker sees them: the handler makes them itself, told
 * apart by a sixth argument that none of them has. Only those of this libc are trapped, so that programs which the
 * command starts (a compiler), at other addresses, are left alone. Counts are shared with forked processes. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <execinfo.h>
#include <fcntl.h>
#include <link.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <malloc.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

enum { MALLOC, THREAD, FORK, WRITE, SYNC, RENAME, OPEN, TRUNCATE, MAKE, READ, CLOSE, LOCK, REALTIME, MONOTONIC, KINDS };
static const char *const kind_name[KINDS] = {"malloc",   "thread", "fork", "write", "sync", "rename",   "open",
                                             "truncate", "make",   "read", "close", "lock", "realtime", "monotonic"};
enum { MOST_TRACES = 1 << 22, DEPTH = 24 };

/* The file: what the harness reads. */
typedef struct notes {
    atomic_ulong count[KINDS];
    atomic_ulong fired;
    uint32_t trace[]; /* MOST_TRACES, with AIS_FAULT_TRACE */
} notes;

static struct {
    bool on, for_good, shown;
    int kind, traced, error;
    unsigned long number;
    double shift;
    notes *log;
} fault = {.kind = -1, .traced = -1};
static notes unseen;
static _Thread_local bool busy __attribute__((tls_model("initial-exec")));

static uint32_t stack_hash(void) {
    void *address[DEPTH];
    int depth = backtrace(address, DEPTH);
    uint64_t sum = 1469598103934665603u;
    for (int i = 0; i < depth; i++) sum = (sum ^ (uint64_t)(uintptr_t)address[i]) * 1099511628211u;
    return (uint32_t)(sum ^ sum >> 32);
}

/* Whether this call of the kind is to fail. */
static bool hit(int kind) {
    if (!fault.on || busy) return false;
    unsigned long now = atomic_fetch_add(&fault.log->count[kind], 1) + 1;
    if (fault.traced == kind && now <= MOST_TRACES) {
        busy = true;
        fault.log->trace[now - 1] = stack_hash();
        busy = false;
    }
    if (fault.kind != kind || now < fault.number || (now > fault.number && !fault.for_good)) return false;
    atomic_fetch_add(&fault.log->fired, 1);
    if (fault.shown) {
        void *address[DEPTH];
        busy = true;
        backtrace_symbols_fd(address, backtrace(address, DEPTH), STDERR_FILENO);
        busy = false;
    }
    return true;
}

/* ---- memory, threads, processes, clocks ------------------------------------------------------------ */

void *__libc_malloc(size_t bytes);
void *__libc_calloc(size_t count, size_t bytes);
void *__libc_realloc(void *old, size_t bytes);
void *__libc_memalign(size_t alignment, size_t bytes);

static void *no_memory(void) {
    errno = ENOMEM;
    return NULL;
}

void *malloc(size_t bytes) { return hit(MALLOC) ? no_memory() : __libc_malloc(bytes); }
void *calloc(size_t count, size_t bytes) { return hit(MALLOC) ? no_memory() : __libc_calloc(count, bytes); }
void *realloc(void *old, size_t bytes) { return hit(MALLOC) ? no_memory() : __libc_realloc(old, bytes); }
void *memalign(size_t alignment, size_t bytes) { return hit(MALLOC) ? no_memory() : __libc_memalign(alignment, bytes); }
void *aligned_alloc(size_t alignment, size_t bytes) {
    return hit(MALLOC) ? no_memory() : __libc_memalign(alignment, bytes);
}
int posix_memalign(void **out, size_t alignment, size_t bytes) {
    void *made = hit(MALLOC) ? NULL : __libc_memalign(alignment, bytes);
    if (!made) return ENOMEM;
    *out = made;
    return 0;
}

void *mmap(void *where, size_t bytes, int protection, int flags, int descriptor, off_t offset) {
    if (hit(MALLOC)) {
        errno = ENOMEM;
        return MAP_FAILED;
    }
    return (void *)syscall(SYS_mmap, where, bytes, protection, flags, descriptor, offset);
}

#define REAL(name) real_function(#name)
static void *real_function(const char *name) {
    busy = true;
    void *found = dlsym(RTLD_NEXT, name);
    busy = false;
    return found;
}

int pthread_create(pthread_t *thread, const pthread_attr_t *how, void *(*start)(void *), void *data) {
    if (hit(THREAD)) return EAGAIN;
    int (*real)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
    *(void **)&real = REAL(pthread_create);
    return real(thread, how, start, data);
}

pid_t fork(void) {
    if (hit(FORK)) {
        errno = EAGAIN;
        return -1;
    }
    pid_t (*real)(void);
    *(void **)&real = REAL(fork);
    return real();
}

/* posix_spawn opens files in a child without handlers of signals, where a trapped call is deadly: it is done by hand.
 */
enum { MOST_ACTIONS = 16 };
static struct {
    int descriptor, from, flags; /* from: to be doubled, or -1 */
    mode_t mode;
    char path[4096];
} step[MOST_ACTIONS];
static int steps;

int posix_spawn_file_actions_init(posix_spawn_file_actions_t *list) {
    (void)list;
    steps = 0;
    return 0;
}

int posix_spawn_file_actions_destroy(posix_spawn_file_actions_t *list) {
    (void)list;
    return 0;
}

int posix_spawn_file_actions_addopen(posix_spawn_file_actions_t *restrict list, int descriptor,
                                     const char *restrict path, int flags, mode_t mode) {
    (void)list;
    step[steps].descriptor = descriptor;
    step[steps].from = -1;
    step[steps].flags = flags;
    step[steps].mode = mode;
    snprintf(step[steps++].path, sizeof step[0].path, "%s", path);
    return 0;
}

int posix_spawn_file_actions_adddup2(posix_spawn_file_actions_t *list, int from, int descriptor) {
    (void)list;
    step[steps].descriptor = descriptor;
    step[steps++].from = from;
    return 0;
}

int posix_spawnp(pid_t *child, const char *file, const posix_spawn_file_actions_t *list, const posix_spawnattr_t *how,
                 char *const arguments[], char *const environment[]) {
    (void)list, (void)how, (void)environment;
    if ((*child = fork()) < 0) return errno;
    if (*child > 0) return 0;
    fault.on = false;
    for (int i = 0; i < steps; i++) {
        int from = step[i].from;
        if (from < 0) from = open(step[i].path, step[i].flags, step[i].mode);
        if (from != step[i].descriptor) dup2(from, step[i].descriptor);
    }
    execvp(file, arguments);
    _exit(127);
}

int clock_gettime(clockid_t clock, struct timespec *time) {
    static int (*real)(clockid_t, struct timespec *);
    if (!real) *(void **)&real = REAL(clock_gettime);
    int code = real(clock, time);
    int kind = clock == CLOCK_REALTIME ? REALTIME : clock == CLOCK_MONOTONIC ? MONOTONIC : -1;
    if (code == 0 && kind >= 0 && hit(kind)) time->tv_sec += (time_t)fault.shift;
    return code;
}

time_t time(time_t *out) {
    struct timespec now = {0};
    clock_gettime(CLOCK_REALTIME, &now);
    if (out) *out = now.tv_sec;
    return now.tv_sec;
}

/* ---- calls of the system --------------------------------------------------------------------------- */

#ifdef __x86_64__
#define MAGIC 0x6661756c74UL

static const struct {
    int number, kind, error;
} call[] = {
    {SYS_write, WRITE, ENOSPC},        {SYS_pwrite64, WRITE, ENOSPC}, {SYS_writev, WRITE, ENOSPC},
    {SYS_pwritev, WRITE, ENOSPC},      {SYS_fsync, SYNC, EIO},        {SYS_fdatasync, SYNC, EIO},
    {SYS_rename, RENAME, EIO},         {SYS_renameat, RENAME, EIO},   {SYS_renameat2, RENAME, EIO},
    {SYS_open, OPEN, EMFILE},          {SYS_openat, OPEN, EMFILE},    {SYS_creat, OPEN, EMFILE},
    {SYS_ftruncate, TRUNCATE, ENOSPC}, {SYS_mkdir, MAKE, ENOSPC},     {SYS_pipe2, MAKE, EMFILE},
    {SYS_socketpair, MAKE, EMFILE},    {SYS_read, READ, EIO},         {SYS_pread64, READ, EIO},
    {SYS_close, CLOSE, EIO},           {SYS_flock, LOCK, ENOLCK},
};
enum { CALLS = sizeof call / sizeof *call };

static long pass_on(const greg_t *r, long number) {
    return syscall(number, r[REG_RDI], r[REG_RSI], r[REG_RDX], r[REG_R10], r[REG_R8], MAGIC);
}

static void trapped(int signal_number, siginfo_t *info, void *context) {
    (void)signal_number;
    greg_t *r = ((ucontext_t *)context)->uc_mcontext.gregs;
    int before = errno, i = 0;
    while (i < CALLS - 1 && call[i].number != info->si_syscall) i++;
    bool said = call[i].kind == WRITE && r[REG_RDI] == STDERR_FILENO; /* the line itself is let through */
    bool fails = !said && hit(call[i].kind);
    long result = 0;
    if (fails && call[i].kind != CLOSE) {
        r[REG_RAX] = -(fault.error ? fault.error : call[i].error);
    } else {
        result = pass_on(r, info->si_syscall);
        r[REG_RAX] = result < 0 ? -errno : result;
        if (fails) r[REG_RAX] = -(fault.error ? fault.error : call[i].error); /* closed all the same, as Linux does */
    }
    errno = before;
}

/* Where libc's code is. */
static int find_libc(struct dl_phdr_info *info, size_t size, void *data) {
    uint64_t *range = data;
    (void)size;
    const char *base = strrchr(info->dlpi_name, '/');
    if (!base || strncmp(base, "/libc.so", 8) != 0) return 0;
    for (int i = 0; i < info->dlpi_phnum; i++)
        if (info->dlpi_phdr[i].p_type == PT_LOAD && info->dlpi_phdr[i].p_flags & PF_X) {
            range[0] = info->dlpi_addr + info->dlpi_phdr[i].p_vaddr;
            range[1] = range[0] + info->dlpi_phdr[i].p_memsz;
        }
    return 1;
}

/* The filter compares halves of addresses: once in some thousand processes the upper ones of libc are two. */
static bool libc_is_split(void) {
    uint64_t range[2] = {0, 0};
    dl_iterate_phdr(find_libc, range);
    return range[0] >> 32 != range[1] >> 32;
}

static bool trap_calls(void) {
    uint64_t range[2] = {0, 0};
    dl_iterate_phdr(find_libc, range);
    if (!range[0] || libc_is_split()) return false;
    struct sock_filter filter[CALLS + 16];
    unsigned short n = 0;
#define FIELD(name, word) BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, name) + (word))
    filter[n++] = (struct sock_filter)FIELD(arch, 0);
    filter[n++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, AUDIT_ARCH_X86_64, 1, 0);
    filter[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
    filter[n++] = (struct sock_filter)FIELD(nr, 0);
    for (int i = 0; i < CALLS; i++)
        filter[n++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)call[i].number,
                                                   (unsigned char)(CALLS - i), 0);
    filter[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
    filter[n++] = (struct sock_filter)FIELD(args[5], 0);
    filter[n++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)(MAGIC & 0xffffffff), 5, 0);
    filter[n++] = (struct sock_filter)FIELD(instruction_pointer, 4);
    filter[n++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)(range[0] >> 32), 0, 3);
    filter[n++] = (struct sock_filter)FIELD(instruction_pointer, 0);
    filter[n++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, (unsigned)range[0], 0, 1);
    filter[n++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JGT | BPF_K, (unsigned)range[1], 0, 1);
    filter[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
    filter[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRAP);
    struct sigaction action = {.sa_sigaction = trapped, .sa_flags = SA_SIGINFO | SA_NODEFER | SA_RESTART};
    struct sock_fprog program = {n, filter};
    return sigaction(SIGSYS, &action, NULL) == 0 && prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
           prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}
#else
static bool libc_is_split(void) { return false; }
static bool trap_calls(void) { return false; }
#endif

/* ---- what is asked for ----------------------------------------------------------------------------- */

static int find_kind(const char *text) {
    for (int k = 0; text && k < KINDS; k++)
        if (strncmp(text, kind_name[k], strlen(kind_name[k])) == 0) return k;
    return -1;
}

static void open_log(void) {
    const char *path = getenv("AIS_FAULT_LOG");
    struct stat status;
    int file = path ? open(path, O_RDWR | O_CLOEXEC) : -1;
    fault.log = &unseen;
    if (file >= 0 && fstat(file, &status) == 0) {
        void *map = mmap(NULL, (size_t)status.st_size, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
        if (map != MAP_FAILED) fault.log = map;
    }
    if (file >= 0) close(file);
}

__attribute__((constructor)) static void begin(int count, char **words, char **environment) {
    (void)count;
    const char *wanted = getenv("AIS_FAULT"), *only = getenv("AIS_FAULT_COMMAND"), *error = getenv("AIS_FAULT_ERROR");
    if (strcmp(program_invocation_short_name, only ? only : "aisampler") != 0) return;
    open_log();
    fault.kind = find_kind(wanted);
    fault.traced = fault.log != &unseen ? find_kind(getenv("AIS_FAULT_TRACE")) : -1;
    fault.error = error ? atoi(error) : 0;
    fault.shown = getenv("AIS_FAULT_STACK") != NULL;
    if (fault.kind >= 0) {
        char *end = NULL;
        const char *colon = strchr(wanted, ':');
        fault.number = colon ? strtoul(colon + 1, &end, 10) : 1;
        fault.for_good = end && (*end == '+' || *end == ':');
        if (end && *end == ':') fault.shift = atof(end + 1);
    }
    void *address[2];
    backtrace(address, 2); /* it loads a library when it is first called */
    if (!trap_calls()) {
        if (libc_is_split()) execve("/proc/self/exe", words, environment); /* it will lie elsewhere */
        static const char text[] = "inject: calls of the system cannot be trapped here\n";
        if (write(STDERR_FILENO, text, sizeof text - 1) < 0) _exit(78);
        _exit(78);
    }
    fault.on = true;
}
