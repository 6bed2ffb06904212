/* The state of a run, and its parts: blocks of chains (block.c), budgets (goal.c), reports (progress.c), checkpoints
 * (resume.c), the loop (sample.c). */
#ifndef AIS_SAMPLER_SAMPLE_H
#define AIS_SAMPLER_SAMPLE_H

#include <aisampler/sampler.h>

#include "base/pool.h"
#include "base/stop.h"
#include "kernel/kernel.h"
#include "sampler/kept.h"
#include "sampler/resume.h"
#include "target/counted.h"

/* What is counted of a block; rank 0 gets those of all ranks. */
typedef struct ais_tally {
    double accept_sum; /* of this round, over steps: for reports */
    long steps;        /* of this round, all chains: including those of draws that are dropped after a stop */
    double worst_round_trip;
    long divergences;          /* of this phase */
    long densities, gradients; /* of this call */
    bool gave_up;              /* a step failed after the run had been stopped */
} ais_tally;

/* Some chains that step together on one thread at a time. */
typedef struct ais_block {
    ais_counted counted; /* the target, as this block sees it */
    ais_state *state;
    void *own; /* the kernel's */
    ais_info *info;
    double *trips;      /* a ladder's, of each chain since the draw before */
    double *log_weight; /* of each chain's last independent proposal since then, or NAN */
    ais_context context;
    ais_status status;
    atomic_int done; /* draws of this round; written by the block's thread alone */
} ais_block;

/* A stretch of draws between two moments at which the run decides whether and how to continue. Where these moments lie
 * is a function of draws and counts alone, so that the result does not depend on the clock. */
typedef struct ais_leg {
    int until;      /* draws of this phase */
    long allowance; /* evaluations of every chain */
    bool over;      /* there is no further leg, because of: */
    ais_ending ending;
} ais_leg;

/* The last look at the effective draws, and the next. */
typedef struct ais_looks {
    int next;              /* in draws */
    int last;              /* likewise */
    double worst;          /* ESS at the last look; NAN before */
    double tail;           /* the smallest tail ESS then; INFINITY where the worst ESS was not reached yet */
    int worst_at, tail_at; /* coordinates that had them; -1: none */
    double doubt;          /* how many times as many draws a doubt required, where both were enough; 1: none */
    int enough_at;         /* draws at which both were enough; 0 before */
} ais_looks;

typedef struct ais_goal {
    double effective; /* 0: none */
    long evaluations; /* LONG_MAX: no limit */
    ais_looks look;
    ais_leg leg;     /* that is under way */
    int leg_from;    /* where it began */
    long *leg_spent; /* of each block, as it began */
} ais_goal;

/* A run between two rounds, when all its chains are at the same step: what a checkpoint has of it. */
typedef struct ais_snapshot {
    int planned;   /* draws per chain */
    bool extended; /* more than were first requested: budgets no longer apply */
    bool warming;
    int warmup_done, draws_done;
    long steps, start_evaluations, warmup_evaluations;
    double warmup_seconds, phase_seconds;
    uint64_t token, journal; /* of the journal; its bytes at that moment */
    ais_looks look;
    ais_leg leg;
    int leg_from;
    long *leg_spent;        /* dealt to chains */
    unsigned char *records; /* chains x record_bytes */
    size_t record_bytes;
    /* Of a run that has come to its end, perhaps some draws later: */
    bool finished;
    uint64_t final_journal;
    ais_sample_result result;
} ais_snapshot;

typedef struct ais_sampling {
    const ais_target *target;
    const ais_kernel *kernel;
    const ais_sample_options *options;
    const volatile sig_atomic_t *stop;
    ais_run_header header;
    int chains, warmup, draws, thin;
    int block_chains, blocks;
    bool single; /* every chain steps alone by nature, not to distribute work */
    ais_candidates own_start;
    ais_sink *const *sink;
    int sinks, begun; /* begun: on how many of them begin was called */
    ais_pool *pool;
    const ais_ranks *ranks;
    ais_part part;               /* this rank's blocks */
    int first_chain, own_chains; /* and their chains */
    ais_block *block;            /* blocks; of other ranks they stay empty */
    ais_tally *tally;            /* blocks */
    ais_goal goal;
    ais_kept kept;            /* on rank 0, for the goal of effective draws */
    const ais_doubt *doubt;   /* likewise; or NULL */
    atomic_bool halt;         /* the deadline has come */
    int round, longest_round; /* draws of every chain */
    double *x, *logp;         /* of a round: chains x round (x dim); this rank's first, on rank 0 those of all */
    ais_info *info;
    double *accept; /* likewise, a number a chain: its accept_stats summed over the steps of this phase, in their order:
                       neither rounds nor blocks change the sum */
    double *value, *slope; /* likewise, what a view shows of them; NULL without one, or without sinks */
    bool warming;
    int warmup_done, draws_done;
    long steps; /* after warm-up */
    long start_evaluations, warmup_evaluations;
    double started, phase_started, reported;
    double warmup_seconds;
    ais_drawing *drawing;  /* where a checkpoint is kept; or NULL */
    ais_snapshot last;     /* what the checkpoint has, or will have */
    bool resumed;          /* from it */
    bool repeats;          /* the run was finished: its draws go to the sinks again, and no step is made */
    double acceptance_now; /* as of the last round, for reports */
    long divergences_now;
} ais_sampling;

/* ---- block.c ------------------------------------------------------------------------------------- */

/* Whether a step of one chain takes many evaluations, as trajectories do, so that chains share nothing. */
bool ais_chains_alone(const ais_kernel *kernel);

/* How many chains share a block. Draws do not depend on it: design.md, contracts. */
int ais_chains_per_block(const ais_target *target, const ais_kernel *kernel, int chains, int workers);

/* The block's own view of the target; false when memory is out. */
bool ais_block_new(ais_sampling *run, int b);

/* Tasks of the pool; data is the run. */
void ais_block_init(void *data, int b);
void ais_block_run(void *data, int b);
void ais_block_free(ais_block *block);
int ais_block_size(const ais_sampling *run, int b);

/* ---- resume.c ------------------------------------------------------------------------------------- */

/* Reads what the checkpoint has of the drawing, if it has any: planned draws, counts and budgets are then those of the
 * run that is resumed, and run->last.records tells where every chain is. */
ais_status ais_run_recall(ais_context *context, ais_sampling *run);

/* The points from which a block's chains continue: chains x dim. */
void ais_block_recall_starts(const ais_sampling *run, int b, double *start);

/* Puts a block's chains, which init has made there, where they were. */
ais_status ais_block_recall(ais_sampling *run, int b);

/* Passes the earlier draws from the journal to the sinks; or begins a journal. For rank 0, when the sinks have begun.
 */
ais_status ais_run_begin_journal(ais_context *context, ais_sampling *run,
                                 ais_status (*deliver)(ais_context *, ais_sampling *, int first, int count));

/* Between two rounds, when all chains are at the same step: writes a checkpoint, all ranks together. */
ais_status ais_run_checkpoint(ais_context *context, ais_sampling *run);

/* The run is over: says so in the checkpoint. level: all chains are at the same step. */
ais_status ais_run_conclude(ais_context *context, ais_sampling *run, bool level, const ais_sample_result *result);

/* ---- goal.c -------------------------------------------------------------------------------------- */

/* Refuses goals that contradict themselves or the rest of the options. */
ais_status ais_goal_check(ais_context *context, const ais_sampling *run);

/* The next leg of the phase that has made `done` of `planned` draws; rank 0 decides for all. */
ais_status ais_goal_next(ais_context *context, ais_sampling *run, int done, int planned, ais_leg *leg);

/* Densities and gradients so far; on rank 0, of all. */
long ais_run_spent(const ais_sampling *run);

/* An estimate of how many draws there will be. */
int ais_goal_foreseen(const ais_sampling *run);

/* ---- progress.c ---------------------------------------------------------------------------------- */

/* Called by the pool while blocks are at work: reports, and sees to the deadline. data is the run. */
void ais_run_watch(void *data);
void ais_run_report(ais_sampling *run, bool over);
void ais_run_see_to_deadline(ais_sampling *run);

/* Whether the run was stopped, or the deadline has passed. */
static inline bool ais_run_halted(const ais_sampling *run) {
    return ais_asked_to_stop(run->stop) || atomic_load_explicit(&run->halt, memory_order_relaxed);
}

#endif
