/* Densities of one's own (FILE.c, FILE.so) that crash, exit or never return. A call that does is given up, the run ends
 * with what was drawn until then, and one line says where it was. With --isolate it goes on (isolate.h). */
#ifndef AIS_CLI_GUARD_H
#define AIS_CLI_GUARD_H

#include <stdbool.h>

#include "isolate.h"

/* Opens a target as ais_target_open does, guards its calls if it is a file of code, and isolates it if that is wanted,
 * for `threads` threads (0: one per core). At most one is guarded. */
ais_status guard_open(ais_context *context, const char *spec, const isolation *how, int threads, ais_target **target);

/* What became of the guarded density: a sentence without its end, such as "own.c crashed (...) at mass = 1.5", the
 * point on the user's scale; NULL while nothing did. The target must still be open when it is asked for first. */
const char *guard_message(void);

/* Whether calls are given up. May be asked by a handler of signals. */
bool guard_tripped(void);

/* Whether calls of the density are watched: guard_insist's false then says that none was under way. For a handler of
 * signals. */
bool guard_watches(void);

/* Gives up the calls that are under way, after which the run ends; false when there is none. For a handler of
 * signals. */
bool guard_insist(void);

/* Gives the density up at a point: it is asked no more, and the run ends. The message will be isolate_say's. */
void guard_end(const double *x);

/* "segmentation fault" and so on. */
const char *guard_signal_name(int number);

/* The exit code of the command: never 0 after a density ended badly. */
int guard_close(int code);

#endif
