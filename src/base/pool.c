#define _GNU_SOURCE /* sched_getaffinity */
#include "base/pool.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>

struct ais_pool {
    int threads; /* the caller's included */
    const ais_ranks *ranks;
    pthread_t *worker;
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
    pthread_cond_init(&pool->done, NULL);
    pool->threads = 1;
    while (pool->threads < threads) { /* fewer threads than asked for still give the same answer */
        if (pthread_create(&worker[pool->threads - 1], NULL, work, pool) != 0) break;
        pool->threads++;
    }
    *out = pool;
    return AIS_OK;
}

void ais_pool_free(ais_pool *pool) {
    if (!pool) return;
    pthread_mutex_lock(&pool->lock);
    pool->quit = true;
    pthread_cond_broadcast(&pool->work);
    pthread_mutex_unlock(&pool->lock);
    for (int i = 0; i < pool->threads - 1; i++) pthread_join(pool->worker[i], NULL);
    pthread_cond_destroy(&pool->work);
    pthread_cond_destroy(&pool->done);
    pthread_mutex_destroy(&pool->lock);
    free(pool->worker);
    free(pool);
}

int ais_pool_threads(const ais_pool *pool) { return pool->threads; }

static void run(ais_pool *pool, ais_part part, void (*task)(void *, int), void *data) {
    pthread_mutex_lock(&pool->lock);
    pool->task = task;
    pool->data = data;
    pool->end = part.end;
    atomic_store(&pool->next, part.first);
    pool->busy = pool->threads - 1;
    pool->round++;
    pthread_cond_broadcast(&pool->work);
    pthread_mutex_unlock(&pool->lock);
    share(pool);
    pthread_mutex_lock(&pool->lock);
    while (pool->busy) pthread_cond_wait(&pool->done, &pool->lock);
    pthread_mutex_unlock(&pool->lock);
}

void ais_pool_run(ais_pool *pool, int count, void (*task)(void *, int), void *data) {
    run(pool, (ais_part){0, count}, task, data);
}

void ais_pool_run_part(ais_pool *pool, int count, void (*task)(void *, int), void *data) {
    run(pool, ais_ranks_part(pool->ranks, count), task, data);
}

void ais_pool_join(ais_pool *pool, const ais_ranks *ranks) { pool->ranks = ranks; }

const ais_ranks *ais_pool_ranks(const ais_pool *pool) { return pool->ranks; }
