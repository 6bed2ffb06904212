/* metered.h: a density file that counts its own calls, and costs as much as it is told to.
 *
 * A density calls metered_density() at the top of logp and metered_gradient() at the top of grad. When the program
 * ends, the counts go as JSON to the file that AIS_COUNTS names. They are the truth that a program's own numbers are
 * compared with: a call that it forgot to count is counted here. With AIS_EVALUATION_MS=5 every call sleeps for 5 ms: a
 * slow density that does not depend on what else the machine does. */
#ifndef AIS_BENCH_METERED_H
#define AIS_BENCH_METERED_H

#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static atomic_long metered_densities, metered_gradients;
static double metered_setup_seconds; /* of a density that has something to load */
static struct timespec metered_delay;
static pid_t metered_process;

static inline void metered_wait(void) {
    struct timespec left = metered_delay;
    while ((left.tv_sec || left.tv_nsec) && nanosleep(&left, &left) != 0 && errno == EINTR) {
    }
}

static inline void metered_density(void) {
    atomic_fetch_add_explicit(&metered_densities, 1, memory_order_relaxed);
    metered_wait();
}

static inline void metered_gradient(void) {
    atomic_fetch_add_explicit(&metered_gradients, 1, memory_order_relaxed);
    metered_wait();
}

__attribute__((constructor)) static void metered_begin(void) {
    const char *wish = getenv("AIS_EVALUATION_MS");
    double seconds = wish ? atof(wish) / 1000 : 0;
    metered_delay.tv_sec = (time_t)seconds;
    metered_delay.tv_nsec = (long)(1e9 * (seconds - (double)metered_delay.tv_sec));
    metered_process = getpid();
}

__attribute__((destructor)) static void metered_end(void) {
    const char *path = getenv("AIS_COUNTS");
    FILE *file =
        path && getpid() == metered_process ? fopen(path, "w") : NULL; /* a forked reader has nothing to tell */
    if (!file) return;
    fprintf(file, "{\"densities\": %ld, \"gradients\": %ld, \"setup_seconds\": %.6f}\n", metered_densities,
            metered_gradients, metered_setup_seconds);
    fclose(file);
}

#endif
