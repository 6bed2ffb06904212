/* The flag by which a caller ends a job: a signal handler sets it, or a density, in whichever thread that is. volatile
 * is made for the one, not for the other. */
#ifndef AIS_BASE_STOP_H
#define AIS_BASE_STOP_H

#include <signal.h>
#include <stdbool.h>

/* stop may be NULL. */
static inline bool ais_asked_to_stop(const volatile sig_atomic_t *stop) {
    return stop && __atomic_load_n(stop, __ATOMIC_RELAXED);
}

#endif
