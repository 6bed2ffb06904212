/* A pool of threads that share out numbered tasks. */
#ifndef AIS_BASE_POOL_H
#define AIS_BASE_POOL_H

#include "base/ranks.h"

typedef struct ais_pool ais_pool;

/* threads 0: one per core that this process may use. */
ais_status ais_pool_new(ais_context *context, int threads, ais_pool **pool);
void ais_pool_free(ais_pool *pool);
int ais_pool_threads(const ais_pool *pool);

/* Runs task(data, i) for i in 0..count-1, each once, on the pool's threads and the caller's, and
 * returns when all are done. Which thread runs which task is unspecified, so a task's result must not depend on it. */
void ais_pool_run(ais_pool *pool, int count, void (*task)(void *data, int i), void *data);

/* The same, but pool may be NULL: the caller then runs all tasks. */
void ais_share_out(ais_pool *pool, int count, void (*task)(void *data, int i), void *data);

/* From here on the thread that calls run does no tasks: one more thread takes its place, and the caller calls
 * watch(data) every `seconds` until all tasks are done. So progress of a long task can be reported, and the task can be
 * stopped. Call it before the first run. */
void ais_pool_watch(ais_pool *pool, double seconds, void (*watch)(void *data), void *data);

/* Makes the pool one rank's: ais_pool_run_part runs this rank's part of the tasks alone. NULL: all of them. */
void ais_pool_join(ais_pool *pool, const ais_ranks *ranks);
const ais_ranks *ais_pool_ranks(const ais_pool *pool);
void ais_pool_run_part(ais_pool *pool, int count, void (*task)(void *data, int i), void *data);

#endif
