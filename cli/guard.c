/* How it works: every guarded call notes its point and a place to come back to, in a slot of its thread. A fatal signal
 * that arrives on a thread inside of a call comes back there, and the call answers NaN; so do all later ones, because
 * the state that the density left behind is unknown. The flag that Ctrl-C sets is set first: a step that fails after
 * that is abandoned and does not fail the run (run.h, `stop`). A lock that the density held, one of malloc's for
 * instance, is held for ever. So the command has some seconds to write its files; then an alarm ends it, with the same
 * line. */
#define _GNU_SOURCE /* RTLD_NEXT */
#include "guard.h"

#include <dlfcn.h>
#include <math.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "workers.h"

enum { MOST_THREADS = 4096, GRACE_SECONDS = 60, STACK_BYTES = 32768 };

/* Of one thread. */
typedef struct call {
    volatile sig_atomic_t inside;
    const double *x; /* coordinate i is x[i * points], `points` of them in a row */
    size_t points;
    pthread_t thread;
    sigjmp_buf back;
} call;

typedef enum trip_kind { TRIP_SIGNAL, TRIP_EXIT, TRIP_INSISTED, TRIP_ISOLATED } trip_kind;

static struct {
    const ais_target *target;     /* NULL: nothing is guarded */
    const char *volatile opening; /* the name of what is being opened */
    char name[256];
    ais_logp *logp; /* the density's own functions */
    ais_logp_batch *batch;
    ais_grad *grad;
    const ais_view *view;
    ais_view guarded_view;
    call slot[MOST_THREADS];
    atomic_int slots; /* taken */
    atomic_bool tripped;
    /* What happened, written once, by the call that tripped it. */
    trip_kind kind;
    int code; /* the signal, or the argument of exit */
    size_t points;
    double *x; /* dim, and there before anything can happen */
    char message[1100];
} guard;

static _Thread_local call *mine;
static _Thread_local char overflow_stack[STACK_BYTES]; /* a handler's, when the thread's own has run over */

/* ---- what happened --------------------------------------------------------------------------------- */

static void trip(trip_kind how, int code, const call *at) {
    if (atomic_exchange(&guard.tripped, true)) return;
    guard.kind = how;
    guard.code = code;
    guard.points = at->points;
    for (int i = 0; i < guard.target->dim; i++) guard.x[i] = at->x[(size_t)i * at->points];
}

const char *guard_signal_name(int number) {
    switch (number) {
    case SIGSEGV:
        return "segmentation fault";
    case SIGBUS:
        return "bus error";
    case SIGFPE:
        return "arithmetic exception, e.g. a whole number divided by zero";
    case SIGILL:
        return "illegal instruction";
    case SIGABRT:
        return "abort";
    case SIGKILL:
        return "killed, perhaps because memory ran out";
    default:
        return "terminated";
    }
}

static void say_what(char *text, size_t size) {
    if (guard.kind == TRIP_ISOLATED)
        isolate_say(text, size);
    else if (guard.kind == TRIP_EXIT)
        snprintf(text, size, "%s called exit(%d)", guard.name, guard.code);
    else if (guard.kind == TRIP_INSISTED)
        snprintf(text, size, "%s did not return and was abandoned", guard.name);
    else
        snprintf(text, size, "%s crashed (%s, signal %d)", guard.name, guard_signal_name(guard.code), guard.code);
}

bool guard_tripped(void) { return atomic_load_explicit(&guard.tripped, memory_order_relaxed); }

/* ---- signals --------------------------------------------------------------------------------------- */

static void put(const char *text) {
    size_t left = strlen(text);
    while (left > 0) {
        ssize_t done = write(STDERR_FILENO, text, left);
        if (done <= 0) return;
        text += done;
        left -= (size_t)done;
    }
}

/* Time is over: what is safe in a handler, without the point. */
static void give_up(int number) {
    (void)number;
    put("aisampler: ");
    put(guard.name);
    put(guard.kind == TRIP_SIGNAL ? " crashed" : " was abandoned");
    put(", and the files could not be completed afterwards: what was drawn is in the files called .part\n");
    _exit(EXIT_FAILED);
}

/* Back into the guarded call of this thread. */
static void escape(call *here) {
    here->inside = 0;
    ask_to_stop(); // NOLINT(bugprone-signal-handler): it sets a flag
    signal(SIGALRM, give_up);
    alarm(GRACE_SECONDS);
    siglongjmp(here->back, 1);
}

/* Nothing was drawn yet: there is nothing to keep. */
static void fail_to_open(const char *how, const char *more) {
    const char *line[] = {"aisampler: ", guard.opening, " ", how, more, " while it was opened\n"};
    for (size_t i = 0; i < sizeof line / sizeof *line; i++) put(line[i]);
    for (;;) syscall(SYS_exit_group, EXIT_FAILED); // NOLINT(bugprone-signal-handler)
}

static void crashed(int number) {
    call *here = mine;
    if (guard.opening) fail_to_open("crashed: ", guard_signal_name(number)); // NOLINT(bugprone-signal-handler)
    if (here && here->inside) {
        trip(TRIP_SIGNAL, number, here);
        escape(here);
    }
    signal(number, SIG_DFL); /* not the density's doing */
    raise(number);
}

static void insisted(int number) {
    (void)number;
    if (mine && mine->inside) escape(mine);
}

void guard_end(const double *x) {
    trip(TRIP_ISOLATED, 0, &(call){.x = x, .points = 1});
    ask_to_stop();
}

bool guard_watches(void) { return guard.target != NULL; }

bool guard_insist(void) {
    bool any = false, own = false;
    int slots = atomic_load(&guard.slots), most = slots < MOST_THREADS ? slots : MOST_THREADS;
    for (int k = 0; k < most; k++) {
        call *at = &guard.slot[k];
        if (!at->inside) continue;
        if (!any) trip(TRIP_INSISTED, 0, at);
        any = true;
        if (pthread_equal(at->thread, pthread_self()))
            own = true;
        else
            pthread_kill(at->thread, SIGUSR2);
    }
    if (own) pthread_kill(pthread_self(), SIGUSR2); /* last, because it does not return */
    return any;
}

#define EXPORTED __attribute__((visibility("default")))

/* exit and its kin of the whole program, so that a density that calls them comes here (the linker exports them):
 * functions that libraries registered for exit, HDF5 for one, must not run before the files are complete. */
static void leave(int code) {
    worker_leave(code); // NOLINT(bugprone-signal-handler): outside of a worker it does nothing
    if (guard.opening) fail_to_open("called exit", "");
    if (!mine || !mine->inside) return;
    trip(TRIP_EXIT, code, mine);
    escape(mine);
}

EXPORTED void exit(int code) {
    leave(code);
    void *real = dlsym(RTLD_NEXT, "exit");
    void (*function)(int);
    memcpy(&function, &real, sizeof function);
    if (real) function(code);
    _exit(code);
}

/* A handler of signals may come here. */
EXPORTED void _exit(int code) {
    leave(code);
    for (;;) syscall(SYS_exit_group, code); // NOLINT(bugprone-signal-handler)
}

/* The same without what was registered for exit, and with what was registered for it alone; nothing here uses it. */
EXPORTED void _Exit(int code) { _exit(code); }
EXPORTED void quick_exit(int code) { _exit(code); }

int guard_close(int code) {
    alarm(0);
    workers_close();
    return guard_tripped() && code == 0 ? EXIT_FAILED : code;
}

static void catch_crashes(void) {
    static const int fatal[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};
    /* NODEFER: a handler that is left by a jump must not leave its signal blocked. */
    struct sigaction action = {.sa_handler = crashed, .sa_flags = SA_NODEFER | SA_ONSTACK};
    for (size_t i = 0; i < sizeof fatal / sizeof *fatal; i++) sigaction(fatal[i], &action, NULL);
    action.sa_handler = insisted;
    sigaction(SIGUSR2, &action, NULL);
}

/* ---- calls ----------------------------------------------------------------------------------------- */

/* A slot for this thread; false when there are none left, and calls are then not guarded. */
static bool take_slot(void) {
    int k = atomic_fetch_add(&guard.slots, 1);
    if (k >= MOST_THREADS) {
        atomic_store(&guard.slots, MOST_THREADS);
        return false;
    }
    stack_t old, own = {.ss_sp = overflow_stack, .ss_size = sizeof overflow_stack};
    if (sigaltstack(NULL, &old) == 0 && old.ss_flags & SS_DISABLE) sigaltstack(&own, NULL);
    mine = &guard.slot[k];
    mine->thread = pthread_self();
    return true;
}

static inline bool enter(const double *x, size_t points) {
    if (!mine && !take_slot()) return false;
    mine->x = x;
    mine->points = points;
    return true;
}

static double guarded_logp(const double *x, void *data) {
    if (guard_tripped()) return NAN;
    if (!enter(x, 1)) return guard.logp(x, data);
    if (sigsetjmp(mine->back, 0) != 0) return NAN;
    mine->inside = 1;
    double value = guard.logp(x, data);
    mine->inside = 0;
    return value;
}

static double guarded_grad(const double *x, double *gradient, void *data) {
    if (guard_tripped()) return NAN;
    if (!enter(x, 1)) return guard.grad(x, gradient, data);
    if (sigsetjmp(mine->back, 0) != 0) return NAN;
    mine->inside = 1;
    double value = guard.grad(x, gradient, data);
    mine->inside = 0;
    return value;
}

/* False if it was abandoned. */
static bool try_batch(size_t n, const double *x, double *logp, void *data) {
    if (guard_tripped()) return false;
    if (!enter(x, n)) {
        guard.batch(n, x, logp, data);
        return true;
    }
    if (sigsetjmp(mine->back, 0) != 0) return false;
    mine->inside = 1;
    guard.batch(n, x, logp, data);
    mine->inside = 0;
    return true;
}

static void guarded_batch(size_t n, const double *x, double *logp, void *data) {
    if (try_batch(n, x, logp, data)) return;
    for (size_t c = 0; c < n; c++) logp[c] = NAN;
}

/* A transform of the unit cube is the user's code, too. Draws from before a crash are still to be shown after it. */
static bool try_show(const double *x, uint64_t stream, double *value, double *slope, void *data) {
    if (!enter(x, 1)) {
        guard.view->show(1, x, stream, value, slope, data);
        return true;
    }
    if (sigsetjmp(mine->back, 0) != 0) return false;
    mine->inside = 1;
    guard.view->show(1, x, stream, value, slope, data);
    mine->inside = 0;
    return true;
}

static void guarded_show(size_t n, const double *x, uint64_t stream, double *value, double *slope, void *data) {
    size_t dim = (size_t)guard.target->dim, count = (size_t)guard.view->count;
    for (size_t r = 0; r < n; r++) {
        if (try_show(x + r * dim, stream + r, value + r * count, slope + r, data)) continue;
        for (size_t i = 0; i < count; i++) value[r * count + i] = NAN;
        slope[r] = NAN;
    }
}

/* ---- the message ----------------------------------------------------------------------------------- */

/* The point on the user's scale, or x where that cannot be computed. */
static void say_where(char *text, size_t size) {
    ais_target plain = {.name = guard.target->name, .dim = guard.target->dim, .names = guard.target->names};
    double slope, *value = guard.view ? calloc((size_t)guard.view->count, sizeof *value) : NULL;
    if (value && try_show(guard.x, 0, value, &slope, guard.target->data)) {
        ais_target_point(guard.target, guard.x, text, size);
    } else {
        size_t used = guard.target->view ? (size_t)snprintf(text, size, "unconstrained ") : 0;
        ais_target_point(&plain, guard.x, text + used, size - used);
    }
    free(value);
}

const char *guard_message(void) {
    if (!atomic_load(&guard.tripped)) return NULL;
    if (guard.message[0]) return guard.message;
    char what[600], where[400];
    say_what(what, sizeof what);
    if (guard.kind == TRIP_ISOLATED) {
        snprintf(guard.message, sizeof guard.message, "%s", what);
        return guard.message;
    }
    say_where(where, sizeof where);
    snprintf(guard.message, sizeof guard.message, "%s at %s%s%s", what,
             guard.points > 1 ? "a batch of points, the first of which is " : "", where,
             guard.kind == TRIP_SIGNAL ? " (debug=on after the file's name builds it for gdb)" : "");
    return guard.message;
}

/* ---- opening --------------------------------------------------------------------------------------- */

/* FILE.c or FILE.so, with keys or without. */
static bool is_code(const char *spec) {
    size_t length = strlen(spec);
    if (strstr(spec, ".c:") || strstr(spec, ".so:")) return true;
    return (length > 2 && strcmp(spec + length - 2, ".c") == 0) ||
           (length > 3 && strcmp(spec + length - 3, ".so") == 0);
}

/* A file's constructors and its own `open` are the user's code, too. */
static ais_status open_guarded(ais_context *context, const char *spec, bool code, ais_target **target) {
    if (code) {
        catch_crashes();
        guard.opening = spec;
    }
    ais_status status = ais_target_open(context, spec, target);
    guard.opening = NULL;
    return status;
}

static ais_status guard_calls(ais_context *context, ais_target *target) {
    guard.x = calloc((size_t)target->dim, sizeof *guard.x);
    if (!guard.x) {
        snprintf(context->message, sizeof context->message, "out of memory");
        return context->status = AIS_NO_MEMORY;
    }
    guard.target = target;
    snprintf(guard.name, sizeof guard.name, "%s", target->name);
    guard.logp = target->logp;
    guard.batch = target->batch;
    guard.grad = target->grad;
    target->logp = guarded_logp;
    if (guard.batch) target->batch = guarded_batch;
    if (guard.grad) target->grad = guarded_grad;
    /* What a Stan program shows stays as it is: after a crash it may wait for its own lock for ever. */
    guard.view = target->view && target->view->generated ? NULL : target->view;
    if (guard.view) {
        guard.guarded_view = *guard.view;
        guard.guarded_view.show = guarded_show;
        target->view = &guard.guarded_view;
    }
    catch_crashes();
    return AIS_OK;
}

ais_status guard_open(ais_context *context, const char *spec, const isolation *how, int threads, ais_target **target) {
    bool regression = strncmp(spec, "blr:", 4) == 0 || strncmp(spec, "linear:", 7) == 0 ||
                      strncmp(spec, "poisson:", 8) == 0 || strncmp(spec, "data:", 5) == 0;
    bool code = !regression && is_code(spec);
    ais_status status = open_guarded(context, spec, code, target);
    if (status == AIS_OK && how->wanted) status = isolate(context, how, threads, *target);
    if (status == AIS_OK && !guard.target && (code || how->wanted)) status = guard_calls(context, *target);
    if (status == AIS_OK) return AIS_OK;
    ais_target_close(*target);
    *target = NULL;
    return status;
}
