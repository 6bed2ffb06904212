/* A Stan program that was opened, and the functions of its target. */
#ifndef AIS_TARGET_STAN_MODEL_H
#define AIS_TARGET_STAN_MODEL_H

#include <pthread.h>
#include <stdatomic.h>

#include "target/stan.h"
#include "target/stan_bridge.h"

/* Points, or draws, at which the program raised an error. The one nearest to 0 is reported: which one comes first
 * depends on the threads. */
typedef struct ais_stan_failures {
    atomic_long count;
    double distance; /* of the one that is reported, squared */
    double *x;
    char message[160];
} ais_stan_failures;

/* Shared with processes that are forked later (stan_record.c). */
typedef struct ais_stan_record {
    atomic_long points; /* that were evaluated */
    ais_stan_failures density, shown;
    pthread_mutex_t telling; /* of failures but their counts */
    double x[];              /* 2 dim: theirs */
} ais_stan_record;

/* NULL when memory is out. */
ais_stan_record *ais_stan_record_new(int dim);
void ais_stan_record_free(ais_stan_record *record, int dim); /* NULL is allowed */
void ais_stan_record_lock(ais_stan_record *record);
void ais_stan_record_unlock(ais_stan_record *record);

struct ais_stan {
    ais_bridge bridge;
    bs_model *model;
    const char *const *names; /* of x */
    int dim;
    bool propto;   /* constants are left out: all that stanli can do */
    bool alone;    /* one call at a time: the library was compiled without threads */
    bool settles;  /* a thread's first call must be a gradient, which makes its stack of derivatives */
    bool random;   /* what it computes of a draw may be drawn at random */
    int values[3]; /* of a draw: the parameters, with the transformed ones, with the generated ones */
    ais_view view;
    ais_stan_record *record;
};

/* Libraries without threads have one stack of derivatives each; which of them share one we need not know. */
extern pthread_mutex_t ais_stan_alone;

/* Of the target; data is the ais_stan. */
ais_logp ais_stan_logp;
ais_grad ais_stan_grad;
void ais_stan_show(size_t n, const double *x, uint64_t stream, double *value, double *slope, void *data);
void ais_stan_tell(char *text, size_t size, void *data);

#endif
