/* The whole job: check, learn, draw, judge. */
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <aisampler/run.h>

#include "base/clock.h"
#include "base/ranks.h"
#include "base/status.h"
#include "base/stop.h"
#include "kernel/kernel.h"
#include "report/verdict.h"
#include "run/keep.h"
#include "run/reach.h"
#include "run/record.h"
#include "sampler/resume.h"
#include "trainer/verify.h"

enum {
    usual_chains = 16,
    usual_draws = 1000, /* per chain, and up to most_usual where the verdict needs more */
    most_usual = 4 * usual_draws,
    learned_warmup = 20, /* nothing adapts, and chains start where learning has been */
    rival_warmup = 500,  /* what NUTS and the random walk take to adapt */
    given_warmup = 1000,
    judging_share = 16 /* judging may take a sixteenth of what was evaluated before */
};

/* After a stop the run should end soon: how many numbers are judged even so, and how many seconds evaluating the
 * density again may take. */
static const double most_judged_stopped = 4e6, stopped_seconds = 4;

/* One job under way. */
typedef struct job {
    const ais_target *target;
    ais_run_options options;
    ais_budget budget;
    double began;
    ais_run_result *result;
    const ais_kernel *kernel;     /* that draws: given, or the result's */
    const ais_training *training; /* likewise; or NULL */
    int usual_warmup;
    ais_job_record record; /* in its checkpoint */
    ais_run_reach reach;   /* of the kernel's proposals; weights of the draws by them */
} job;

/* ---- options ------------------------------------------------------------------------------------- */

/* A chain's point, density, tuning and one draw with its sampler columns, at the least: what the sampler keeps. */
static double bytes_per_chain(int dim) { return (3.0 * dim + 16) * sizeof(double); }

static ais_status check_chains(ais_context *context, int chains, int dim) {
    double need = chains * bytes_per_chain(dim);
    double have = (double)sysconf(_SC_PHYS_PAGES) * (double)sysconf(_SC_PAGESIZE);
    if (need <= have) return AIS_OK;
    return ais_fail(context, AIS_BAD_ARGUMENT,
                    "%d chains of %d parameters need at least %.3g GB and this machine has %.3g: take fewer", chains,
                    dim, need * 1e-9, have * 1e-9);
}

static bool said_twice(const ais_train_options *learning) {
    return learning->seed || learning->threads || learning->effective != 0 || learning->evaluations ||
           learning->seconds != 0 || learning->stop || learning->ranks;
}

static ais_status check_options(ais_context *context, const ais_run_options *options, int dim) {
    if (options->chains < 0 || options->draws < 0 || options->warmup < -1 || options->thin < 0 ||
        options->threads < 0 || options->sink_count < 0)
        return ais_fail(context, AIS_BAD_ARGUMENT,
                        "chains, draws, warmup, thin, threads and sink_count must not be negative");
    if (!(options->effective >= 0) || options->evaluations < 0 || !(options->seconds >= 0) ||
        isinf(options->effective) || isinf(options->seconds))
        return ais_fail(context, AIS_BAD_ARGUMENT, "effective, evaluations and seconds must be numbers, 0 or more");
    if (options->draws > 0 && options->effective > (double)options->chains * options->draws)
        return ais_fail(
            context, AIS_BAD_ARGUMENT,
            "effective %g is more than %d chains of at most %d draws can give: raise draws or leave one of them out",
            options->effective, options->chains, options->draws);
    if (options->learning && said_twice(options->learning))
        return ais_fail(context, AIS_BAD_ARGUMENT,
                        "seed, threads, budget, stop and ranks of learning are those of the run: leave them zero");
    if (options->learning && options->before.kernel)
        return ais_fail(context, AIS_BAD_ARGUMENT,
                        "a kernel is given, so nothing is learned: leave out the options of learning");
    if (options->before.training && !options->before.kernel)
        return ais_fail(context, AIS_BAD_ARGUMENT, "a training without its kernel was given");
    if (options->extend < 0 || !(options->checkpoint_seconds >= 0))
        return ais_fail(context, AIS_BAD_ARGUMENT, "extend and checkpoint_seconds must not be negative");
    if ((options->resume || options->extend > 0) && !options->checkpoint)
        return ais_fail(context, AIS_BAD_ARGUMENT, "resume and extend need the checkpoint of the run");
    return check_chains(context, options->chains, dim);
}

/* Whatever the caller's header had, in the struct of this library. */
static ais_status read_options(ais_context *context, const ais_run_options *given, int dim, ais_run_options *options) {
    *options = (ais_run_options){AIS_RUN_HEAD};
    if (given && given->size < sizeof(size_t) + sizeof(uint64_t))
        return ais_fail(context, AIS_BAD_ARGUMENT, "the options have no size: begin them with AIS_RUN_HEAD");
    if (given && given->size > sizeof *options)
        return ais_fail(context, AIS_BAD_ARGUMENT,
                        "the options are of a newer header than this library, which is aisampler %s", ais_version());
    if (given) memcpy(options, given, given->size);
    if (!options->chains) options->chains = usual_chains;
    if (!options->thin) options->thin = 1;
    return check_options(context, options, dim);
}

/* ---- check, learn -------------------------------------------------------------------------------- */

static double elapsed(const job *this) { return ais_now() - this->began; }

static ais_status check(ais_context *context, job *this) {
    if (this->options.before.check) {
        this->result->check = *this->options.before.check;
        return AIS_OK;
    }
    if (this->budget.evaluations > 0 && this->target->draws)
        return ais_fail(context, AIS_BAD_ARGUMENT,
                        "%s is a set of draws and has no density to evaluate: leave "
                        "evaluations out",
                        this->target->name);
    this->result->check = (ais_check){.evaluations = this->budget.evaluations, .threads = this->options.threads};
    return ais_target_check(context, this->target, this->options.seed, &this->result->check);
}

/* Where a classical kernel does better, the two are cycled: one step of each in turn. */
static ais_status join_rival(ais_context *context, job *this) {
    const char *rival = this->training->rival;
    ais_kernel *part[2] = {this->result->kernel, NULL};
    ais_status status =
        strcmp(rival, "nuts") == 0 ? ais_kernel_nuts(context, NULL, &part[1]) : ais_kernel_rwm(context, NULL, &part[1]);
    if (status != AIS_OK) return status;
    this->result->kernel = NULL; /* the cycle owns its parts, also when it fails */
    this->usual_warmup = rival_warmup;
    return ais_kernel_cycle(context, part, 2, &this->result->kernel);
}

static ais_status train(ais_context *context, job *this, const ais_budget *left) {
    const ais_run_options *options = &this->options;
    ais_train_options how = options->learning ? *options->learning : (ais_train_options){0};
    how.seed = options->seed;
    how.threads = options->threads;
    how.effective = left->effective;
    how.evaluations = (left->evaluations + 1) / 2; /* the rest is for the draws */
    how.seconds = left->seconds / 2;
    how.stop = options->stop;
    how.ranks = options->ranks;
    return ais_train(context, this->target, &how, &this->result->kernel, &this->result->training);
}

/* Learning is over, now or before an interruption. */
static ais_status take_learned(ais_context *context, job *this, bool stopped) {
    ais_run_result *result = this->result;
    this->training = result->training;
    bool rival = result->training->rival_ess_per_second > result->training->ess_per_second;
    const ais_run_learned learned = {result->kernel, result->training, stopped, rival ? result->training->rival : NULL};
    ais_status status =
        this->options.learned ? this->options.learned(context, &learned, this->options.learned_data) : AIS_OK;
    /* A run that was stopped while learning continues with learning: its draws are not to be continued. */
    if (stopped) ais_job_forget(&this->record);
    if (status == AIS_OK) status = ais_job_note(context, &this->record, result->kernel, result->training, this->began);
    if (status == AIS_OK && rival) status = join_rival(context, this);
    this->kernel = result->kernel;
    return status;
}

/* What was learned before the interruption. A kernel that the caller gives is the same: the identity says so. */
static ais_status recall(ais_context *context, job *this) {
    ais_job_record *record = &this->record;
    ais_status status = ais_ranks_agree(context, this->options.ranks, ais_job_recall(context, record, this->target));
    if (status != AIS_OK) return status;
    this->began = record->began;
    if (this->kernel) return AIS_OK;
    if (!record->kernel || !record->training || record->training->count < 1)
        return ais_fail(context, AIS_BAD_FORMAT, "%s has no kernel", this->options.checkpoint);
    record->owns = false;
    this->result->kernel = record->kernel;
    this->result->training = record->training;
    return take_learned(context, this, false);
}

static ais_status learn(ais_context *context, job *this) {
    ais_run_result *result = this->result;
    ais_budget left;
    ais_status status = ais_budget_left(context, &this->budget, result->check.densities + result->check.gradients,
                                        elapsed(this), &left);
    if (status == AIS_OK) status = train(context, this, &left);
    bool stopped = status == AIS_STOPPED && result->kernel;
    if (status != AIS_OK && !stopped) return status;
    return take_learned(context, this, stopped);
}

void ais_training_starts(const ais_training *training, int chains, double *start) {
    size_t dim = (size_t)training->dim, count = (size_t)training->count;
    for (size_t c = 0; c < (size_t)chains; c++)
        memcpy(start + c * dim, training->x + c * count / (size_t)chains % count * dim, dim * sizeof *start);
}

/* ---- draw ---------------------------------------------------------------------------------------- */

/* Effective draws that come far more slowly than learning predicted are a sign of chains that are stuck: better to end
 * than to draw for ever. */
static int most_draws(const job *this) {
    enum { slower = 20, least = 1000, most = 1 << 30 };
    const ais_run_options *options = &this->options;
    bool goal = options->effective > 0 && options->draws == 0;
    if (!goal || !this->result->training || !(this->training->worst_ess > 0)) return options->draws;
    double draws = slower * options->effective / this->training->worst_ess / options->chains;
    return draws < least ? least : draws > most ? most : (int)draws;
}

/* By default as many draws as the verdict needs, if that is not many more than usual and they fit into memory. With a
 * given kernel, the usual number. */
static void choose_draws(const job *this, ais_sample_options *options) {
    double numbers = (double)most_usual * options->chains * (this->target->dim + 1);
    if (options->draws > 0 || options->effective > 0) return;
    options->draws = usual_draws;
    if (!this->result->training || numbers > AIS_MOST_KEPT) return;
    options->draws = most_usual;
    options->least = usual_draws;
    options->effective = (double)AIS_LEAST_ESS * options->chains;
}

/* Judging takes about a microsecond per number: at most as many draws as can be judged in a tenth of the time. */
static void fit_deadline(const job *this, ais_sample_options *options) {
    double fit = fmax(1e5 * this->budget.seconds / ((double)this->target->dim * options->chains), 1);
    if (this->budget.seconds == 0 || (options->draws > 0 && options->draws <= fit)) return;
    options->draws = fit < 1e9 ? (int)fit : (int)1e9;
    options->effective = fmin(options->effective, (double)options->draws * options->chains);
}

/* By default warm-up takes only a part of a budget: a twentieth where nothing adapts, else a quarter, counting a
 * trajectory as sixteen evaluations. */
static int warmup_of(const job *this, long evaluations) {
    int said = this->options.warmup;
    if (said != 0) return said > 0 ? said : 0;
    if (evaluations == 0) return this->usual_warmup;
    long most = evaluations / this->options.chains /
                (this->kernel->type->trajectories ? 64
                 : ais_kernel_shape(this->kernel) ? 20
                                                  : 4);
    return most < this->usual_warmup ? (int)most : this->usual_warmup;
}

static long evaluations_so_far(const job *this) {
    const ais_evaluations so_far = ais_evaluations_of(&this->result->check, this->training, &this->result->sample, 0);
    return so_far.densities + so_far.gradients;
}

static ais_status sample(ais_context *context, job *this, const double *start, ais_sink *const *sinks, int count) {
    const ais_run_options *wish = &this->options;
    ais_budget left;
    ais_status status = ais_budget_left(context, &this->budget, evaluations_so_far(this), elapsed(this), &left);
    bool counts = this->budget.evaluations == 0 || left.evaluations > 0;
    if (status == AIS_SPENT && this->record.found && counts) {
        left.seconds = DBL_MIN; /* the draws of before the interruption are left */
        status = AIS_OK;
    }
    if (status != AIS_OK) return status;
    ais_sample_options options = {.seed = wish->seed,
                                  .chains = wish->chains,
                                  .warmup = warmup_of(this, left.evaluations),
                                  .draws = most_draws(this),
                                  .effective = left.effective,
                                  .evaluations = left.evaluations,
                                  .seconds = left.seconds,
                                  .thin = wish->thin,
                                  .threads = wish->threads,
                                  .save_warmup = wish->save_warmup,
                                  .progress = wish->progress,
                                  .progress_data = wish->progress_data,
                                  .start = start,
                                  .stop = wish->stop,
                                  .ranks = wish->ranks};
    if (left.evaluations > 2 * judging_share) options.evaluations -= left.evaluations / (2 * judging_share);
    choose_draws(this, &options);
    fit_deadline(this, &options);
    this->result->warmup = options.warmup;
    ais_drawing drawing = {.checkpoint = this->record.checkpoint, .path = this->record.journal, .extend = wish->extend};
    status = ais_sample_on(context, this->target, this->kernel, &options, drawing.checkpoint ? &drawing : NULL,
                           ais_run_reach_doubt(&this->reach, this->kernel, wish->threads, wish->thin), sinks, count,
                           &this->result->sample);
    if (drawing.unlimited) this->budget = (ais_budget){0};
    return status;
}

/* Into memory first, then where the caller wants them. */
static ais_status draw_from(ais_context *context, job *this, const double *start) {
    int count = this->options.sink_count + 1;
    ais_sink **sinks = malloc((size_t)count * sizeof *sinks);
    if (!sinks) return ais_fail_memory(context, "sinks", (size_t)count * sizeof *sinks);
    ais_status status = ais_keep_new(context, this->options.sink_count > 0, &sinks[0]);
    if (status == AIS_OK) {
        for (int i = 1; i < count; i++) sinks[i] = this->options.sinks[i - 1];
        status = sample(context, this, start, sinks, count);
        if (status == AIS_OK || status == AIS_STOPPED)
            ais_keep_take(sinks[0], &this->result->draws, &this->result->unconstrained);
        ais_sink_free(sinks[0]);
    }
    free(sinks);
    return status;
}

static ais_status draw(ais_context *context, job *this) {
    if (this->options.start || !this->result->training) return draw_from(context, this, this->options.start);
    size_t bytes = (size_t)this->options.chains * (size_t)this->target->dim * sizeof(double);
    double *start = malloc(bytes);
    if (!start) return ais_fail_memory(context, "the starting points of chains", bytes);
    ais_training_starts(this->training, this->options.chains, start);
    ais_status status = draw_from(context, this, start);
    free(start);
    return status;
}

/* ---- judge --------------------------------------------------------------------------------------- */

/* Within what is left of a budget; -1: none. */
static long judging_limit(const job *this) {
    if (this->result->sample.gave_up) return -1;
    long total = evaluations_so_far(this), most = total / judging_share, all = this->budget.evaluations;
    if (all > 0 && all - total < most) most = all - total;
    return most > 0 ? most : -1;
}

static bool stop_asked(const job *this) { return ais_asked_to_stop(this->options.stop); }

/* Half of what is left until the deadline: files and figures take time, too. */
static double judging_seconds(const job *this) {
    double left = (this->budget.seconds - elapsed(this)) / 2;
    if (stop_asked(this)) return left > 0 && left < stopped_seconds ? left : stopped_seconds;
    return this->budget.seconds == 0 ? 0 : left > 0 ? left : -1;
}

/* Rank 0 judges, unless the run was stopped and judging would take long. */
static bool to_be_judged(const job *this) {
    const ais_draws *draws = this->result->draws;
    if (!draws || !ais_ranks_lead(this->options.ranks)) return false;
    return !stop_asked(this) || (double)draws->dim * draws->chains * draws->draws <= most_judged_stopped;
}

static ais_status verify(ais_context *context, const job *this, long *judging) {
    const ais_verify_options options = {.kernel = this->kernel,
                                        .training = this->training,
                                        .thin = this->options.thin,
                                        .threads = this->options.threads,
                                        .evaluations = judging_limit(this),
                                        .seconds = judging_seconds(this)};
    const ais_run_result *result = this->result;
    const ais_draws *x = result->unconstrained ? result->unconstrained : result->draws;
    double *weight = ais_run_reach_weights(&this->reach, x);
    ais_status status = ais_verify_weighed(context, this->target->draws ? NULL : this->target, x, &options, weight,
                                           result->diagnosis, judging);
    free(weight);
    return status;
}

/* After the run the note of the check also has the errors of the density, and so have the checks of the verdict: that a
 * density cannot be computed at some points is no reason for distrust. */
static ais_status listen(ais_context *context, const job *this) {
    char text[sizeof this->result->check.note], *note = this->result->check.note;
    ais_target_tell(this->target, text, sizeof text);
    if (!text[0]) return AIS_OK;
    size_t used = strlen(note);
    snprintf(note + used, sizeof text - used, "%s%s", used ? "; " : "", text);
    ais_diagnosis *diagnosis = this->result->diagnosis;
    return diagnosis ? ais_diagnosis_note(context, diagnosis, "errors of the density", true, "%s", text) : AIS_OK;
}

static ais_status judge(ais_context *context, job *this, long *judging) {
    ais_run_result *result = this->result;
    /* In two dimensions the diagnosis integrates the density over a grid, 10^5 evaluations: that is worth it for a
     * target whose truth is known, but a user's own density may take milliseconds. */
    const ais_target *known = this->target->reference ? this->target : NULL;
    ais_status status = ais_diagnose(context, result->draws, known, &result->diagnosis);
    if (status == AIS_OK) status = verify(context, this, judging);
    if (status != AIS_OK) {
        ais_diagnosis_free(result->diagnosis);
        result->diagnosis = NULL;
        return status;
    }
    result->trust = result->diagnosis->warnings == 0;
    ais_report_verdict(result->diagnosis, result->verdict);
    if (!isnan(result->diagnosis->log_z)) {
        result->log_z = result->diagnosis->log_z;
        result->log_z_error = result->diagnosis->log_z_error;
    }
    return AIS_OK;
}

/* One warning per line, for the caller to free; NULL when memory is out. */
static char *lines_of_warnings(const ais_diagnosis *diagnosis) {
    size_t room = (size_t)diagnosis->warnings * sizeof diagnosis->warning[0] + 1, used = 0;
    char *text = calloc(1, room);
    for (int i = 0; text && i < diagnosis->warnings; i++)
        used += (size_t)snprintf(text + used, room - used, "%s%s", i ? "\n" : "", diagnosis->warning[i]);
    return text;
}

static ais_status tell_sinks(ais_context *context, const job *this) {
    const ais_run_result *result = this->result;
    char *warnings = lines_of_warnings(result->diagnosis);
    ais_status status = warnings ? AIS_OK : ais_fail_memory(context, "the warnings", sizeof result->verdict);
    const ais_run_judgement judgement = {.log_z = result->log_z,
                                         .log_z_error = result->log_z_error,
                                         .densities = result->evaluations.densities,
                                         .gradients = result->evaluations.gradients,
                                         .trust = result->trust,
                                         .verdict = result->verdict,
                                         .warnings = warnings};
    for (int i = 0; status == AIS_OK && i < this->options.sink_count; i++) {
        ais_sink *sink = this->options.sinks[i];
        if (sink->judged) status = sink->judged(context, sink, &judgement);
    }
    free(warnings);
    return status;
}

/* What the result has besides draws and diagnosis. */
static void account(const job *this) {
    ais_run_result *result = this->result;
    if (this->training) {
        result->log_z = this->training->log_z;
        result->log_z_error = this->training->log_z_error;
    }
    if (result->draws && result->draws->draws == 0) {
        ais_draws_free(result->draws);
        ais_draws_free(result->unconstrained);
        result->draws = result->unconstrained = NULL;
    }
    snprintf(result->verdict, sizeof result->verdict, "%s",
             result->sample.draws == 0 ? "there are no draws"
             : result->draws           ? "the draws were not diagnosed, because the run had to end"
                                       : "the draws were not diagnosed: there are too many to keep in memory");
}

void ais_run_free(ais_run_result *result) {
    if (!result) return;
    ais_diagnosis_free(result->diagnosis);
    ais_draws_free(result->draws);
    ais_draws_free(result->unconstrained);
    ais_kernel_free(result->kernel);
    ais_training_free(result->training);
    free(result);
}

ais_status ais_run(ais_context *context, const ais_target *target, const ais_run_options *given,
                   ais_run_result **result_out) {
    *result_out = NULL;
    job this = {.target = target};
    ais_status status = read_options(context, given, target->dim, &this.options);
    if (status != AIS_OK) return status;
    const ais_run_before *before = &this.options.before;
    this.began = ais_now() - before->seconds;
    this.budget = (ais_budget){this.options.effective, this.options.evaluations, this.options.seconds};
    this.kernel = before->kernel;
    this.training = before->training;
    this.usual_warmup = !before->kernel ? learned_warmup : before->warmup ? before->warmup : given_warmup;
    this.result = calloc(1, sizeof *this.result);
    if (!this.result) return ais_fail_memory(context, "the result", sizeof *this.result);
    this.result->log_z = this.result->log_z_error = NAN;

    status = ais_job_open(context, target, &this.options, &this.record);
    if (status == AIS_OK) status = check(context, &this);
    if (status == AIS_OK && this.record.found)
        status = recall(context, &this);
    else if (status == AIS_OK && !this.kernel)
        status = learn(context, &this);
    else if (status == AIS_OK)
        status = ais_job_note(context, &this.record, this.kernel, this.training, this.began);
    if (status == AIS_OK) status = draw(context, &this);
    ais_job_close(&this.record);
    if (status != AIS_OK && status != AIS_STOPPED) {
        ais_run_reach_free(&this.reach);
        ais_run_free(this.result);
        return status;
    }
    account(&this);
    long judging = 0;
    ais_context judges = {0}; /* so that a message of drawing is kept */
    ais_status judged = AIS_OK;
    bool here = to_be_judged(&this);
    if (here) judged = judge(&judges, &this, &judging);
    if (here && judged == AIS_OK) judged = listen(&judges, &this);
    this.result->evaluations = ais_evaluations_of(&this.result->check, this.training, &this.result->sample, judging);
    if (here && judged == AIS_OK) judged = tell_sinks(&judges, &this);
    if (judged != AIS_OK) *context = judges, status = judged;
    ais_run_reach_free(&this.reach);
    *result_out = this.result;
    return status;
}
