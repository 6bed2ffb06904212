/* Users' densities (FILE.c, FILE.so) that crash, exit or never return. Such a call is abandoned, the run ends with the
 * draws so far, and one line says where it was. With --isolate it continues (isolate.h). */
#ifndef AIS_CLI_GUARD_H
#define AIS_CLI_GUARD_H

#include <stdbool.h>

#include "isolate.h"

/* Opens a target as ais_target_open does, guards its calls if it is a file of code, and isolates it if that is wanted,
 * for `threads` threads (0: one per core). At most one is guarded. */
ais_status guard_open(ais_context *context, const char *spec, const isolation *how, int threads, ais_target **target);

/* What happened to the guarded density: a sentence without its end, such as "own.c crashed (...) at mass = 1.5", the
 * point on the user's scale; NULL if nothing did. The target must still be open at the first call. */
const char *guard_message(void);

/* Whether calls are abandoned. For a handler of signals, too. */
bool guard_tripped(void);

/* Whether calls of the density are watched: guard_insist's false then says that none was under way. For a handler of
 * signals. */
bool guard_watches(void);

/* Abandons the calls that are under way, after which the run ends; false if there are none. For a handler of signals.
 */
bool guard_insist(void);

/* Abandons the density at a point: it is not evaluated again, and the run ends. The message will be isolate_say's. */
void guard_end(const double *x);

/* "segmentation fault" and so on. */
const char *guard_signal_name(int number);

/* The exit code of the command: never 0 after a density ended badly. */
int guard_close(int code);

#endif
