/* --isolate: the density runs in child processes, and a point at which they die counts as density 0 (isolate.c). */
#ifndef AIS_CLI_ISOLATE_H
#define AIS_CLI_ISOLATE_H

#include "cli.h"

typedef struct isolation {
    bool wanted;
    double seconds;   /* of one evaluation; 0: not said */
    double gigabytes; /* that a process may take beyond what it begins with; 0: not said */
    int deaths;       /* points at which the density may die; 0: not said */
} isolation;

#define ISOLATE_OPTIONS(set)                                                                                           \
    {"isolate",                                                                                                        \
     0,                                                                                                                \
     OPTION_FLAG,                                                                                                      \
     &(set).wanted,                                                                                                    \
     NULL,                                                                                                             \
     "run the density in child processes: where it crashes, exits or hangs, a new process takes over and the point "   \
     "counts as density 0"},                                                                                           \
        {"time-limit", 0, OPTION_NUMBER, &(set).seconds, "S", "with --isolate: most seconds of one evaluation (60)"},  \
        {"memory-limit",                                                                                               \
         0,                                                                                                            \
         OPTION_NUMBER,                                                                                                \
         &(set).gigabytes,                                                                                             \
         "GB",                                                                                                         \
         "with --isolate: most memory of a process (half of the machine's "                                            \
         "memory over the threads)"},                                                                                  \
    {                                                                                                                  \
        "most-deaths", 0, OPTION_COUNT, &(set).deaths, NULL,                                                           \
            "with --isolate: give up when the density died at more points (1000)"                                      \
    }

/* False after a complaint. */
bool isolation_makes_sense(const isolation *how);

/* Threads that use one process: the density need not be safe for more. */
int isolation_threads(const isolation *how, int threads);

/* Puts processes between the target and its functions, for `threads` threads (0: one per core). One target at most. */
ais_status isolate(ais_context *context, const isolation *how, int threads, ais_target *target);

/* After too many deaths, or if no process can be started: why nothing is evaluated any more, a sentence without its
 * end. */
void isolate_say(char *text, size_t size);

#endif
