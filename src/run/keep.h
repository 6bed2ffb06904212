/* Draws in memory, as long as they can be judged there. */
#ifndef AIS_RUN_KEEP_H
#define AIS_RUN_KEEP_H

#include <aisampler/draws.h>

/* A sink into memory that drops its draws if there are more than AIS_MOST_JUDGED numbers of them, or if memory runs out
 * and they also go `elsewhere`. Their number is not known beforehand: a budget, a goal or the user may end the run long
 * before the planned end. */
ais_status ais_keep_new(ais_context *context, bool elsewhere, ais_sink **sink);

/* The draws as they are shown and, where the target has a view, their x, for the caller to free; both NULL if they were
 * dropped. */
void ais_keep_take(ais_sink *sink, ais_draws **draws, ais_draws **unconstrained);

#endif
