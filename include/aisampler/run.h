/* run.h: the whole job in one call. Learns a kernel, draws with it under the exact test, judges the draws.
 *
 *     ais_target target = {.name = "mine", .dim = 2, .logp = my_logp};
 *     ais_run_result *result;
 *     if (ais_run(&context, &target, NULL, &result) == AIS_OK && result->trust)
 *         printf("mean of the first parameter: %g\n", result->diagnosis->parameter[0].mean);
 *     ais_run_free(result);
 *
 * Options that are said:
 *
 *     ais_run_options options = {AIS_RUN_HEAD, .seed = 1, .effective = 4000, .evaluations = 1000000};
 *
 * With a checkpoint a run that was killed at any moment goes on where it was, and ends with the very same draws, on any
 * number of threads:
 *
 *     ais_run_options options = {AIS_RUN_HEAD, .seed = 1, .checkpoint = "mine.checkpoint", .resume = true};
 *     ais_run(&context, &target, &options, &result);       from the beginning when there is no such file
 *
 * and a run that is over can be extended, as if more draws had been asked for at first:
 *
 *     options.extend = 1000;                               all else as it was then
 *     ais_run(&context, &target, &options, &longer);
 *
 * Sinks get all draws again, those of before included. Options and target must be those of then: what is found to
 * differ is refused. Draws that `effective`, `evaluations` or `seconds` limited are extended without that limit.
 *
 * Runs have nothing in common: several threads may each have one under way, with a context each. The density is then
 * called from all of them.
 */
#ifndef AISAMPLER_RUN_H
#define AISAMPLER_RUN_H

#include "report.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What a job may cost; 0: no limit. */
typedef struct ais_budget {
    double effective; /* draws wanted, as a worst ESS of all chains */
    long evaluations; /* of the density and its gradient, all together */
    double seconds;
} ais_budget;

/* What is left of a budget after these evaluations and seconds, less the time that judging and writing will take.
 * AIS_SPENT when that is nothing. */
ais_status ais_budget_left(ais_context *context, const ais_budget *all, long evaluations, double seconds,
                           ais_budget *left);

/* What learning ended with, before the first draw. */
typedef struct ais_run_learned {
    const ais_kernel *kernel;
    const ais_training *training;
    bool stopped;      /* `stop` ended it: the best kernel so far, and the context's message says when */
    const char *rival; /* the classical kernel that does better: chains will take a step of each in turn, and the
                          result's kernel is their cycle, of which `kernel` is the first part; or NULL */
} ais_run_learned;

/* What the caller did before the run, so that it is not done again but counts. */
typedef struct ais_run_before {
    const ais_check *check;       /* of the target; NULL: the run checks it */
    const ais_kernel *kernel;     /* to draw with; NULL: the run learns one */
    const ais_training *training; /* of that kernel, where there was one: its evaluations and its warning count */
    int warmup;                   /* steps per chain that the kernel takes to adapt; 0: 1000 */
    double seconds;               /* since the beginning of the job that options.seconds limits */
} ais_run_before;

/* Zero means the default, but for size. */
typedef struct ais_run_options {
    size_t
        size; /* sizeof(ais_run_options), written by AIS_RUN_HEAD: programs built for an older library go on working */
    uint64_t seed;
    int chains; /* 0: 16 */
    int draws; /* per chain, at most; 0: 1000 and, with a kernel that was learned, up to 4000 where the verdict asks for
                * more, or with `effective` as many as it takes */
    int warmup;  /* per chain; 0: 20, or 500 for a cycle with a classical kernel; less in a small budget. -1: none */
    int thin;    /* keep every thin-th draw; 0: 1 */
    int threads; /* 0: one per core */
    double effective; /* draw until the worst ESS of all chains is this, and learn as much as that is worth; up to
                       * four times as many draws where fewer would leave the reach of the map in doubt */
    long evaluations; /* of the whole call, at most; learning gets half of them */
    double seconds;   /* of the whole call, judging included; learning gets half of them. What there is by then depends
                         on the machine */
    bool save_warmup; /* in the sinks */
    /* How to learn; NULL: all is chosen. Seed, threads, budget, stop and ranks are those of the run: here they must be
     * left zero. */
    const ais_train_options *learning;
    const double
        *start; /* chains x dim; NULL: where learning has been, or as in ais_sample for a kernel that is given */
    ais_run_before before;
    ais_sink *const *sinks; /* more places for the draws than memory, `sink_count` of them; the caller frees them */
    int sink_count;
    /* Called once, when learning is over; another status than AIS_OK ends the run. Or NULL. */
    ais_status (*learned)(ais_context *, const ais_run_learned *, void *);
    void *learned_data;
    /* Called a few times per second while draws are made, by the thread that called ais_run; or NULL. Learning has a
     * callback of its own in `learning`. */
    void (*progress)(const ais_progress *, void *);
    void *progress_data;
    /* Non-zero ends learning with the best kernel so far, and drawing with the draws so far; or NULL. Who sets it back
     * to zero in `learned` gets draws after learning was stopped. A density that cannot go on sets it and answers NaN:
     * it is evaluated no more, not even to judge, and the draws so far come back. It is read atomically; from another
     * thread than the one that called, set it so: __atomic_store_n(&stop, 1, __ATOMIC_RELAXED). */
    const volatile sig_atomic_t *stop;
    const ais_ranks *ranks; /* rank 0 alone has sinks, and gets draws and diagnosis; NULL: all here */
    /* A file that is renewed while draws are made and stays at the end, with CHECKPOINT.journal beside it, which has
     * the draws; or NULL. Learning has a checkpoint of its own in `learning`. */
    const char *checkpoint;
    double checkpoint_seconds; /* at least so long between two writings; 0: 1, or 50 times what a writing takes */
    bool resume;               /* goes on from the checkpoint, if there is one; refuses that of another run */
    int extend;                /* draws per chain to add to the finished run of the checkpoint; 0: none */
    const char *identity;      /* lines "key value" that a checkpoint to go on from must have as well; or NULL */
} ais_run_options;

#define AIS_RUN_HEAD .size = sizeof(ais_run_options)

typedef struct ais_run_result {
    ais_draws *draws;         /* NULL when there are none, or more than AIS_MOST_JUDGED numbers, which only sinks got */
    ais_draws *unconstrained; /* their x, for a target with a view (target.h); else NULL */
    ais_diagnosis *diagnosis; /* of the draws, the warning of learning included; NULL without draws */
    bool trust;               /* there is a diagnosis, and it has no warning */
    char verdict[256];        /* the same as a sentence */
    double log_z, log_z_error;   /* log of the integral of exp(logp); NAN where neither draws nor learning tell */
    ais_evaluations evaluations; /* what was asked of the density, and what for */
    ais_check check;             /* of the target: its note, if any, is for the user, with what the target told of
                                    the run (ais_target_tell) */
    ais_kernel *kernel;          /* learned here, in a cycle with its rival if it has one; NULL when it was given */
    ais_training *training;      /* likewise */
    int warmup;                  /* steps per chain, as they were chosen */
    ais_sample_result sample;    /* how drawing went and why it ended */
} ais_run_result;

#define AIS_MOST_JUDGED 4e8 /* numbers that are kept to be judged: 3.2 GB */

/* Learns, draws and judges. options NULL: all defaults. In the plane a target with a reference is judged against it by
 * quadrature; a density without one is evaluated for learning and drawing only.
 *
 * AIS_OK also when a budget ended it among the draws. AIS_STOPPED when `stop` was set, or when a budget was over before
 * the first draw: the result has then what there is, the draws so far and their diagnosis. After any other status the
 * result is NULL, unless it is judging that failed: then the draws are there. The caller frees it. */
ais_status ais_run(ais_context *context, const ais_target *target, const ais_run_options *options,
                   ais_run_result **result);
void ais_run_free(ais_run_result *result); /* NULL is allowed */

/* The kernel and the training that the checkpoint of a run has, for a caller who gave them to ais_run and is to give
 * them again; NULL where there is none. The caller frees them. */
ais_status ais_run_recall_learned(ais_context *context, const char *checkpoint, const ais_target *target,
                                  ais_kernel **kernel, ais_training **training);

/* report.html of a run: verdict, numbers, table, figures (report.h). A target with a reference adds what is known of
 * it; other densities are not evaluated again. AIS_BAD_ARGUMENT when there are no draws, or they were not diagnosed. */
typedef struct ais_run_page {
    const char *title;                /* what was drawn from, in words */
    uint64_t seed;                    /* of the run */
    const ais_target *target;         /* or NULL */
    const ais_training *training;     /* of a kernel that was given; or NULL */
    const char *const *configuration; /* "key = value" lines, ends with NULL; or NULL */
    const int *parameter;             /* which the figures show, and true values, as in ais_figure_data; or NULL */
    int parameters;
    const double *truth;
} ais_run_page;
ais_status ais_run_html(ais_context *context, const ais_run_result *result, const ais_run_page *page, FILE *file);

/* Writes points to start `chains` chains from, chains x dim: members of what learning left, which are already about
 * distributed as the target. */
void ais_training_starts(const ais_training *training, int chains, double *start);

#ifdef __cplusplus
}
#endif
#endif
