/* The flag by which a caller ends a job: set by a signal handler or by a density, in any thread. volatile suffices for
 * the first, not for the second. */
#ifndef AIS_BASE_STOP_H
#define AIS_BASE_STOP_H

#include <signal.h>
#include <stdbool.h>

/* stop may be NULL. */
static inline bool ais_asked_to_stop(const volatile sig_atomic_t *stop) {
    return stop && __atomic_load_n(stop, __ATOMIC_RELAXED);
}

#endif
