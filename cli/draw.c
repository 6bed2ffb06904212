/* Draws into files, and records how good the draws are. */
#include "draw.h"

#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "guard.h"
#include "learning.h"
#include "page.h"
#include "ranks.h"

/* ---- files --------------------------------------------------------------------------------------- */

/* As in summary.json: jansson's integers have a sign; a seed beyond them is text. */
static json_t *seed_as_json(uint64_t seed) {
    char digits[24];
    snprintf(digits, sizeof digits, "%llu", (unsigned long long)seed);
    return seed <= INT64_MAX ? json_integer((json_int_t)seed) : json_string(digits);
}

static json_t *configuration(const settings *set, const ais_kernel *kernel) {
    return json_pack(
        "{so ss so so si si si si sb ss ss ss? sf sf sf sf si si si sf sI sf}", "target", json_text(set->target),
        "sampler", ais_kernel_name(kernel), "kernel_file", json_text(set->kernel_file), "seed", seed_as_json(set->seed),
        "chains", set->chains, "warmup", set->warmup, "draws", set->draws, "thin", set->thin, "save_warmup",
        (int)set->save_warmup, "format", set->format, "metric", set->metric, "test", set->test, "step_size",
        set->step_size, "target_accept", set->target_accept, "jitter", set->jitter, "scale", set->scale, "leapfrogs",
        set->leapfrogs, "max_depth", set->max_depth, "iterations", set->iterations, "effective", set->budget.effective,
        "evaluations", (json_int_t)set->budget.evaluations, "seconds", set->budget.seconds);
}

/* A run that is over, with the kernel and the training that were given or learned. */
typedef struct outcome {
    const ais_run_result *result;
    const ais_kernel *kernel;
    const ais_training *training; /* or NULL */
} outcome;

static json_t *evaluations_json(const ais_evaluations *count) {
    return json_pack("{sI sI sI sI sI sI sI}", "densities", (json_int_t)count->densities, "gradients",
                     (json_int_t)count->gradients, "start", (json_int_t)count->start, "learning",
                     (json_int_t)count->learning, "drawing", (json_int_t)count->drawing, "judging",
                     (json_int_t)count->judging, "total", (json_int_t)count->densities + count->gradients);
}

static bool write_run_json(const settings *set, const outcome *made, bool stopped) {
    const ais_sample_result *result = &made->result->sample;
    json_t *json = json_pack("{ss so si sb ss sf sf so}", "aisampler_version", ais_version(), "configuration",
                             configuration(set, made->kernel), "draws", result->draws, "stopped", (int)stopped, "ended",
                             ais_ending_name[result->ended], "warmup_seconds", result->warmup_seconds, "sample_seconds",
                             result->sample_seconds, "evaluations", evaluations_json(&made->result->evaluations));
    if (json && made->training) json_object_set_new(json, "training", learning_json(made->training));
    bool written = write_json(set->out, "run.json", json, JSON_INDENT(2) | JSON_SORT_KEYS);
    json_decref(json);
    return written;
}

static bool write_summary(const settings *set, const ais_diagnosis *diagnosis, const ais_report_run *run) {
    output_file output;
    ais_context context = {0};
    if (!output_open(&output, set->out, "summary.json")) return false;
    if (ais_report_json(&context, diagnosis, run, output.file) != AIS_OK) {
        output_abandon(&output);
        failed(&context);
        return false;
    }
    return output_commit(&output);
}

static bool write_report(const settings *set, const ais_target *target, const outcome *made) {
    json_t *json = configuration(set, made->kernel);
    const ais_run_page page = {.title = set->target,
                               .seed = set->seed,
                               .target = target,
                               .training = made->training,
                               .parameter = set->shown.parameter,
                               .parameters = set->shown.parameters,
                               .truth = set->shown.truth};
    bool written = write_run_page(set->out, "report.html", made->result, &page, json);
    json_decref(json);
    return written;
}

/* Those of an earlier run must not be left beside these draws if they cannot be judged. */
static void remove_judgements(const settings *set) {
    static const char *const name[] = {"summary.json", "report.html"};
    for (int i = 0; i < 2; i++) {
        char path[4200];
        snprintf(path, sizeof path, "%s/%s", set->out, name[i]);
        unlink(path);
    }
}

/* Where ":key=" begins, or the end. */
static size_t keys_from(const char *target) {
    for (const char *at = target; (at = strchr(at, ':')); at++) {
        size_t length = strspn(at + 1, "abcdefghijklmnopqrstuvwxyz_");
        if (length > 0 && at[1 + length] == '=') return (size_t)(at - target);
    }
    return strlen(target);
}

/* out/NAME, NAME being the target's without folder, ending, keys and data. */
void default_directory(const char *target, char *directory, size_t size) {
    static const char *const kind[] = {"blr:", "linear:", "poisson:", "data:", "stan:"};
    char name[4096];
    for (int i = 0; i < 5; i++)
        if (strncmp(target, kind[i], strlen(kind[i])) == 0) target += strlen(kind[i]);
    snprintf(name, sizeof name, "%.*s", (int)keys_from(target), target);
    char *data = strstr(name, ".stan:") ? strstr(name, ".stan:") : strstr(name, ".so:");
    if (data) *data = '\0'; /* what follows a Stan program is not what was drawn from */
    const char *slash = strrchr(name, '/'), *base = slash ? slash + 1 : name;
    snprintf(directory, size, "out/%.*s", (int)strcspn(base, ":."), base);
}

/* Draws of an earlier run in the format that this one does not write would look like its own. */
static bool other_format_is_there(const settings *set, const char *name) {
    char path[4200];
    snprintf(path, sizeof path, "%s/%s", set->out, name);
    if (access(path, F_OK) != 0) return false;
    complain(EXIT_FAILED,
             "%s was written by an earlier run and would not match this one: use --format both or another --out", path);
    return true;
}

static bool make_sinks(const settings *set, ais_sink **sink, int *count) {
    ais_context context = {0};
    bool csv = strcmp(set->format, "netcdf") != 0, netcdf = strcmp(set->format, "csv") != 0;
    if ((!csv && other_format_is_there(set, "draws-1.csv")) || (!netcdf && other_format_is_there(set, "draws.nc")))
        return false;
    ais_status status = AIS_OK;
    if (csv) status = ais_sink_stan_csv(&context, set->out, &sink[(*count)++]);
    if (status == AIS_OK && netcdf) status = ais_sink_netcdf(&context, set->out, &sink[(*count)++]);
    if (status == AIS_OK) return true;
    (*count)--;
    failed(&context);
    return false;
}

enum { most_csv_files = 100000 };

/* ---- verdict ------------------------------------------------------------------------------------- */

static int report(const settings *set, const ais_target *target, const outcome *made) {
    const ais_run_result *result = made->result;
    const ais_training *training = made->training;
    if (!result->draws)
        return complain(EXIT_DISTRUST,
                        "%d chains of %d draws of %d parameters are too many to judge in memory: the draws in %s "
                        "were not diagnosed; keep fewer with --thin",
                        set->chains, result->sample.draws, target->dim, set->out);
    const ais_report_run run = {.target = target->name,
                                .sampler = ais_kernel_name(made->kernel),
                                .seed = set->seed,
                                .train_seconds = training ? training->start_seconds + training->train_seconds
                                                          : NAN, /* the file does not tell */
                                .result = &result->sample,
                                .evaluations = result->evaluations,
                                .training = training,
                                .about = target->about};
    if (!write_summary(set, result->diagnosis, &run) || (set->report && !write_report(set, target, made)))
        return EXIT_FAILED;
    int code = tell(result->diagnosis, &run, set->json, set->quiet, set->rows);
    if (code != EXIT_FAILED && !set->quiet)
        fprintf(stderr, "draws%s and summary.json are in %s\n", set->report ? ", report.html" : "", set->out);
    return code;
}

static void tell_of_end(const settings *set, const ais_sample_result *result) {
    if (set->quiet || result->ended == AIS_ENDED_DRAWS || result->ended == AIS_ENDED_STOPPED) return;
    fprintf(stderr, "drawing ended after %d draws per chain: ", result->draws);
    if (result->ended == AIS_ENDED_EFFECTIVE && set->budget.effective == 0)
        fputs("fewer would have been too few for the verdict\n", stderr);
    else if (result->ended == AIS_ENDED_EFFECTIVE)
        fprintf(stderr, "worst ESS %.0f of all chains, %.0f were wanted\n", result->effective, set->budget.effective);
    else if (result->ended == AIS_ENDED_EVALUATIONS)
        fprintf(stderr, "all %.0f evaluations are used up\n", set->budget.evaluations);
    else
        fprintf(stderr, "the deadline of %g s\n", set->budget.seconds);
}

/* ---- the job ------------------------------------------------------------------------------------- */

/* By the checkpoint of the draws, or by that of learning. */
static bool may_go_on(const settings *set, const ais_run_options *how) {
    if (set->checkpoint[0] && access(set->checkpoint, F_OK) == 0) return true;
    return how->learning && how->learning->checkpoint && access(how->learning->checkpoint, F_OK) == 0;
}

/* One line: what ended it, what there is, how to continue. */
static int tell_of_stop(const settings *set, const ais_run_options *how, int draws, const ais_context *context) {
    const char *density = guard_message();
    char on[1024] = "", files[4200] = "";
    if (may_go_on(set, how)) command_to_resume(on, sizeof on);
    if (draws > 0) snprintf(files, sizeof files, "; the files in %s are complete up to there", set->out);
    return complain(EXIT_FAILED, "%s%s%s%s%s%s", density ? density : "", density ? "; " : "", context->message, files,
                    on[0] ? "; continue with: " : "", on);
}

/* What there is to write and to say when ais_run has come back with a result. */
static int deliver(settings *set, const ais_target *target, const ais_run_options *how, const outcome *made,
                   ais_status status, const ais_context *context) {
    if (!ranks_lead()) return 0;
    const ais_run_result *result = made->result;
    set->warmup = result->warmup;
    bool chosen = set->draws == 0 && set->budget.effective == 0, extended = set->draws > 0;
    if ((chosen || extended) && result->sample.draws > set->draws) set->draws = result->sample.draws;
    remove_judgements(set);
    if (!write_run_json(set, made, status == AIS_STOPPED)) return EXIT_FAILED;
    if (status != AIS_OK && status != AIS_STOPPED) return failed(context);
    if (status == AIS_OK) tell_of_end(set, &result->sample);
    tell_of_errors(target);
    bool judged = result->diagnosis || status == AIS_OK; /* a run that was stopped leaves many draws unjudged */
    int code = result->sample.draws > 0 && judged ? report(set, target, made) : EXIT_FAILED;
    return status == AIS_STOPPED ? tell_of_stop(set, how, result->sample.draws, context) : code;
}

static int run_into(settings *set, const ais_target *target, const ais_run_options *how, ais_sink *const *sink,
                    int sinks) {
    ais_context context = {0};
    ais_run_result *result;
    progress_view view;
    progress_begin(&view);
    ais_run_options options = *how;
    options.seed = set->seed;
    options.chains = set->chains;
    options.warmup = set->warmup == UNSAID ? 0 : set->warmup == 0 ? -1 : set->warmup;
    options.draws = set->draws;
    options.effective = set->budget.effective;
    options.evaluations = (long)set->budget.evaluations;
    options.seconds = set->budget.seconds;
    options.thin = set->thin;
    options.threads = set->threads;
    options.save_warmup = set->save_warmup;
    options.before.check = &set->budget.check;
    options.before.seconds = wall_seconds() - set->budget.began;
    options.sinks = sink;
    options.sink_count = sinks;
    options.progress = set->quiet ? NULL : progress_show;
    options.progress_data = &view;
    options.stop = stop_flag();
    options.ranks = ranks_all();
    options.checkpoint = set->checkpoint[0] ? set->checkpoint : NULL;
    options.checkpoint_seconds = set->renewal;
    options.resume = set->resume && options.checkpoint;
    options.extend = set->extend;
    catch_interrupts();
    ais_status status = ais_run(&context, target, &options, &result);
    release_interrupts();
    if (!result) return failed(&context);
    const outcome made = {result, result->kernel ? result->kernel : how->before.kernel,
                          result->training ? result->training : how->before.training};
    int code = made.kernel             ? deliver(set, target, how, &made, status, &context)
               : status == AIS_STOPPED ? tell_of_stop(set, how, 0, &context)
                                       : failed(&context);
    ais_run_free(result);
    return code;
}

/* Two runs into one folder would spoil each other's files. */
static bool lock_folder(const settings *set, ais_lock **lock) {
    ais_context context = {0};
    ais_status status = ais_directory_make(&context, set->out);
    if (status == AIS_OK) status = ais_directory_lock(&context, set->out, lock);
    if (status == AIS_OK) return true;
    failed(&context);
    return false;
}

int draw_to_files(const settings *wish, const ais_target *target, const ais_run_options *how) {
    ais_sink *sink[2];
    settings set = *wish;
    int sinks = 0, code = EXIT_FAILED;
    ais_lock *lock = NULL;
    if (!ranks_lead() || (lock_folder(&set, &lock) && make_sinks(&set, sink, &sinks)))
        code = run_into(&set, target, how, sink, sinks);
    for (int i = 0; i < sinks; i++) ais_sink_free(sink[i]);
    ais_directory_unlock(lock);
    return code;
}

void drawing_checkpoint(settings *set) {
    if (!set->no_checkpoint) snprintf(set->checkpoint, sizeof set->checkpoint, "%s/drawing.checkpoint", set->out);
}

bool drawing_goes_on(const settings *set) {
    return (set->resume || set->extend > 0) && set->checkpoint[0] && access(set->checkpoint, F_OK) == 0;
}

settings default_settings(void) {
    return (settings){.seed = 1,
                      .chains = 4,
                      .draws = UNSAID,
                      .warmup = UNSAID,
                      .thin = 1,
                      .rows = 30,
                      .format = "both",
                      .metric = "diag"};
}

bool settings_make_sense(settings *set) {
    if (set->chains == 0 || set->draws == 0 || set->thin == 0) {
        complain(EXIT_USAGE, "--chains, --draws and --thin must be 1 or more");
        return false;
    }
    if (set->no_checkpoint && (set->resume || set->extend > 0)) {
        complain(EXIT_USAGE, "--resume and --extend need the checkpoint that --no-checkpoint leaves out");
        return false;
    }
    if (set->renewal < 0) {
        complain(EXIT_USAGE, "--checkpoint must not be negative");
        return false;
    }
    if (set->out && !*set->out) {
        complain(EXIT_USAGE, "--out is empty: name a folder");
        return false;
    }
    if (set->chains > most_csv_files && strcmp(set->format, "netcdf") != 0) {
        complain(EXIT_USAGE, "%d chains would be %d CSV files, one each: take --format netcdf, or fewer chains",
                 set->chains, set->chains);
        return false;
    }
    if ((set->shown.names || set->shown.truths) && !set->report) {
        complain(EXIT_USAGE, "--parameters and --truth are for the figures of report.html: add --report");
        return false;
    }
    if (!isolation_makes_sense(&set->isolation)) return false;
    if (set->draws == UNSAID) set->draws = 0; /* ais_run chooses */
    return budget_begin(&set->budget, set->chains, set->draws);
}
