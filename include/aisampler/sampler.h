/* sampler.h: many chains of one kernel on one target.
 *
 *     ais_sample_options options = {.seed = 1, .chains = 4, .warmup = 1000, .effective = 4000, .evaluations = 1000000};
 *     ais_sample_result result;
 *     ais_sample(&context, target, kernel, &options, &sink, 1, &result);
 *
 * draws until the worst ESS of all chains together is 4,000, and in no case for more than a million evaluations.
 *
 * Randomness is a pure function of (seed; chain, step, purpose): the same options give the same
 * bytes for any number of threads and ranks. Only `seconds` and `stop` let the clock decide, and they decide nothing
 * but how many of these draws there are.
 */
#ifndef AISAMPLER_SAMPLER_H
#define AISAMPLER_SAMPLER_H

#include <signal.h>

#include "draws.h"
#include "kernel.h"
#include "ranks.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Why a run ended. */
typedef enum ais_ending {
    AIS_ENDED_DRAWS,       /* all draws that were asked for, or as many as fit */
    AIS_ENDED_EFFECTIVE,   /* there are as many effective draws as were asked for */
    AIS_ENDED_EVALUATIONS, /* another draw would have gone beyond the budget */
    AIS_ENDED_SECONDS,     /* the deadline came */
    AIS_ENDED_STOPPED      /* the caller asked */
} ais_ending;
extern const char *const ais_ending_name[]; /* "draws", "effective", "evaluations", "seconds", "stopped" */

typedef struct ais_progress {
    int chains;
    int warmup, draws;           /* planned, per chain; with `effective` as far as can be foreseen */
    int warmup_done, draws_done; /* per chain */
    double seconds;              /* since the start */
    double seconds_left;         /* estimated; NAN before there is anything to go by */
    double acceptance;           /* mean accept_stat of the last round; NAN before the first */
    double effective;            /* worst ESS of all chains together when it was last looked at; NAN before */
    long divergences;            /* after warm-up, all chains */
    long evaluations;            /* densities and gradients so far, all chains */
    bool over;                   /* this is the last report */
} ais_progress;

typedef struct ais_sample_options {
    uint64_t seed;
    int chains;       /* 0: 4 */
    int warmup;       /* per chain; 0 is taken as it is */
    int draws;        /* per chain; 0: 1000, or with `effective` as many as it takes */
    int thin;         /* keep every thin-th draw; 0: 1 */
    int threads;      /* 0: one per core */
    double effective; /* draw until ais_worst_ess is at least this, at most `draws`; 0: just `draws`. What is judged is
                         kept in memory, at most 10^8 numbers: no more draws are made than fit */
    int least; /* draws per chain that are made in any case, before `effective` counts; it is given up there where
                  `draws` are not likely to be enough. 0: it counts from the beginning */
    long evaluations; /* densities and gradients of this call, starting points and warm-up included: not one more; a
                         draw for which they do not suffice is dropped. 0: no limit */
    double seconds;   /* of this call: what is drawn by then is kept. 0: no limit */
    bool save_warmup;
    const double *start; /* chains x dim, row-major; NULL: N(0, start_scale^2), tried 100 times
                            until the density is positive; for spline, realnvp and affine kernels on x
                            alone, and in their latent space, draws of the map */
    /* Called a few times per second by the thread that called ais_sample; or NULL. */
    void (*progress)(const ais_progress *, void *);
    void *progress_data;
    const volatile sig_atomic_t *stop; /* non-zero asks the run to end after the current step; or NULL. A
                                          density that cannot go on sets it and answers NaN: the step is given up, and
                                          the draws so far stay */
    const char *const *config;         /* for the head of the files; see ais_run_header */
    const ais_ranks *ranks;            /* chains are split over these, and rank 0 alone has sinks; NULL: all here */
} ais_sample_options;

typedef struct ais_sample_result {
    int draws; /* per chain, fewer than planned when something else ended the run */
    ais_ending ended;
    double warmup_seconds, sample_seconds;
    double acceptance;       /* mean accept_stat after warm-up */
    double involution_error; /* largest round trip of a proposal that was not rejected for it; NAN
                                for kernels without an involution */
    double effective;        /* worst ESS of all chains together when it was last looked at; NAN unless asked for */
    long divergences;
    /* Counted, not estimated: evaluations of the target in this call. A gradient comes with its density. */
    long densities, gradients;
    long start_evaluations;  /* of them, for the starting points and the first step sizes */
    long warmup_evaluations; /* of them, in warm-up; the rest was for the draws */
    bool gave_up;            /* the density failed after `stop` had been set: it should be asked no more */
} ais_sample_result;

/* Runs the chains and hands their draws to the sinks. result may be NULL. AIS_OK also when a budget or deadline ended
 * it among the draws. AIS_STOPPED when stop was set, or when warm-up was not over in time or within the budget: with
 * every sink ended, too. All chains are of equal length in any case. */
ais_status ais_sample(ais_context *context, const ais_target *target, const ais_kernel *kernel,
                      const ais_sample_options *options, ais_sink *const *sinks, int sink_count,
                      ais_sample_result *result);

#ifdef __cplusplus
}
#endif
#endif
