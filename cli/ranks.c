/* Open MPI under ais_ranks. Every exchange is non-blocking and polled, so that a rank can leave when another was
 * killed: mpirun then sends SIGTERM to the rest and grants them a second, enough to complete the files. */
#include "ranks.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "cli.h"

static char held[1200];

void ranks_hold(const char *line) { snprintf(held, sizeof held, "%s", line); }

static int from_environment(const char *open_mpi, const char *others, int otherwise) {
    const char *text = getenv(open_mpi);
    if (!text) text = getenv(others);
    return text ? atoi(text) : otherwise;
}

static int launched_size(void) { return from_environment("OMPI_COMM_WORLD_SIZE", "PMI_SIZE", 1); }

bool ranks_lead(void) { return from_environment("OMPI_COMM_WORLD_RANK", "PMI_RANK", 0) == 0; }

#ifdef AIS_MPI
#include <mpi.h>

static const double patience = 0.3; /* seconds: how long an exchange may last after a request to stop */
static const double farewell = 2;   /* how long the end waits for the others */

typedef struct messenger {
    bool lost;
    MPI_Comm work, end;
    int *count, *offset; /* of an exchange's parts, a number a rank; kept here because a lost exchange never ends */
} messenger;

static messenger messages;
static ais_ranks all;

/* Others may share this core: the first polls follow each other at once, later ones sleep between. */
static void rest(long polls) {
    const struct timespec nap = {.tv_nsec = 20000};
    if (polls > 200) nanosleep(&nap, NULL);
}

static bool wait_for(MPI_Request *request) {
    double asked = 0;
    int done = 0;
    for (long polls = 0;; polls++) {
        if (MPI_Test(request, &done, MPI_STATUS_IGNORE) != MPI_SUCCESS) break;
        if (done) return true;
        if (*stop_flag() && asked == 0) asked = wall_seconds();
        if (asked > 0 && wall_seconds() - asked > patience) break;
        rest(polls);
    }
    messages.lost = true;
    /* At once: mpirun forwards little of what a rank says after another has died. */
    if (all.rank == 0) complain(EXIT_FAILED, "another rank was lost; completing the files");
    return false;
}

static bool reduce(double *value, size_t count, MPI_Op operation) {
    MPI_Request request;
    if (messages.lost) return false;
    MPI_Iallreduce(MPI_IN_PLACE, value, (int)count, MPI_DOUBLE, operation, messages.work, &request);
    return wait_for(&request);
}

static bool sum(void *data, double *value, size_t count) {
    (void)data;
    return reduce(value, count, MPI_SUM);
}

static bool largest(void *data, double *value, size_t count) {
    (void)data;
    return reduce(value, count, MPI_MAX);
}

static bool first(void *data, void *value, size_t bytes) {
    (void)data;
    MPI_Request request;
    if (messages.lost) return false;
    MPI_Ibcast(value, (int)bytes, MPI_BYTE, 0, messages.work, &request);
    return wait_for(&request);
}

static bool gather(void *base, const size_t *bytes, bool everywhere) {
    if (messages.lost) return false;
    int at = 0, *count = messages.count, *offset = messages.offset;
    for (int r = 0; r < all.size; r++) {
        count[r] = (int)bytes[r];
        offset[r] = at;
        at += count[r];
    }
    MPI_Request request;
    if (everywhere)
        MPI_Iallgatherv(MPI_IN_PLACE, 0, MPI_BYTE, base, count, offset, MPI_BYTE, messages.work, &request);
    else if (all.rank == 0)
        MPI_Igatherv(MPI_IN_PLACE, 0, MPI_BYTE, base, count, offset, MPI_BYTE, 0, messages.work, &request);
    else
        MPI_Igatherv(base, count[all.rank], MPI_BYTE, NULL, NULL, NULL, MPI_BYTE, 0, messages.work, &request);
    return wait_for(&request);
}

static bool share(void *data, void *base, const size_t *bytes) {
    (void)data;
    return gather(base, bytes, true);
}

static bool collect(void *data, void *base, const size_t *bytes) {
    (void)data;
    return gather(base, bytes, false);
}

bool ranks_open(void) {
    if (launched_size() < 2) return true;
    int provided;
    MPI_Init_thread(NULL, NULL, MPI_THREAD_FUNNELED, &provided);
    MPI_Comm_dup(MPI_COMM_WORLD, &messages.work);
    MPI_Comm_dup(MPI_COMM_WORLD, &messages.end);
    all = (ais_ranks){.sum = sum, .largest = largest, .first = first, .share = share, .collect = collect};
    MPI_Comm_rank(messages.work, &all.rank);
    MPI_Comm_size(messages.work, &all.size);
    messages.count = calloc(2 * (size_t)all.size, sizeof *messages.count);
    if (!messages.count) return complain(EXIT_FAILED, "out of memory for %d ranks", all.size) == 0;
    messages.offset = messages.count + all.size;
    return true;
}

const ais_ranks *ranks_all(void) { return all.size > 1 ? &all : NULL; }

/* A rank that failed alone does not wait long: the others are in the middle of an exchange. */
static bool arrives(MPI_Request *request, bool failed) {
    double began = wall_seconds();
    int done = 0;
    for (long polls = 0; !done && !(failed && wall_seconds() - began > farewell); polls++) {
        MPI_Test(request, &done, MPI_STATUS_IGNORE);
        rest(polls);
    }
    return done;
}

/* The exit code of rank 0; -1 when the ranks do not end together. */
static int exchange_codes(int code) {
    MPI_Request request;
    int leading = code;
    if (messages.lost) return -1;
    MPI_Ibcast(&leading, 1, MPI_INT, 0, messages.end, &request);
    if (!arrives(&request, code == EXIT_FAILED)) return -1;
    MPI_Ibarrier(messages.end, &request);
    return arrives(&request, code == EXIT_FAILED) ? leading : -1;
}

int ranks_close(int code) {
    if (!ranks_all()) return code;
    int leading = exchange_codes(code);
    if (held[0] && (leading < 0 ? !messages.lost : leading == 0)) fprintf(stderr, "%s (on rank %d)\n", held, all.rank);
    fflush(NULL);
    if (messages.lost) _exit(code ? code : EXIT_FAILED); /* MPI_Finalize would wait for the lost rank */
    if (leading < 0) MPI_Abort(MPI_COMM_WORLD, code ? code : EXIT_FAILED);
    MPI_Finalize();
    return leading; /* of all ranks alike: mpirun takes that of the first to end */
}

#else

bool ranks_open(void) {
    if (launched_size() < 2) return true;
    if (ranks_lead())
        complain(EXIT_FAILED, "this aisampler was built without MPI: install libopenmpi-dev and build again, or start "
                              "one process with --threads");
    return false;
}

const ais_ranks *ranks_all(void) { return NULL; }

int ranks_close(int code) { return code; }

#endif
