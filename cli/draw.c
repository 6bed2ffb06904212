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
    return json_pack("{so ss so so si si si si sb ss ss ss? sf sf sf sf si si si}", "target", json_text(set->target),
                     "sampler", ais_kernel_name(kernel), "kernel_file", json_text(set->kernel_file), "seed",
                     seed_as_json(set->seed), "chains", set->chains, "warmup", set->warmup, "draws", set->draws, "thin",
                     set->thin, "save_warmup", (int)set->save_warmup, "format", set->format, "metric", set->metric,
                     "test", set->test, "step_size", set->step_size, "target_accept", set->target_accept, "jitter",
                     set->jitter, "scale", set->scale, "leapfrogs", set->leapfrogs, "max_depth", set->max_depth,
                     "iterations", set->iterations);
}

static bool write_run_json(const settings *set, const ais_kernel *kernel, const ais_sample_result *result,
                           bool stopped) {
    output_file output;
    if (!output_open(&output, set->out, "run.json")) return false;
    json_t *json = json_pack("{ss so si sb sf sf sI}", "aisampler_version", ais_version(), "configuration",
                             configuration(set, kernel), "draws", result->draws, "stopped", (int)stopped,
                             "warmup_seconds", result->warmup_seconds, "sample_seconds", result->sample_seconds,
                             "evaluations", (json_int_t)result->evaluations);
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

/* ---- the job ------------------------------------------------------------------------------------- */

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

static int judge(const settings *set, const ais_target *target, const ais_kernel *kernel,
                 const ais_sample_result *result) {
    ais_context context = {0};
    ais_diagnosis *diagnosis = NULL;
    ais_draws *draws;
    double numbers = (double)set->chains * result->draws * (target->dim + 8);
    if (numbers > most_numbers)
        return complain(EXIT_DISTRUST,
                        "%.3g numbers are too many to judge in memory: nobody judged the draws in %s; keep fewer with "
                        "--thin",
                        numbers, set->out);
    if (read_back(&context, set, &draws) != AIS_OK) return failed(&context);
    ais_status status = ais_diagnose(&context, draws, target, &diagnosis);
    if (status == AIS_OK && set->training && set->training->warning[0])
        status = ais_diagnosis_warn(&context, diagnosis, set->training->warning);
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
                                .result = result};
    const ais_figure_data data = {.draws = draws,
                                  .diagnosis = diagnosis,
                                  .target = target,
                                  .curve = set->training ? set->training->point : NULL,
                                  .points = set->training ? set->training->points : 0};
    bool written = write_summary(set, diagnosis, &run) && (!set->report || write_report(set, &data, &run, kernel));
    int code = written ? tell(diagnosis, &run, set->json, set->quiet, set->rows) : EXIT_FAILED;
    if (code != EXIT_FAILED && !set->quiet)
        fprintf(stderr, "draws%s and summary.json are in %s\n", set->report ? ", report.html" : "", set->out);
    ais_diagnosis_free(diagnosis);
    ais_draws_free(draws);
    return code;
}

static int draw(const settings *set, const ais_target *target, const ais_kernel *kernel, ais_sink *const *sink,
                int sinks) {
    ais_context context = {0};
    progress_view view;
    progress_begin(&view);
    const ais_sample_options options = {.seed = set->seed,
                                        .chains = set->chains,
                                        .warmup = set->warmup,
                                        .draws = set->draws,
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
    if (!write_run_json(set, kernel, &result, status == AIS_STOPPED)) return EXIT_FAILED;
    int code = result.draws > 0 ? judge(set, target, kernel, &result) : EXIT_FAILED;
    if (status != AIS_STOPPED) return code;
    return complain(EXIT_FAILED, "%s; the files in %s are complete up to there", context.message, set->out);
}

int draw_to_files(const settings *set, const ais_target *target, const ais_kernel *kernel) {
    ais_sink *sink[2];
    int sinks = 0;
    int code = !ranks_lead() || make_sinks(set, sink, &sinks) ? draw(set, target, kernel, sink, sinks) : EXIT_FAILED;
    for (int i = 0; i < sinks; i++) ais_sink_free(sink[i]);
    return code;
}

settings default_settings(void) {
    return (settings){.seed = 1,
                      .chains = 4,
                      .draws = 1000,
                      .warmup = 1000,
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

bool settings_make_sense(const settings *set) {
    if (set->chains == 0 || set->draws == 0 || set->thin == 0)
        complain(EXIT_USAGE, "--chains, --draws and --thin must be 1 or more");
    else if (set->out && !*set->out)
        complain(EXIT_USAGE, "--out is empty: name a folder");
    else
        return true;
    return false;
}
