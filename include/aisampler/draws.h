/* draws.h: draws in memory and in files.
 *
 * Two file formats are written and read: Stan CSV, one file per chain, and ArviZ InferenceData in
 * netCDF, one file for all chains. Files of other samplers in these formats are read as well.
 */
#ifndef AISAMPLER_DRAWS_H
#define AISAMPLER_DRAWS_H

#include <stdbool.h>
#include <stdint.h>

#include "status.h"

#ifdef __cplusplus
extern "C" {
#endif

/* All draws of a run, parameter by parameter: value[(i * chains + c) * draws + t]. */
typedef struct ais_draws {
    int dim, chains, draws;
    char **name;   /* dim parameter names, each malloced */
    double *value; /* dim x chains x draws */
    double *logp;  /* chains x draws, or NULL when the file has none */
    int stats;     /* columns that describe the sampler, e.g. energy__ */
    char **stat_name;
    double *stat;     /* stats x chains x draws */
    char sampler[64]; /* the kernel that made them, "nuts" for Stan's; empty when unknown */
    int max_depth;    /* largest depth of doubling trajectories; 0 if unknown or there are none */
} ais_draws;

/* Room for draws, values zero, names x.1, x.2, ... and stat names "". */
ais_status ais_draws_new(ais_context *context, int dim, int chains, int draws, int stats, ais_draws **draws_out);
void ais_draws_free(ais_draws *draws); /* NULL is allowed */

/* One column, chains x draws; NULL if there is no such name. Looks among parameters, then stats;
 * lp__ is logp. */
const double *ais_draws_column(const ais_draws *draws, const char *name);

/* Reads count files as one set of chains: Stan CSV (a chain each) or netCDF (all chains of its
 * posterior group), recognised by content, not by name. Warm-up draws are left out. Chains of unequal
 * length or with other columns are refused. */
ais_status ais_draws_read(ais_context *context, const char *const *paths, int count, ais_draws **draws);

/* ---- what a step reports -------------------------------------------------------------------- */

/* What one step reports about one chain. */
typedef struct ais_info {
    double accept_stat; /* acceptance probability of the proposal, or its mean over the trajectory */
    double step_size;
    double tree_depth;
    double n_leapfrog;
    double divergent;  /* 1 or 0 */
    double energy;     /* the Hamiltonian at the new state */
    double round_trip; /* largest coordinate of |M(M(z)) - z| in the whitened scale; 0 where it was not measured */
    double rejection;  /* ladder: the sum of the rejection probabilities of the swaps that were tried */
    double trip; /* ladder: 1 if the replica at the top has been at the bottom since it was last at the top; for a kept
                    draw, how many times since the previous one */
    double log_weight; /* log p - log q of the point that this step proposed independently of the chain, accepted or
                          not: the mean of e^log_weight is Z. -INFINITY where p is 0, NAN if the step made no such
                          proposal; for a kept draw, the last one since the previous draw */
} ais_info;

/* The fields, of which a kernel fills those whose bits 1 << AIS_INFO_... are set, and their names in files. */
enum {
    AIS_INFO_ACCEPT_STAT,
    AIS_INFO_STEP_SIZE,
    AIS_INFO_TREE_DEPTH,
    AIS_INFO_N_LEAPFROG,
    AIS_INFO_DIVERGENT,
    AIS_INFO_ENERGY,
    AIS_INFO_ROUND_TRIP,
    AIS_INFO_REJECTION,
    AIS_INFO_TRIP,
    AIS_INFO_LOG_WEIGHT,
    AIS_INFO_COUNT
};
extern const char *const ais_info_name[AIS_INFO_COUNT]; /* "accept_stat__", "stepsize__", ... */

/* ---- sinks: where a run writes its draws ----------------------------------------------------- */

/* The names of a point's numbers. */
typedef struct ais_names {
    int count;
    const char *const *name; /* count of them; NULL: x.1, x.2, ... */
} ais_names;
const char *ais_name(const ais_names *names, int i, char buffer[32]); /* i from 0; buffer may be used */

/* What is known when a run starts. Everything is valid until end. */
typedef struct ais_run_header {
    const char *target;  /* its name */
    const char *about;   /* the target in words, a line each; or NULL */
    ais_names x;         /* the coordinates of x */
    ais_names value;     /* what is shown of a draw instead (ais_view in target.h); count 0: x itself */
    const char *sampler; /* the kernel's name */
    uint64_t seed;
    int chains, warmup, draws; /* as planned: the most rows that write will get, after thinning */
    bool save_warmup;
    int thin;                  /* steps of a chain between two draws; 0: 1 */
    unsigned info;             /* which fields of ais_info are meaningful */
    int max_depth;             /* of the kernel's doubling trajectories; 0: it has none */
    const char *const *config; /* "key = value" lines for the file's head, ends with NULL; or NULL */
} ais_run_header;

/* Some consecutive draws of every chain. */
typedef struct ais_chunk {
    bool warmup;
    int first, count;     /* draws first .. first + count - 1, of warm-up or of sampling */
    const double *x;      /* chains x count x dim */
    const double *logp;   /* chains x count */
    const ais_info *info; /* chains x count */
    /* What is shown of them: chains x count x the number of values that the header names, and their log density; x and
     * logp themselves if x is shown. */
    const double *value, *value_logp;
} ais_chunk;

typedef struct ais_run_footer {
    int draws; /* actually drawn, per chain, without warm-up */
    double warmup_seconds, sample_seconds;
} ais_run_footer;

/* The outcome of ais_run. */
typedef struct ais_run_judgement {
    double log_z, log_z_error; /* NAN: not known */
    long densities, gradients; /* evaluations, all together; a gradient comes with its density */
    bool trust;
    const char *verdict;  /* a sentence */
    const char *warnings; /* a line each; "" when there are none */
} ais_run_judgement;

/* begin once, write in order, then end (complete) or abandon (failed; also after a failed begin, write
 * or end). Until end, a file sink's file is called NAME.part; a failed run never leaves a file that
 * looks complete. Files of an earlier run in the same directory stay until the new ones are complete;
 * files of the same name that others wrote make begin fail. Warm-up is written if save_warmup is set, and never kept in
 * memory. */
typedef struct ais_sink ais_sink;
struct ais_sink {
    ais_status (*begin)(ais_context *, ais_sink *, const ais_run_header *);
    ais_status (*write)(ais_context *, ais_sink *, const ais_chunk *);
    ais_status (*end)(ais_context *, ais_sink *, const ais_run_footer *);
    void (*abandon)(ais_sink *); /* closes; leaves NAME.part for inspection */
    void (*free)(ais_sink *);
    /* Called once, after end, when the draws have been judged; or NULL. A failure leaves what end made. */
    ais_status (*judged)(ais_context *, ais_sink *, const ais_run_judgement *);
};
void ais_sink_free(ais_sink *sink); /* NULL is allowed */

/* Makes a directory and its parents; an existing one is fine. */
ais_status ais_directory_make(ais_context *context, const char *directory);

/* Keeps other runs out of an existing directory by a lock on DIR/.lock, which ends with the process in any case.
 * AIS_FILE_ERROR, with the number of the other process, if the directory is locked; on a file system without locks
 * nothing is locked. */
typedef struct ais_lock ais_lock;
ais_status ais_directory_lock(ais_context *context, const char *directory, ais_lock **lock);
void ais_directory_unlock(ais_lock *lock); /* NULL is allowed */

/* DIR/draws-<chain>.csv, chains counted from 1. */
ais_status ais_sink_stan_csv(ais_context *context, const char *directory, ais_sink **sink);

/* DIR/draws.nc: groups posterior, sample_stats, and warmup_posterior, warmup_sample_stats if saved. A target with a
 * view has x as well, in unconstrained_posterior. */
ais_status ais_sink_netcdf(ais_context *context, const char *directory, ais_sink **sink);

/* Into memory: after the run ais_sink_memory_take passes the draws to the caller. */
ais_status ais_sink_memory(ais_context *context, ais_sink **sink);
ais_draws *ais_sink_memory_take(ais_sink *sink);

#ifdef __cplusplus
}
#endif
#endif
