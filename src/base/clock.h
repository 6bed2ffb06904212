/* Wall time, and time of the processor. */
#ifndef AIS_BASE_CLOCK_H
#define AIS_BASE_CLOCK_H

#include <time.h>

/* Seconds since some moment in the past; never goes back. */
static inline double ais_now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

/* Seconds that all threads of the process have computed: what arithmetic costs, however busy the machine is. */
static inline double ais_processor_now(void) {
    struct timespec time;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

#endif
