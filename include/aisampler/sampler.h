/* sampler.h: many chains of one kernel on one target.
 *
 * Randomness is a pure function of (seed; chain, step, purpose): the same options give the same
 * bytes for any number of threads and ranks.
 */
#ifndef AISAMPLER_SAMPLER_H
#define AISAMPLER_SAMPLER_H

#include <signal.h>

#include "draws.h"
#include "ranks.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct ais_progress {
    int chains;
    int warmup, draws;           /* planned, per chain */
    int warmup_done, draws_done; /* per chain */
    double seconds;              /* since the start */
    double seconds_left;         /* estimated; NAN before there is anything to go by */
    double acceptance;           /* mean accept_stat of the last chunk */
    long divergences;            /* after warm-up, all chains */
    long evaluations;            /* leapfrogs or proposals so far, all chains */
} ais_progress;

typedef struct ais_sample_options {
    uint64_t seed;
    int chains;  /* 0: 4 */
    int warmup;  /* per chain; 0 is taken as it is */
    int draws;   /* per chain; 0: 1000 */
    int thin;    /* keep every thin-th draw; 0: 1 */
    int threads; /* 0: one per core */
    bool save_warmup;
    const double *start; /* chains x dim, row-major; NULL: N(0, start_scale^2), tried 100 times
                            until the density is positive; for spline and realnvp kernels on x alone
                            the kernel's own draws */
    void (*progress)(const ais_progress *, void *); /* called a few times a second; or NULL */
    void *progress_data;
    const volatile sig_atomic_t *stop; /* non-zero asks the run to end after the current step; or NULL */
    const char *const *config;         /* for the head of the files; see ais_run_header */
    const ais_ranks *ranks;            /* chains are split over these, and rank 0 alone has sinks; NULL: all here */
} ais_sample_options;

typedef struct ais_sample_result {
    int draws; /* per chain, fewer than planned when stopped */
    double warmup_seconds, sample_seconds;
    double acceptance;       /* mean accept_stat after warm-up */
    double involution_error; /* largest round trip of a proposal that was not rejected for it; NAN
                                for kernels without an involution */
    long divergences;
    long evaluations; /* of the density or its gradient, after warm-up */
} ais_sample_result;

/* Runs the chains and hands their draws to the sinks. result may be NULL. When stop was set:
 * AIS_STOPPED, with every sink ended and all chains of equal length. */
ais_status ais_sample(ais_context *context, const ais_target *target, const ais_kernel *kernel,
                      const ais_sample_options *options, ais_sink *const *sinks, int sink_count,
                      ais_sample_result *result);

#ifdef __cplusplus
}
#endif
#endif
