/* sampler.h: many chains of one kernel on one target.
 *
 *     ais_sample_options options = {.seed = 1, .chains = 4, .warmup = 1000, .effective = 4000, .evaluations = 1000000};
 *     ais_sample_result result;
 *     ais_sample(&context, target, kernel, &options, &sink, 1, &result);
 *
 * draws until the worst ESS of all chains together is 4,000, with at most a million evaluations.
 *
 * Randomness is a pure function of (seed; chain, step, purpose): the same options give the same
 * bytes for any number of threads and ranks. Only with `seconds` and `stop` does the clock matter, and then only for
 * how many of these draws there are.
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
    AIS_ENDED_DRAWS,       /* all draws that were requested, or as many as fit */
    AIS_ENDED_EFFECTIVE,   /* there are as many effective draws as were requested */
    AIS_ENDED_EVALUATIONS, /* another draw would have exceeded the budget */
    AIS_ENDED_SECONDS,     /* the deadline passed */
    AIS_ENDED_STOPPED      /* the caller set `stop` */
} ais_ending;
extern const char *const ais_ending_name[]; /* "draws", "effective", "evaluations", "seconds", "stopped" */

typedef struct ais_progress {
    int chains;
    int warmup, draws;           /* planned, per chain; with `effective` an estimate */
    int warmup_done, draws_done; /* per chain */
    double seconds;              /* since the start */
    double seconds_left;         /* estimated; NAN as long as there is no basis for it */
    double acceptance;           /* mean accept_stat of the last round; NAN before the first */
    double effective;            /* worst ESS of all chains together when last computed; NAN before */
    long divergences;            /* after warm-up, all chains */
    long evaluations;            /* densities and gradients so far, all chains */
    bool over;                   /* this is the last report */
} ais_progress;

typedef struct ais_sample_options {
    uint64_t seed;
    int chains;       /* 0: 4 */
    int warmup;       /* per chain; 0 means none */
    int draws;        /* per chain; 0: 1000, or with `effective` as many as it takes */
    int thin;         /* keep every thin-th draw; 0: 1 */
    int threads;      /* 0: one per core */
    double effective; /* draw until ais_worst_ess is at least this, at most `draws`; 0: just `draws`. The draws are kept
                         in memory for that, at most 10^8 numbers: no more are made than fit */
    int least; /* draws per chain that are made in any case before `effective` counts; the run ends there if `draws` are
                  unlikely to reach it. 0: it counts from the beginning */
    long evaluations; /* a hard limit on densities and gradients of this call, including starting points and warm-up; a
                         draw that would exceed it is dropped. 0: no limit */
    double seconds;   /* of this call: what is drawn by then is kept. 0: no limit */
    bool save_warmup;
    const double *start; /* chains x dim, row-major; NULL: N(0, start_scale^2), tried 100 times
                            until the density is positive; for spline, realnvp and affine kernels on x
                            alone, and in their latent space, draws of the map */
    /* Called a few times per second by the thread that called ais_sample; or NULL. */
    void (*progress)(const ais_progress *, void *);
    void *progress_data;
    const volatile sig_atomic_t
        *stop; /* non-zero ends the run after the current step; or NULL. A density that cannot continue sets it and
                  returns NaN: the step is abandoned, and the draws so far are kept */
    const char *const *config; /* for the head of the files; see ais_run_header */
    const ais_ranks *ranks;    /* chains are divided among these, and only rank 0 has sinks; NULL: one process */
} ais_sample_options;

typedef struct ais_sample_result {
    int draws; /* per chain; fewer than planned if something else ended the run */
    ais_ending ended;
    double warmup_seconds, sample_seconds;
    double acceptance;       /* mean accept_stat after warm-up */
    double involution_error; /* largest round trip of a proposal that was not rejected for it; NAN
                                for kernels without an involution */
    double effective;        /* worst ESS of all chains together when last computed; NAN unless requested */
    long divergences;
    /* Counted, not estimated: evaluations of the target in this call. A gradient comes with its density. */
    long densities, gradients;
    long start_evaluations;  /* of them, for the starting points and the first step sizes */
    long warmup_evaluations; /* of them, in warm-up; the rest were for the draws */
    bool gave_up;            /* the density failed after `stop` had been set: do not evaluate it again */
} ais_sample_result;

/* Runs the chains and passes their draws to the sinks. result may be NULL. AIS_OK also if a budget or deadline ended
 * the drawing. AIS_STOPPED if stop was set, or if warm-up did not end in time or within the budget; the sinks are ended
 * then, too. All chains always have equal length. */
ais_status ais_sample(ais_context *context, const ais_target *target, const ais_kernel *kernel,
                      const ais_sample_options *options, ais_sink *const *sinks, int sink_count,
                      ais_sample_result *result);

#ifdef __cplusplus
}
#endif
#endif
