/* Wall time. */
#ifndef AIS_BASE_CLOCK_H
#define AIS_BASE_CLOCK_H

#include <time.h>

/* Seconds since some moment in the past; never goes back. */
static inline double ais_now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

#endif
