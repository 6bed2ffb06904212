/* What a death means. A process that has lived for a while may die of what an earlier point left behind, or of memory
 * that leaks: only a point at which a new process dies as well has density 0. The answer then depends on the point
 * alone, and draws are the same for any number of threads. */
#include "isolate.h"

#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "guard.h"
#include "workers.h"

enum { USUAL_SECONDS = 60, USUAL_DEATHS = 1000, SPARE_WORKERS = 2 };

/* Points, or draws to be shown, at which the density died. The one nearest to 0 is reported: which one comes first
 * depends on the threads. */
typedef struct deaths {
    long count;
    double distance; /* of the one that is reported, squared */
    double *x;       /* dim */
    death end;
} deaths;

static struct {
    ais_target target; /* as it was opened */
    ais_view view;     /* of the isolated one */
    char name[200];
    double seconds, gigabytes;
    long most;
    atomic_long points;   /* asked for */
    pthread_mutex_t lock; /* of what follows */
    deaths evaluated, shown;
    long revived; /* deaths at points at which a new process did not die */
    bool over;
    death no_process; /* where over, and not for the number of deaths */
} iso = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* ---- what happened -------------------------------------------------------------------------------------------- */

static void say_end(const death *end, char *text, size_t size) {
    char memory[80] = "";
    if (end->memory)
        snprintf(memory, sizeof memory, " with its memory at the limit of %.3g GB (--memory-limit)", iso.gigabytes);
    if (end->how == ENDED_BY_TIME)
        snprintf(text, size, "took longer than %g s (--time-limit)", iso.seconds);
    else if (end->how == ENDED_BY_EXIT)
        snprintf(text, size, "called exit(%d)", end->code);
    else
        snprintf(text, size, "crashed (%s, signal %d)%s", guard_signal_name(end->code), end->code, memory);
}

static void note(deaths *of, const double *x, const death *end) {
    double distance = 0;
    int dim = iso.target.dim;
    for (int i = 0; i < dim; i++) distance += x[i] * x[i];
    pthread_mutex_lock(&iso.lock);
    if (of->count++ == 0 || distance < of->distance ||
        (distance == of->distance && memcmp(x, of->x, (size_t)dim * sizeof *x) < 0)) {
        of->distance = distance;
        memcpy(of->x, x, (size_t)dim * sizeof *x);
        of->end = *end;
    }
    bool over = of->count > iso.most && !iso.over;
    iso.over = iso.over || over;
    pthread_mutex_unlock(&iso.lock);
    if (over) guard_end(x);
}

static void note_no_process(const double *x, const death *end) {
    pthread_mutex_lock(&iso.lock);
    bool first = !iso.over;
    if (first) iso.no_process = *end;
    iso.over = true;
    pthread_mutex_unlock(&iso.lock);
    if (first) guard_end(x);
}

/* "a.c died at 12 points: it crashed (...) at x = (1, 2)" */
static size_t say_deaths(const deaths *of, const char *what, char *text, size_t size) {
    char end[200], point[160];
    /* x itself: what is shown of the point may be what the density dies of. */
    const ais_target plain = {.name = iso.name, .dim = iso.target.dim, .names = iso.target.names};
    say_end(&of->end, end, sizeof end);
    ais_target_point(&plain, of->x, point, sizeof point);
    int used = snprintf(text, size, "%s; nearest to 0 it %s at %s%s", what, end,
                        iso.target.view ? "unconstrained " : "", point);
    return used < 0 ? 0 : (size_t)used < size ? (size_t)used : size - 1;
}

void isolate_say(char *text, size_t size) {
    char what[300];
    pthread_mutex_lock(&iso.lock);
    if (iso.no_process.how == NEVER_BEGAN) {
        snprintf(text, size, "cannot start a process to evaluate %s: %s", iso.name,
                 iso.no_process.code == ECHILD ? "the process that starts them was killed"
                                               : strerror(iso.no_process.code));
    } else {
        const deaths *of = iso.evaluated.count > iso.most ? &iso.evaluated : &iso.shown;
        snprintf(what, sizeof what, "%s died at %ld points, more than %ld (--most-deaths)", iso.name, of->count,
                 iso.most);
        say_deaths(of, what, text, size);
    }
    pthread_mutex_unlock(&iso.lock);
}

/* Reported like the errors of a Stan program. */
static void isolated_tell(char *text, size_t size, void *data) {
    char what[300];
    size_t used = 0;
    text[0] = '\0';
    pthread_mutex_lock(&iso.lock);
    if (iso.evaluated.count > 0) {
        snprintf(what, sizeof what, "%s died at %ld of %ld points, which count as density 0", iso.name,
                 iso.evaluated.count, atomic_load(&iso.points));
        used = say_deaths(&iso.evaluated, what, text, size);
    }
    if (iso.shown.count > 0) {
        snprintf(what, sizeof what, "%s%s died at %ld draws that were to be shown, which are NaN", used ? "; " : "",
                 iso.name, iso.shown.count);
        used += say_deaths(&iso.shown, what, text + used, size - used);
    }
    if (iso.revived > 0)
        used += (size_t)snprintf(text + used, size - used,
                                 "%s%s died %ld times where a new process did not: it leaks memory or keeps something "
                                 "from one point to the next",
                                 used ? "; " : "", iso.name, iso.revived);
    pthread_mutex_unlock(&iso.lock);
    if (!iso.target.tell || used + 2 >= size) return;
    size_t before = used;
    if (used) used += (size_t)snprintf(text + used, size - used, "; ");
    iso.target.tell(text + used, size - used, data);
    if (!text[used]) text[before] = '\0';
}

/* ---- questions ------------------------------------------------------------------------------------------------ */

typedef enum verdict { ANSWERED, DENSITY_ZERO, NO_PROCESS } verdict;

static verdict ask(worker *at, question what, size_t n, const double *x, uint64_t stream, death *end) {
    bool fresh = worker_is_fresh(at);
    if (worker_ask(at, what, n, x, stream, end)) return ANSWERED;
    if (end->how == NEVER_BEGAN) return NO_PROCESS;
    if (fresh) return DENSITY_ZERO;
    if (!worker_ask(at, what, n, x, stream, end)) return end->how == NEVER_BEGAN ? NO_PROCESS : DENSITY_ZERO;
    pthread_mutex_lock(&iso.lock);
    iso.revived++;
    pthread_mutex_unlock(&iso.lock);
    return ANSWERED;
}

/* One point: its log density, and the gradient where it is asked for. */
static double evaluate(worker *at, question what, const double *x, double *gradient) {
    death end;
    size_t dim = (size_t)iso.target.dim;
    verdict said = ask(at, what, 1, x, 0, &end);
    if (said == ANSWERED) {
        const double *answer = worker_answer(at);
        if (gradient) memcpy(gradient, answer + 1, dim * sizeof *gradient);
        return answer[0];
    }
    if (gradient) memset(gradient, 0, dim * sizeof *gradient);
    if (said == DENSITY_ZERO) note(&iso.evaluated, x, &end);
    if (said == NO_PROCESS) note_no_process(x, &end);
    return said == DENSITY_ZERO ? -INFINITY : NAN;
}

static double isolated_logp(const double *x, void *data) {
    (void)data;
    atomic_fetch_add(&iso.points, 1);
    worker *at = worker_take();
    double value = evaluate(at, ASK_LOGP, x, NULL);
    worker_give(at);
    return value;
}

static double isolated_grad(const double *x, double *gradient, void *data) {
    (void)data;
    atomic_fetch_add(&iso.points, 1);
    worker *at = worker_take();
    double value = evaluate(at, ASK_GRAD, x, gradient);
    worker_give(at);
    return value;
}

/* Of n points those from `first` on, `some` of them, into `to`, coordinate by coordinate as before. */
static void copy_points(size_t n, const double *x, size_t first, size_t some, double *to) {
    for (size_t i = 0; i < (size_t)iso.target.dim; i++) memcpy(to + i * some, x + i * n + first, some * sizeof *to);
}

/* At which point of a batch it died is only found one by one. */
static void isolated_batch(size_t n, const double *x, double *logp, void *data) {
    (void)data;
    death end;
    double *part = malloc((size_t)iso.target.dim * WORKER_POINTS * sizeof *part);
    atomic_fetch_add(&iso.points, (long)n);
    worker *at = worker_take();
    for (size_t first = 0; first < n; first += WORKER_POINTS) {
        size_t some = n - first < WORKER_POINTS ? n - first : WORKER_POINTS;
        if (part) copy_points(n, x, first, some, part);
        if (part && some > 1 && worker_ask(at, ASK_BATCH, some, part, 0, &end)) {
            memcpy(logp + first, worker_answer(at), some * sizeof *logp);
            continue;
        }
        for (size_t c = first; c < first + some; c++) {
            if (part) copy_points(n, x, c, 1, part);
            logp[c] = part ? evaluate(at, ASK_BATCH, part, NULL) : NAN;
        }
    }
    worker_give(at);
    free(part);
}

static void show_row(worker *at, const double *x, uint64_t stream, double *value, double *slope) {
    death end;
    size_t count = (size_t)iso.view.count;
    verdict said = ask(at, ASK_SHOW, 1, x, stream, &end);
    if (said == ANSWERED) {
        memcpy(value, worker_answer(at), count * sizeof *value);
        *slope = worker_answer(at)[count];
        return;
    }
    for (size_t i = 0; i < count; i++) value[i] = NAN;
    *slope = 0;
    if (said == DENSITY_ZERO) note(&iso.shown, x, &end);
    if (said == NO_PROCESS) note_no_process(x, &end);
}

static void isolated_show(size_t n, const double *x, uint64_t stream, double *value, double *slope, void *data) {
    (void)data;
    death end;
    size_t dim = (size_t)iso.target.dim, count = (size_t)iso.view.count;
    worker *at = worker_take();
    for (size_t first = 0; first < n; first += WORKER_POINTS) {
        size_t some = n - first < WORKER_POINTS ? n - first : WORKER_POINTS;
        if (some > 1 && worker_ask(at, ASK_SHOW, some, x + first * dim, stream + first, &end)) {
            memcpy(value + first * count, worker_answer(at), some * count * sizeof *value);
            memcpy(slope + first, worker_answer(at) + some * count, some * sizeof *slope);
            continue;
        }
        for (size_t r = first; r < first + some; r++)
            show_row(at, x + r * dim, stream + r, value + r * count, slope + r);
    }
    worker_give(at);
}

/* ---- opening -------------------------------------------------------------------------------------------------- */

bool isolation_makes_sense(const isolation *how) {
    bool more = how->seconds != 0 || how->gigabytes != 0 || how->deaths != 0;
    if (!how->wanted && more)
        complain(EXIT_USAGE, "--time-limit, --memory-limit and --most-deaths apply only with --isolate");
    else if (how->seconds < 0 || how->gigabytes < 0)
        complain(EXIT_USAGE, "--time-limit and --memory-limit must be more than 0");
    else
        return true;
    return false;
}

int isolation_threads(const isolation *how, int threads) { return how->wanted ? 1 : threads; }

static ais_status out_of(ais_context *context, const char *what) {
    snprintf(context->message, sizeof context->message, "--isolate: %s: %s", what, strerror(errno));
    return context->status = AIS_NO_MEMORY;
}

ais_status isolate(ais_context *context, const isolation *how, int threads, ais_target *target) {
    if (target->draws) {
        snprintf(context->message, sizeof context->message,
                 "--isolate: %.200s is a set of draws and has no density to evaluate", target->name);
        return context->status = AIS_BAD_ARGUMENT;
    }
    int cores = (int)sysconf(_SC_NPROCESSORS_ONLN), callers = threads > 0 ? threads : cores > 0 ? cores : 1;
    double memory = (double)sysconf(_SC_PHYS_PAGES) * (double)sysconf(_SC_PAGESIZE);
    iso.seconds = how->seconds > 0 ? how->seconds : USUAL_SECONDS;
    iso.gigabytes = how->gigabytes > 0 ? how->gigabytes : 0.5e-9 * memory / callers;
    iso.most = how->deaths > 0 ? how->deaths : USUAL_DEATHS;
    iso.evaluated.x = calloc(2 * (size_t)target->dim, sizeof *iso.evaluated.x);
    if (!iso.evaluated.x) return out_of(context, "memory for a point");
    iso.shown.x = iso.evaluated.x + target->dim;
    const worker_limits limits = {callers + SPARE_WORKERS, iso.seconds, 1e9 * iso.gigabytes};
    if (!workers_open(target, &limits)) return out_of(context, "a process for the density");
    iso.target = *target;
    snprintf(iso.name, sizeof iso.name, "%s", target->name);
    target->logp = isolated_logp;
    if (target->batch) target->batch = isolated_batch;
    if (target->grad) target->grad = isolated_grad;
    target->tell = isolated_tell;
    if (!target->view) return AIS_OK;
    iso.view = *target->view;
    iso.view.show = isolated_show;
    target->view = &iso.view;
    return AIS_OK;
}
