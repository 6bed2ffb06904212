/* Child processes that evaluate a density: one for each call that is under way, started when it is first needed and
 * again when it died (workers.c). Only isolate.c uses them. */
#ifndef AIS_CLI_WORKERS_H
#define AIS_CLI_WORKERS_H

#include <stdbool.h>
#include <stdint.h>

#include <aisampler/target.h>

enum { WORKER_POINTS = 128 }; /* of a request, at most: as many as the library evaluates at once */

typedef struct worker_limits {
    int workers;    /* at the same time */
    double seconds; /* of one evaluation */
    double bytes;   /* that a worker may take beyond what it begins with */
} worker_limits;

typedef enum question { ASK_LOGP, ASK_GRAD, ASK_BATCH, ASK_SHOW } question;

/* How a worker came to its end. */
typedef enum ending { ENDED_BY_SIGNAL, ENDED_BY_EXIT, ENDED_BY_TIME, NEVER_BEGAN } ending;
typedef struct death {
    ending how;
    int code;    /* the signal, the argument of exit, errno */
    bool memory; /* it had taken all that it may */
} death;

typedef struct worker worker;

/* To be called while the process has one thread; keeps a copy of the target's functions as they are. False, with errno
 * set, when memory or processes are out. */
bool workers_open(const ais_target *target, const worker_limits *limits);
void workers_close(void);

/* One for exclusive use until it is given back; a thread mostly gets the one that it had before. */
worker *worker_take(void);
void worker_give(worker *at);

/* Whether its next answer is the first one of its process. */
bool worker_is_fresh(const worker *at);

/* Asks about n points; x as the function in question takes them. False when the process died of it, and *end says how.
 */
bool worker_ask(worker *at, question what, size_t n, const double *x, uint64_t stream, death *end);

/* The answer: logp, or value with the gradient behind it, or n rows of values with the n slopes behind them. */
const double *worker_answer(const worker *at);

/* Inside of a worker: ends it, as one that called exit. Elsewhere nothing. */
void worker_leave(int code);

#endif
