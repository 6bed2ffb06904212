/* Draws into files and judges what the files hold. */
#include "draw.h"

#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

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

static json_t *evaluations_json(const ais_evaluations *count) {
    return json_pack("{sI sI sI sI sI sI sI}", "densities", (json_int_t)count->densities, "gradients",
                     (json_int_t)count->gradients, "start", (json_int_t)count->start, "learning",
                     (json_int_t)count->learning, "drawing", (json_int_t)count->drawing, "judging",
                     (json_int_t)count->judging, "total", (json_int_t)count->densities + count->gradients);
}

static bool write_run_json(const settings *set, const ais_kernel *kernel, const ais_sample_result *result, bool stopped,
                           long judging) {
    output_file output;
    if (!output_open(&output, set->out, "run.json")) return false;
    const ais_evaluations count = ais_evaluations_of(&set->budget.check, set->training, result, judging);
    json_t *json = json_pack("{ss so si sb ss sf sf so}", "aisampler_version", ais_version(), "configuration",
                             configuration(set, kernel), "draws", result->draws, "stopped", (int)stopped, "ended",
                             ais_ending_name[result->ended], "warmup_seconds", result->warmup_seconds, "sample_seconds",
                             result->sample_seconds, "evaluations", evaluations_json(&count));
    if (set->training) json_object_set_new(json, "training", learning_json(set->training));
    json_dumpf(json, output.file, JSON_INDENT(2) | JSON_SORT_KEYS);
    fputc('\n', output.file);
    json_decref(json);
    return output_commit(&output);
}

static bool write_summary(const settings *set, const ais_diagnosis *diagnosis, const ais_report_run *run) {
    output_file output;
    ais_context context = {0};
    if (!output_open(&output, set->out, "summary.json")) return false;
    if (ais_report_json(&context, diagnosis, run, output.file) != AIS_OK) {
        fclose(output.file);
        failed(&context);
        return false;
    }
    return output_commit(&output);
}

static bool write_report(const settings *set, const ais_figure_data *data, const ais_report_run *run,
                         const ais_kernel *kernel) {
    json_t *json = configuration(set, kernel);
    bool written = write_page(set->out, "report.html", data, run, set->training, json);
    json_decref(json);
    return written;
}

/* Those of an earlier run must not stand beside these draws when they cannot be judged. */
static void remove_judgements(const settings *set) {
    static const char *const name[] = {"summary.json", "report.html"};
    for (int i = 0; i < 2; i++) {
        char path[4200];
        snprintf(path, sizeof path, "%s/%s", set->out, name[i]);
        unlink(path);
    }
}

/* out/NAME, NAME being the target's without folder, ending and keys. */
void default_directory(const char *target, char *directory, size_t size) {
    const char *slash = strrchr(target, '/'), *name = slash ? slash + 1 : target;
    if (strncmp(name, "blr:", 4) == 0) name += 4;
    if (strncmp(name, "data:", 5) == 0) name += 5;
    snprintf(directory, size, "out/%.*s", (int)strcspn(name, ":."), name);
}

/* Draws of an earlier run in the format that this one does not write would look like its own. */
static bool other_format_is_there(const settings *set, const char *name) {
    char path[4200];
    snprintf(path, sizeof path, "%s/%s", set->out, name);
    if (access(path, F_OK) != 0) return false;
    complain(EXIT_FAILED,
             "%s is of an earlier run and would not belong to this one: use --format both or another --out", path);
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

static const double most_numbers = 4e8; /* 3.2 GB */
enum { most_csv_files = 100000 };

/* ---- judging ------------------------------------------------------------------------------------- */

/* The draws of this run, from its files: what is judged is what a reader of the files gets. */
static ais_status read_back(ais_context *context, const settings *set, ais_draws **draws) {
    char path[4200];
    const char *one = path;
    if (strcmp(set->format, "csv") != 0) {
        snprintf(path, sizeof path, "%s/draws.nc", set->out);
        return ais_draws_read(context, &one, 1, draws);
    }
    size_t length = strlen(set->out) + 32;
    char *text = malloc((size_t)set->chains * length);
    const char **paths = malloc((size_t)set->chains * sizeof *paths);
    ais_status status = AIS_NO_MEMORY;
    snprintf(context->message, sizeof context->message, "out of memory");
    for (int c = 0; text && paths && c < set->chains; c++) {
        paths[c] = text + (size_t)c * length;
        snprintf(text + (size_t)c * length, length, "%s/draws-%d.csv", set->out, c + 1);
    }
    if (text && paths) status = ais_draws_read(context, paths, set->chains, draws);
    free(text);
    free(paths);
    return status;
}

/* A sixteenth of what was spent before, within what is left of a budget; -1: none. */
enum { JUDGING_SHARE = 16 };
static long judging_limit(const settings *set, const ais_sample_result *result) {
    const ais_evaluations spent = ais_evaluations_of(&set->budget.check, set->training, result, 0);
    long total = spent.densities + spent.gradients, most = total / JUDGING_SHARE;
    if (set->budget.evaluations > 0 && (long)set->budget.evaluations - total < most)
        most = (long)set->budget.evaluations - total;
    return most > 0 ? most : -1;
}

/* Half of what is left until the deadline: files and figures take time, too. */
static double judging_seconds(const settings *set) {
    const budget *all = &set->budget;
    double left = (all->began + all->seconds - wall_seconds()) / 2;
    return all->seconds == 0 ? 0 : left > 0 ? left : -1;
}

static ais_status verify(ais_context *context, const settings *set, const ais_target *target, const ais_kernel *kernel,
                         const ais_sample_result *result, const ais_draws *draws, ais_diagnosis *diagnosis,
                         long *judging) {
    const ais_verify_options options = {.kernel = kernel,
                                        .training = set->training,
                                        .thin = set->thin,
                                        .threads = set->threads,
                                        .evaluations = judging_limit(set, result),
                                        .seconds = judging_seconds(set)};
    return ais_verify(context, target->draws ? NULL : target, draws, &options, diagnosis, judging);
}

static int judge(const settings *set, const ais_target *target, const ais_kernel *kernel,
                 const ais_sample_result *result, long *judging) {
    ais_context context = {0};
    ais_diagnosis *diagnosis = NULL;
    ais_draws *draws;
    /* In the plane the judgement and the figures integrate the density over grids, 10^5 evaluations: for a target whose
     * truth is known that is worth it, a user's own density may cost milliseconds and is evaluated for drawing only. */
    const ais_target *known = target->reference ? target : NULL;
    double numbers = (double)set->chains * result->draws * (target->dim + 8);
    if (numbers > most_numbers)
        return complain(EXIT_DISTRUST,
                        "%.3g numbers are too many to judge in memory: nobody judged the draws in %s; keep fewer with "
                        "--thin",
                        numbers, set->out);
    if (read_back(&context, set, &draws) != AIS_OK) return failed(&context);
    ais_status status = ais_diagnose(&context, draws, known, &diagnosis);
    if (status == AIS_OK) status = verify(&context, set, target, kernel, result, draws, diagnosis, judging);
    if (status != AIS_OK) {
        ais_diagnosis_free(diagnosis);
        ais_draws_free(draws);
        return failed(&context);
    }
    const ais_report_run run = {.target = set->target,
                                .sampler = ais_kernel_name(kernel),
                                .seed = set->seed,
                                .train_seconds = set->training
                                                     ? set->training->start_seconds + set->training->train_seconds
                                                     : NAN, /* the file does not tell */
                                .result = result,
                                .evaluations = ais_evaluations_of(&set->budget.check, set->training, result, *judging),
                                .training = set->training};
    const ais_figure_data data = {.draws = draws,
                                  .diagnosis = diagnosis,
                                  .target = known,
                                  .curve = set->training ? set->training->point : NULL,
                                  .points = set->training ? set->training->points : 0,
                                  .rungs = set->training ? &set->training->rungs : NULL};
    bool written = write_summary(set, diagnosis, &run) && (!set->report || write_report(set, &data, &run, kernel));
    int code = written ? tell(diagnosis, &run, set->json, set->quiet, set->rows) : EXIT_FAILED;
    if (code != EXIT_FAILED && !set->quiet)
        fprintf(stderr, "draws%s and summary.json are in %s\n", set->report ? ", report.html" : "", set->out);
    ais_diagnosis_free(diagnosis);
    ais_draws_free(draws);
    return code;
}

/* ---- limits -------------------------------------------------------------------------------------- */

/* What is left for the draws when learning, if there was any, is done. False after a complaint. */
typedef struct limits {
    int draws;
    double effective;
    long evaluations;
    double seconds;
} limits;

static bool limits_of(const settings *set, int dim, limits *left) {
    const ais_training *training = set->training;
    const budget *all = &set->budget;
    *left = (limits){.draws = set->draws,
                     .effective = all->effective,
                     .evaluations = evaluations_left(all, training ? training->densities + training->gradients : 0),
                     .seconds = seconds_left(all)};
    if (left->evaluations < 0)
        complain(EXIT_FAILED, "all %.0f evaluations are spent: none are left to draw with", all->evaluations);
    if (left->seconds < 0) complain(EXIT_FAILED, "the deadline of %g s is over before the first draw", all->seconds);
    if (left->evaluations < 0 || left->seconds < 0) return false;
    if (left->evaluations > 2 * JUDGING_SHARE) left->evaluations -= left->evaluations / (2 * JUDGING_SHARE);
    /* Judging takes about a microsecond a number: no more draws than a tenth of the time is enough for. */
    double fit = fmax(1e5 * all->seconds / ((double)dim * set->chains), 1);
    if (all->seconds == 0 || (set->draws > 0 && set->draws <= fit)) return true;
    left->draws = fit < 1e9 ? (int)fit : (int)1e9;
    left->effective = fmin(left->effective, (double)left->draws * set->chains);
    return true;
}

/* Unless it was said, warm-up is no more than a part of a budget: a twentieth where nothing adapts, else a quarter, a
 * trajectory being reckoned at sixteen evaluations. */
static int warmup_of(const settings *set, const ais_kernel *kernel, long evaluations) {
    if (set->warmup != UNSAID || evaluations == 0) return set->warmup != UNSAID ? set->warmup : set->usual_warmup;
    bool trajectories = ais_kernel_info(kernel) & (1u << AIS_INFO_N_LEAPFROG | 1u << AIS_INFO_TRIP);
    long most = evaluations / set->chains / (trajectories ? 64 : ais_kernel_shape(kernel) ? 20 : 4);
    return most < set->usual_warmup ? (int)most : set->usual_warmup;
}

static void tell_of_end(const settings *set, const ais_sample_result *result) {
    if (set->quiet || result->ended == AIS_ENDED_DRAWS || result->ended == AIS_ENDED_STOPPED) return;
    fprintf(stderr, "drawing ended after %d draws per chain: ", result->draws);
    if (result->ended == AIS_ENDED_EFFECTIVE)
        fprintf(stderr, "worst ESS %.0f of all chains, %.0f were wanted\n", result->effective, set->budget.effective);
    else if (result->ended == AIS_ENDED_EVALUATIONS)
        fprintf(stderr, "all %.0f evaluations are spent\n", set->budget.evaluations);
    else
        fprintf(stderr, "the deadline of %g s\n", set->budget.seconds);
}

/* ---- the job ------------------------------------------------------------------------------------- */

static int draw(const settings *set, const limits *left, const ais_target *target, const ais_kernel *kernel,
                ais_sink *const *sink, int sinks) {
    ais_context context = {0};
    progress_view view;
    progress_begin(&view);
    const ais_sample_options options = {.seed = set->seed,
                                        .chains = set->chains,
                                        .warmup = set->warmup,
                                        .draws = left->draws,
                                        .effective = left->effective,
                                        .evaluations = left->evaluations,
                                        .seconds = left->seconds,
                                        .thin = set->thin,
                                        .threads = set->threads,
                                        .save_warmup = set->save_warmup,
                                        .progress = set->quiet ? NULL : progress_show,
                                        .progress_data = &view,
                                        .start = set->start,
                                        .stop = stop_flag(),
                                        .ranks = ranks_all()};
    ais_sample_result result = {0};
    catch_interrupts();
    ais_status status = ais_sample(&context, target, kernel, &options, sink, sinks, &result);
    release_interrupts();
    if (status != AIS_OK && status != AIS_STOPPED) return failed(&context);
    if (!ranks_lead()) return 0;
    remove_judgements(set);
    long judging = 0;
    if (status == AIS_OK) tell_of_end(set, &result);
    int code = result.draws > 0 ? judge(set, target, kernel, &result, &judging) : EXIT_FAILED;
    if (!write_run_json(set, kernel, &result, status == AIS_STOPPED, judging)) return EXIT_FAILED;
    if (status != AIS_STOPPED) return code;
    if (result.draws == 0) return complain(EXIT_FAILED, "%s", context.message);
    return complain(EXIT_FAILED, "%s; the files in %s are complete up to there", context.message, set->out);
}

int draw_to_files(const settings *wish, const ais_target *target, const ais_kernel *kernel) {
    ais_sink *sink[2];
    settings set = *wish;
    limits left;
    int sinks = 0, code = EXIT_FAILED;
    if (!limits_of(wish, target->dim, &left)) return EXIT_FAILED;
    set.warmup = warmup_of(wish, kernel, left.evaluations);
    if (!ranks_lead() || make_sinks(&set, sink, &sinks)) code = draw(&set, &left, target, kernel, sink, sinks);
    for (int i = 0; i < sinks; i++) ais_sink_free(sink[i]);
    return code;
}

settings default_settings(void) {
    return (settings){.seed = 1,
                      .chains = 4,
                      .draws = UNSAID,
                      .warmup = UNSAID,
                      .usual_warmup = 1000,
                      .thin = 1,
                      .rows = 30,
                      .format = "both",
                      .metric = "diag"};
}

/* A chain's point, density, tuning and one draw with its sampler columns, at the least: what the sampler keeps. */
static double bytes_per_chain(int dim) { return (3.0 * dim + 16) * sizeof(double); }

bool chains_fit(const settings *set, int dim) {
    double need = set->chains * bytes_per_chain(dim);
    double have = (double)sysconf(_SC_PHYS_PAGES) * (double)sysconf(_SC_PAGESIZE);
    if (need > have)
        complain(EXIT_USAGE, "%d chains of %d parameters need at least %.3g GB and this machine has %.3g: take fewer",
                 set->chains, dim, need * 1e-9, have * 1e-9);
    else if (set->chains > most_csv_files && strcmp(set->format, "netcdf") != 0)
        complain(EXIT_USAGE, "%d chains would be %d CSV files, one each: take --format netcdf, or fewer chains",
                 set->chains, set->chains);
    else
        return true;
    return false;
}

bool settings_make_sense(settings *set) {
    if (set->chains == 0 || set->draws == 0 || set->thin == 0) {
        complain(EXIT_USAGE, "--chains, --draws and --thin must be 1 or more");
        return false;
    }
    if (set->out && !*set->out) {
        complain(EXIT_USAGE, "--out is empty: name a folder");
        return false;
    }
    if (set->draws == UNSAID) set->draws = set->budget.effective > 0 ? 0 : 1000;
    return budget_begin(&set->budget, set->chains, set->draws);
}
