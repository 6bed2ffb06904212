/* run.h: the whole job in one call. Learns a kernel, draws with it under the exact test, judges the draws.
 *
 *     ais_target target = {.name = "mine", .dim = 2, .logp = my_logp};
 *     ais_run_result *result;
 *     if (ais_run(&context, &target, NULL, &result) == AIS_OK && result->trust)
 *         printf("mean of the first parameter: %g\n", result->diagnosis->parameter[0].mean);
 *     ais_run_free(result);
 *
 * With options:
 *
 *     ais_run_options options = {AIS_RUN_HEAD, .seed = 1, .effective = 4000, .evaluations = 1000000};
 *
 * With a checkpoint, a run that was killed at any moment continues where it was and ends with exactly the same draws,
 * on any number of threads:
 *
 *     ais_run_options options = {AIS_RUN_HEAD, .seed = 1, .checkpoint = "mine.checkpoint", .resume = true};
 *     ais_run(&context, &target, &options, &result);       from the beginning if there is no such file
 *
 * and a finished run can be extended, as if more draws had been requested from the start:
 *
 *     options.extend = 1000;                               everything else as before
 *     ais_run(&context, &target, &options, &longer);
 *
 * Sinks get all draws again, including the earlier ones. Options and target must be the same: a difference that is
 * found is refused. A run that `effective`, `evaluations` or `seconds` limited is extended without that limit.
 *
 * Runs share nothing: several threads may each have one under way, each with its own context. The density is then
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

/* What is left of a budget after these evaluations and seconds, minus the time that judging and writing will take.
 * AIS_SPENT if nothing is left. */
ais_status ais_budget_left(ais_context *context, const ais_budget *all, long evaluations, double seconds,
                           ais_budget *left);

/* The result of learning, before the first draw. */
typedef struct ais_run_learned {
    const ais_kernel *kernel;
    const ais_training *training;
    bool stopped;      /* `stop` ended it: this is the best kernel so far, and the context's message says when */
    const char *rival; /* a classical kernel that does better: chains will alternate between steps of both, and the
                          result's kernel is their cycle, with `kernel` as its first part; or NULL */
} ais_run_learned;

/* What the caller did before the run: it is not done again, but counted. */
typedef struct ais_run_before {
    const ais_check *check;       /* of the target; NULL: the run checks it */
    const ais_kernel *kernel;     /* to draw with; NULL: the run learns one */
    const ais_training *training; /* of that kernel, if there was one: its evaluations and its warning count */
    int warmup;                   /* steps per chain that the kernel needs to adapt; 0: 1000 */
    double seconds;               /* since the beginning of the job that options.seconds limits */
} ais_run_before;

/* Zero means the default, but for size. */
typedef struct ais_run_options {
    size_t
        size; /* sizeof(ais_run_options), written by AIS_RUN_HEAD: programs built for an older library keep working */
    uint64_t seed;
    int chains; /* 0: 16 */
    int draws;  /* per chain, at most; 0: 1000 and, with a learned kernel, up to 4000 if the verdict needs more, or with
                   `effective` as many as it takes */
    int warmup; /* per chain; 0: 20, or 500 for a cycle with a classical kernel; less in a small budget. -1: none */
    int thin;   /* keep every thin-th draw; 0: 1 */
    int threads;      /* 0: one per core */
    double effective; /* draw until the worst ESS of all chains is this, and learn as much as that is worth; up to four
                         times as many draws if fewer would leave the reach of the map in doubt */
    long evaluations; /* of the whole call, at most; learning gets half of them */
    double seconds;   /* of the whole call, judging included; learning gets half of them. The result then depends on the
                         machine */
    bool save_warmup; /* in the sinks */
    /* How to learn; NULL: everything is chosen automatically. Seed, threads, budget, stop and ranks are those of the
     * run and must be zero here. */
    const ais_train_options *learning;
    const double *start; /* chains x dim; NULL: points that learning left, or as in ais_sample if a kernel is given */
    ais_run_before before;
    ais_sink *const *sinks; /* where draws go besides memory, `sink_count` of them; the caller frees them */
    int sink_count;
    /* Called once, when learning is over; any status other than AIS_OK ends the run. Or NULL. */
    ais_status (*learned)(ais_context *, const ais_run_learned *, void *);
    void *learned_data;
    /* Called a few times per second while draws are made, by the thread that called ais_run; or NULL. Learning has a
     * callback of its own in `learning`. */
    void (*progress)(const ais_progress *, void *);
    void *progress_data;
    /* Non-zero ends learning with the best kernel so far, and drawing with the draws so far; or NULL. Set it back to
     * zero in `learned` to get draws after learning was stopped. A density that cannot continue sets it and returns
     * NaN: it is not evaluated again, not even to judge, and the draws so far are returned. It is read atomically; from
     * a thread other than the caller's, set it like this: __atomic_store_n(&stop, 1, __ATOMIC_RELAXED). */
    const volatile sig_atomic_t *stop;
    const ais_ranks *ranks; /* only rank 0 has sinks, draws and a diagnosis; NULL: one process */
    /* A file that is renewed while draws are made and stays at the end, with CHECKPOINT.journal beside it, which has
     * the draws; or NULL. Learning has a checkpoint of its own in `learning`. */
    const char *checkpoint;
    double checkpoint_seconds; /* minimum time between two writes; 0: 1, or 50 times what a write takes */
    bool resume;               /* continues from the checkpoint if there is one; refuses that of another run */
    int extend;                /* draws per chain to add to the finished run of the checkpoint; 0: none */
    const char *identity;      /* further lines "key value" that the checkpoint must have as well; or NULL */
} ais_run_options;

#define AIS_RUN_HEAD .size = sizeof(ais_run_options)

typedef struct ais_run_result {
    ais_draws *draws;         /* NULL if there are none, or more than AIS_MOST_JUDGED numbers, which only go to sinks */
    ais_draws *unconstrained; /* their x, for a target with a view (target.h); else NULL */
    ais_diagnosis *diagnosis; /* of the draws, the warning of learning included; NULL without draws */
    bool trust;               /* there is a diagnosis, and it has no warning */
    char verdict[256];        /* the same as a sentence */
    double log_z, log_z_error;   /* log of the integral of exp(logp); NAN if neither draws nor learning give it */
    ais_evaluations evaluations; /* how often the density was evaluated, and what for */
    ais_check check;          /* of the target: its note, if any, is for the user, and includes the target's own remarks
                                 (ais_target_tell) */
    ais_kernel *kernel;       /* learned here, in a cycle with its rival if it has one; NULL if it was given */
    ais_training *training;   /* likewise */
    int warmup;               /* steps per chain, as they were chosen */
    ais_sample_result sample; /* how drawing went and why it ended */
} ais_run_result;

#define AIS_MOST_JUDGED 4e8 /* numbers kept in memory to be judged: 3.2 GB */

/* Learns, draws and judges. options NULL: all defaults. In two dimensions a target with a reference is compared with it
 * by quadrature; a density without a reference is only evaluated for learning, drawing and the checks of ais_verify.
 *
 * AIS_OK also if a budget ended the drawing. AIS_STOPPED if `stop` was set, or if a budget ran out before the first
 * draw: the result then has what there is, the draws so far and their diagnosis. With any other status the result is
 * NULL, unless only judging failed: then it has the draws. The caller frees it. */
ais_status ais_run(ais_context *context, const ais_target *target, const ais_run_options *options,
                   ais_run_result **result);
void ais_run_free(ais_run_result *result); /* NULL is allowed */

/* The kernel and the training in the checkpoint of a run, for a caller who passed them to ais_run and has to pass them
 * again; NULL if there are none. The caller frees them. */
ais_status ais_run_recall_learned(ais_context *context, const char *checkpoint, const ais_target *target,
                                  ais_kernel **kernel, ais_training **training);

/* report.html of a run: verdict, numbers, table, figures (report.h). A target with a reference adds what is known about
 * it; other densities are not evaluated again. AIS_BAD_ARGUMENT if there are no draws, or they were not diagnosed. */
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

/* Writes starting points for `chains` chains, chains x dim: points that learning left, which are already approximately
 * distributed as the target. */
void ais_training_starts(const ais_training *training, int chains, double *start);

#ifdef __cplusplus
}
#endif
#endif
