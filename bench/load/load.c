/* Does anything grow? Runs of many kinds one after the other in one process, through the library: learning, drawing,
 * files, refusals, budgets that end too early.
 *
 *     load [runs=10000] [seconds=0] [effective=100] [threads=1] [rows=20] [folder=DIR] [only=KIND] [leak=0]
 *
 * seconds: goes on for so long instead of for `runs`. folder: where draws go (one of the kinds writes files); without
 * it there are none. leak: loses so many bytes in every run, and a file handle in every hundredth, on purpose: the
 * program then has to end with 1.
 *
 * `in use` is what malloc has given and not got back between two rounds of all kinds (its caches per thread are off,
 * which would count), `resident` the largest resident size since the row before, seen twenty times per second. Exits 1
 * when, over the second half of the runs, one leaves more than 8 bytes behind in the mean, handles or threads are more
 * than they were, or the largest resident size is above that of the first half by more than 10% and 8 MB. */
#define _GNU_SOURCE
#include <dirent.h>
#include <fcntl.h>
#include <malloc.h>
#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <unistd.h>

#include <aisampler/aisampler.h>

#include "../arguments.h"

enum { MOST_ROWS = 1000 };
static const double BYTES_PER_RUN = 8, RESIDENT_SHARE = 0.1, RESIDENT_BYTES = 8e6;

static double banana(const double *x, void *data) {
    (void)data;
    double bend = x[1] - x[0] * x[0];
    return -0.5 * x[0] * x[0] - 2 * bend * bend;
}
static double banana_slope(const double *x, double *gradient, void *data) {
    double bend = x[1] - x[0] * x[0];
    gradient[0] = -x[0] + 8 * bend * x[0];
    gradient[1] = -4 * bend;
    return banana(x, data);
}
static double flat(const double *x, void *data) {
    (void)x, (void)data;
    return 0;
}
static const ais_target bent = {.name = "banana", .dim = 2, .logp = banana, .grad = banana_slope};
static const ais_target without = {.name = "banana", .dim = 2, .logp = banana, .start_scale = 5};
static const ais_target improper = {.name = "flat", .dim = 2, .logp = flat};

/* One kind of run. */
typedef struct kind {
    const char *spec;      /* of a target that is opened and closed again; or */
    const ais_target *own; /* one of the above */
    bool priors, files, nuts, ladder;
    long evaluations;
    ais_status expected;
    int every; /* only in every so-manieth round */
} kind;
static const kind kinds[] = {
    {.spec = "mog6"},
    {.own = &bent},
    {.own = &without},
    {.own = &bent, .files = true},
    {.own = &bent, .nuts = true},
    {.own = &without, .priors = true},
    {.spec = "gaussian:dim=10"},
    {.spec = "linear:examples/exam.csv:label=hours,drop=open+passed"},
    {.own = &improper, .expected = AIS_BAD_DENSITY},
    {.spec = "funnel", .evaluations = 2000, .expected = AIS_SPENT},
    {.spec = "ring5", .every = 10},
    {.spec = "mog2", .ladder = true, .every = 20},
};
enum { KINDS = sizeof kinds / sizeof *kinds };

static ais_status sinks_of(ais_context *context, const char *folder, ais_sink **sinks) {
    ais_status status = ais_directory_make(context, folder);
    if (status == AIS_OK) status = ais_sink_netcdf(context, folder, &sinks[0]);
    if (status == AIS_OK) status = ais_sink_stan_csv(context, folder, &sinks[1]);
    return status;
}

static ais_status run_once(ais_context *context, const kind *k, uint64_t seed, int threads, double effective,
                           const char *folder) {
    static const ais_parameter priors[] = {{"a", AIS_NORMAL(0, 3)}, {"b", AIS_HALF_NORMAL(2)}};
    ais_target *opened = NULL;
    ais_kernel *given = NULL;
    ais_sink *sinks[2] = {0};
    ais_run_result *result = NULL;
    const ais_train_options learning = {.ladder = k->ladder};
    ais_run_options options = {AIS_RUN_HEAD,
                               .seed = seed,
                               .chains = 4,
                               .threads = threads,
                               .effective = effective,
                               .evaluations = k->evaluations,
                               .learning = k->ladder ? &learning : NULL};
    ais_status status = AIS_OK;
    if (k->spec) status = ais_target_open(context, k->spec, &opened);
    if (k->priors) status = ais_target_with(context, k->own, priors, 2, &opened);
    if (status == AIS_OK && k->nuts) status = ais_kernel_nuts(context, NULL, &given);
    if (status == AIS_OK && k->files && folder) {
        status = sinks_of(context, folder, sinks);
        options.sinks = sinks;
        options.sink_count = 2;
    }
    options.before.kernel = given;
    if (status == AIS_OK) status = ais_run(context, opened ? opened : k->own, &options, &result);
    ais_run_free(result);
    for (int i = 0; i < 2; i++) ais_sink_free(sinks[i]);
    ais_kernel_free(given);
    ais_target_close(opened);
    return status;
}

static int entries(const char *folder) {
    DIR *directory = opendir(folder);
    int count = 0;
    while (directory && readdir(directory)) count++;
    if (directory) closedir(directory);
    return count - 2;
}

static double resident(void) {
    long pages = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    if (!file || fscanf(file, "%*d %ld", &pages) != 1) pages = 0;
    if (file) fclose(file);
    return (double)pages * (double)sysconf(_SC_PAGESIZE);
}

static atomic_long largest;
static atomic_bool over;
static void *watch(void *nothing) {
    while (!over) {
        long here = (long)resident();
        if (here > largest) largest = here;
        usleep(50000);
    }
    return nothing;
}

typedef struct row {
    double seconds, in_use, resident;
    long runs;
    int handles, threads;
} row;

static row look(double start, long runs) {
    struct mallinfo2 heap = mallinfo2();
    row r = {.seconds = now() - start,
             .in_use = (double)heap.uordblks + (double)heap.hblkhd,
             .resident = fmax((double)atomic_exchange(&largest, 0), resident()),
             .runs = runs,
             .handles = entries("/proc/self/fd") - 1, /* that of the folder itself */
             .threads = entries("/proc/self/task")};
    printf("%8.0f %8ld %12.0f %10.1f %8d %8d\n", r.seconds, r.runs, r.in_use, r.resident / 1e6, r.handles, r.threads);
    fflush(stdout);
    return r;
}

static double largest_of(const row *r, int from, int to) {
    double most = 0;
    for (int i = from; i < to; i++) most = fmax(most, r[i].resident);
    return most;
}

static int judge(const row *r, int n) {
    if (n < 8) return fprintf(stderr, "load: %d rows say nothing, 8 or more do: a larger number of runs\n", n), 2;
    const row *from = &r[n / 2], *to = &r[n - 1];
    double left = (to->in_use - from->in_use) / (double)(to->runs - from->runs);
    double before = largest_of(r, 0, n / 2 + 1), after = largest_of(r, n / 2 + 1, n);
    bool grows = after > before * (1 + RESIDENT_SHARE) && after > before + RESIDENT_BYTES;
    bool flat_enough = left <= BYTES_PER_RUN && to->handles <= from->handles && to->threads <= from->threads && !grows;
    printf(
        "%ld runs after the first %ld: %.2f bytes left per run; handles %d, then %d; threads %d, then %d; resident at "
        "most %.1f MB before, %.1f after: %s\n",
        to->runs - from->runs, from->runs, left, from->handles, to->handles, from->threads, to->threads, before / 1e6,
        after / 1e6, flat_enough ? "flat" : "IT GROWS");
    return !flat_enough;
}

int main(int count, char **argument) {
    words = count, word = argument;
    if (!getenv("GLIBC_TUNABLES")) {
        setenv("GLIBC_TUNABLES", "glibc.malloc.tcache_count=0", 1);
        execv("/proc/self/exe", argument);
    }
    double seconds = number("seconds", 0), effective = number("effective", 100), start = now();
    long most = seconds > 0 ? 1L << 60 : (long)number("runs", 10000), runs = 0, leak = (long)number("leak", 0);
    int rows = (int)fmin(number("rows", 20), MOST_ROWS - 1), n = 0, threads = (int)number("threads", 1),
        only = (int)number("only", 0);
    const char *folder = text("folder", NULL);
    static row table[MOST_ROWS];
    pthread_t watcher;
    if (pthread_create(&watcher, NULL, watch, NULL) != 0) return 2;
    printf("%8s %8s %12s %10s %8s %8s\n", "seconds", "runs", "in use", "resident", "handles", "threads");
    for (long round = 0; runs < most && (seconds <= 0 || now() - start < seconds); round++) {
        for (int k = 0; k < KINDS; k++) {
            if (only ? k + 1 != only : kinds[k].every && round % kinds[k].every) continue;
            ais_context context = {0};
            ais_status status = run_once(&context, &kinds[k], (uint64_t)runs + 1, threads, effective, folder);
            if (status != kinds[k].expected) {
                fprintf(stderr, "load: kind %d, seed %ld: status %d, %s\n", k + 1, runs + 1, (int)status,
                        context.message);
                return 2;
            }
            runs++;
            volatile char *lost = leak ? malloc((size_t)leak) : NULL;
            if (lost) *lost = 1;
            if (leak && runs % 100 == 0 && open("/dev/null", O_RDONLY) < 0) return 2;
        }
        double done = seconds > 0 ? (now() - start) / seconds : (double)runs / (double)most;
        if (done * rows >= n && n < MOST_ROWS) table[n++] = look(start, runs);
    }
    over = true;
    pthread_join(watcher, NULL);
    return judge(table, n);
}
