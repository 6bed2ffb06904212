/* The state of a run (sample.c). */
#ifndef AIS_SAMPLER_SAMPLE_H
#define AIS_SAMPLER_SAMPLE_H

#include <aisampler/sampler.h>

#include "base/pool.h"
#include "kernel/kernel.h"

/* What is counted of a block; rank 0 gets those of all ranks. */
typedef struct ais_tally {
    double accept_sum; /* of this round, over steps */
    long steps;        /* of this round, all chains: also those of draws that are dropped after a stop */
    double worst_round_trip;
    long evaluations, divergences; /* of this phase */
} ais_tally;

/* Some chains that step together on one thread at a time. */
typedef struct ais_block {
    ais_state *state;
    void *own; /* the kernel's */
    ais_info *info;
    ais_context context;
    ais_status status;
    int done; /* draws of this round */
} ais_block;

typedef struct ais_run {
    const ais_target *target;
    const ais_kernel *kernel;
    ais_run_header header;
    int chains, warmup, draws, thin;
    int block_chains, blocks;
    const double *start;
    const volatile sig_atomic_t *stop;
    ais_sink *const *sink;
    int sinks, begun; /* begun: how many of them were asked to */
    ais_pool *pool;
    const ais_ranks *ranks;
    ais_part part;               /* this rank's blocks */
    int first_chain, own_chains; /* and their chains */
    ais_block *block;            /* blocks; of other ranks they stay empty */
    ais_tally *tally;            /* blocks */
    int round, longest_round;    /* draws of every chain */
    double *x, *logp;            /* of a round: chains x round (x dim); this rank's first, on rank 0 those of all */
    ais_info *info;
    int warmup_done, draws_done;
    double accept_sum; /* after warm-up, over steps */
    long steps, evaluations_before;
    double started, phase_started, reported;
} ais_run;

#endif
