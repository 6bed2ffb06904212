#define _GNU_SOURCE /* sched_getaffinity */
#include "base/pool.h"

#include <math.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>

#include "base/clock.h"

struct ais_pool {
    int threads; /* that do tasks */
    const ais_ranks *ranks;
    pthread_t *worker; /* threads; the caller is one of them unless he watches */
    int workers;
    double watch_seconds;
    void (*watch)(void *); /* or NULL */
    void *watch_data;
    pthread_mutex_t lock;
    pthread_cond_t work, done;
    unsigned long round; /* counts calls of run */
    int busy;            /* workers that have not finished this round */
    bool quit;
    void (*task)(void *, int);
    void *data;
    int end;
    atomic_int next;
};

static void share(ais_pool *pool) {
    for (int i; (i = atomic_fetch_add(&pool->next, 1)) < pool->end;) pool->task(pool->data, i);
}

static void *work(void *argument) {
    ais_pool *pool = argument;
    unsigned long seen = 0;
    pthread_mutex_lock(&pool->lock);
    for (;;) {
        while (pool->round == seen && !pool->quit) pthread_cond_wait(&pool->work, &pool->lock);
        if (pool->quit) break;
        seen = pool->round;
        pthread_mutex_unlock(&pool->lock);
        share(pool);
        pthread_mutex_lock(&pool->lock);
        if (--pool->busy == 0) pthread_cond_signal(&pool->done);
    }
    pthread_mutex_unlock(&pool->lock);
    return NULL;
}

static int cores(void) {
    cpu_set_t set;
    int count = sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 1;
    return count > 0 ? count : 1;
}

/* Waits by the clock that ais_now reads. */
static void init_done(pthread_cond_t *done) {
    pthread_condattr_t monotonic;
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(done, &monotonic);
    pthread_condattr_destroy(&monotonic);
}

static bool add_worker(ais_pool *pool) {
    if (pthread_create(&pool->worker[pool->workers], NULL, work, pool) != 0) return false;
    pool->workers++;
    return true;
}

ais_status ais_pool_new(ais_context *context, int threads, ais_pool **out) {
    if (threads < 0) return ais_fail(context, AIS_BAD_ARGUMENT, "threads is %d, but must be 0 or more", threads);
    if (threads == 0) threads = cores();
    ais_pool *pool = calloc(1, sizeof *pool);
    pthread_t *worker = calloc((size_t)threads, sizeof *worker);
    if (!pool || !worker) {
        free(pool);
        free(worker);
        return ais_fail_memory(context, "a thread pool", (size_t)threads * sizeof *worker);
    }
    pool->worker = worker;
    pthread_mutex_init(&pool->lock, NULL);
    pthread_cond_init(&pool->work, NULL);
    init_done(&pool->done);
    while (pool->workers < threads - 1 && add_worker(pool)) {
    } /* fewer than asked for still give the same answer */
    pool->threads = pool->workers + 1;
    *out = pool;
    return AIS_OK;
}

void ais_pool_watch(ais_pool *pool, double seconds, void (*watch)(void *data), void *data) {
    if (pool->workers < pool->threads && !add_worker(pool)) return; /* the caller works on, unwatched */
    pool->watch_seconds = seconds;
    pool->watch = watch;
    pool->watch_data = data;
}

void ais_pool_free(ais_pool *pool) {
    if (!pool) return;
    pthread_mutex_lock(&pool->lock);
    pool->quit = true;
    pthread_cond_broadcast(&pool->work);
    pthread_mutex_unlock(&pool->lock);
    for (int i = 0; i < pool->workers; i++) pthread_join(pool->worker[i], NULL);
    pthread_cond_destroy(&pool->work);
    pthread_cond_destroy(&pool->done);
    pthread_mutex_destroy(&pool->lock);
    free(pool->worker);
    free(pool);
}

int ais_pool_threads(const ais_pool *pool) { return pool->threads; }

/* The lock is held, but while watch is called. */
static void wait_and_watch(ais_pool *pool) {
    while (pool->busy) {
        double until = ais_now() + pool->watch_seconds;
        struct timespec time = {.tv_sec = (time_t)until, .tv_nsec = (long)(1e9 * (until - floor(until)))};
        while (pool->busy && pthread_cond_timedwait(&pool->done, &pool->lock, &time) == 0) {
        }
        if (!pool->busy) break;
        pthread_mutex_unlock(&pool->lock);
        pool->watch(pool->watch_data);
        pthread_mutex_lock(&pool->lock);
    }
}

static void run(ais_pool *pool, ais_part part, void (*task)(void *, int), void *data) {
    pthread_mutex_lock(&pool->lock);
    pool->task = task;
    pool->data = data;
    pool->end = part.end;
    atomic_store(&pool->next, part.first);
    pool->busy = pool->workers;
    pool->round++;
    pthread_cond_broadcast(&pool->work);
    pthread_mutex_unlock(&pool->lock);
    if (!pool->watch) share(pool);
    pthread_mutex_lock(&pool->lock);
    if (pool->watch) wait_and_watch(pool);
    while (pool->busy) pthread_cond_wait(&pool->done, &pool->lock);
    pthread_mutex_unlock(&pool->lock);
}

void ais_pool_run(ais_pool *pool, int count, void (*task)(void *, int), void *data) {
    run(pool, (ais_part){0, count}, task, data);
}

void ais_pool_run_part(ais_pool *pool, int count, void (*task)(void *, int), void *data) {
    run(pool, ais_ranks_part(pool->ranks, count), task, data);
}

void ais_share_out(ais_pool *pool, int count, void (*task)(void *data, int i), void *data) {
    if (pool && count > 1) {
        ais_pool_run(pool, count, task, data);
        return;
    }
    for (int i = 0; i < count; i++) task(data, i);
}

void ais_pool_join(ais_pool *pool, const ais_ranks *ranks) { pool->ranks = ranks; }

const ais_ranks *ais_pool_ranks(const ais_pool *pool) { return pool->ranks; }
