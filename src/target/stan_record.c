/* The errors of a Stan program, in memory shared with processes that are forked later: evaluations in child processes
 * count. */
#include <errno.h>
#include <sys/mman.h>

#include "target/stan_model.h"

static size_t bytes_of(int dim) { return sizeof(ais_stan_record) + 2 * (size_t)dim * sizeof(double); }

/* The process that held it may have been killed. */
static bool make_lock(pthread_mutex_t *lock) {
    pthread_mutexattr_t kind;
    if (pthread_mutexattr_init(&kind) != 0) return false;
    bool made = pthread_mutexattr_setpshared(&kind, PTHREAD_PROCESS_SHARED) == 0 &&
                pthread_mutexattr_setrobust(&kind, PTHREAD_MUTEX_ROBUST) == 0 && pthread_mutex_init(lock, &kind) == 0;
    pthread_mutexattr_destroy(&kind);
    return made;
}

ais_stan_record *ais_stan_record_new(int dim) {
    ais_stan_record *record = mmap(NULL, bytes_of(dim), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (record == MAP_FAILED) return NULL;
    record->density.x = record->x;
    record->shown.x = record->x + dim;
    if (make_lock(&record->telling)) return record;
    munmap(record, bytes_of(dim));
    return NULL;
}

void ais_stan_record_free(ais_stan_record *record, int dim) {
    if (!record) return;
    pthread_mutex_destroy(&record->telling);
    munmap(record, bytes_of(dim));
}

void ais_stan_record_lock(ais_stan_record *record) {
    if (pthread_mutex_lock(&record->telling) == EOWNERDEAD) pthread_mutex_consistent(&record->telling);
}

void ais_stan_record_unlock(ais_stan_record *record) { pthread_mutex_unlock(&record->telling); }
