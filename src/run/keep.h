/* Draws in memory as far as they can be judged there. */
#ifndef AIS_RUN_KEEP_H
#define AIS_RUN_KEEP_H

#include <aisampler/draws.h>

/* A sink into memory that lets go of its draws when there are more than AIS_MOST_JUDGED numbers of them; and when
 * memory is out, if they have `elsewhere` to go. Nobody knows beforehand how many there will be: a budget, a goal or
 * the user may end the run long before what is planned. */
ais_status ais_keep_new(ais_context *context, bool elsewhere, ais_sink **sink);

/* The draws as they are shown and, where the target has a view, their x, for the caller to free; both NULL when they
 * were let go. */
void ais_keep_take(ais_sink *sink, ais_draws **draws, ais_draws **unconstrained);

#endif
