/* The processor's seconds of the process for those of the monotonic clock: preloaded by run.sh into both samplers, so
 * that what each says of its time can be compared on a machine where others are at work. */
#define _GNU_SOURCE
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

int clock_gettime(clockid_t clock, struct timespec *time) {
    return (int)syscall(SYS_clock_gettime, clock == CLOCK_MONOTONIC ? CLOCK_PROCESS_CPUTIME_ID : clock, time);
}
