/* aisampler sample: draws from a target with a kernel file or a classical sampler. */
#include <jansson.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli.h"

typedef struct settings {
    const char *target, *kernel_file, *sampler, *out, *format, *test, *metric;
    uint64_t seed;
    int chains, draws, warmup, thin, threads, leapfrogs, max_depth, rows;
    double step_size, target_accept, jitter, scale, start_scale;
    bool save_warmup, json, quiet, help;
} settings;

/* ---- Ctrl-C: the first one finishes the step and leaves complete files, the second one kills ------- */

static volatile sig_atomic_t stop_asked;

static void ask_to_stop(int signal_number) {
    (void)signal_number;
    stop_asked = 1;
}

/* Only while chains run: reading a target or judging draws leaves nothing to complete, so that one kills. */
static void catch_interrupts(bool catch) {
    struct sigaction action = {.sa_handler = catch ? ask_to_stop : SIG_DFL, .sa_flags = (int)SA_RESETHAND};
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
}

/* ---- kernels ------------------------------------------------------------------------------------- */

static ais_status classical(ais_context *context, const char *name, const settings *set, ais_kernel **kernel) {
    if (strcmp(name, "rwm") == 0) {
        ais_rwm_options options = {.scale = set->scale, .target_accept = set->target_accept};
        return ais_kernel_rwm(context, &options, kernel);
    }
    if (strcmp(name, "hmc") == 0) {
        ais_hmc_options options = {.step_size = set->step_size,
                                   .leapfrogs = set->leapfrogs,
                                   .target_accept = set->target_accept,
                                   .jitter = set->jitter};
        return ais_kernel_hmc(context, &options, kernel);
    }
    ais_nuts_options options = {.step_size = set->step_size,
                                .target_accept = set->target_accept,
                                .max_depth = set->max_depth,
                                .dense = strcmp(set->metric, "dense") == 0};
    return ais_kernel_nuts(context, &options, kernel);
}

static bool known_sampler(const char *name) {
    static const char *const known[] = {"rwm", "hmc", "nuts", NULL};
    for (const char *const *at = known; *at; at++)
        if (strcmp(name, *at) == 0) return true;
    const char *near = nearest(name, known);
    complain(EXIT_USAGE, "unknown sampler '%s'; %s%s%s", name, near ? "did you mean " : "there are rwm, hmc and nuts",
             near ? near : "", near ? "?" : "");
    return false;
}

/* Options that the chosen samplers would not look at are refused, not ignored. */
static bool options_apply(const settings *set) {
    const char *names = set->sampler ? set->sampler : "";
    bool rwm = strstr(names, "rwm"), hmc = strstr(names, "hmc"), nuts = strstr(names, "nuts");
    const struct {
        const char *option, *of;
        bool given, applies;
    } rule[] = {{"step-size", "hmc and nuts", set->step_size != 0, hmc || nuts},
                {"leapfrogs", "hmc", set->leapfrogs != 0, hmc},
                {"jitter", "hmc", set->jitter != 0, hmc},
                {"max-depth", "nuts", set->max_depth != 0, nuts},
                {"metric", "nuts", strcmp(set->metric, "diag") != 0, nuts},
                {"scale", "rwm", set->scale != 0, rwm},
                {"target-accept", "rwm, hmc and nuts", set->target_accept != 0, rwm || hmc || nuts},
                {"test", "a kernel file (-k)", set->test != NULL, set->kernel_file != NULL}};
    for (size_t i = 0; i < sizeof rule / sizeof *rule; i++)
        if (rule[i].given && !rule[i].applies) {
            complain(EXIT_USAGE, "--%s belongs to %s, which is not in use here", rule[i].option, rule[i].of);
            return false;
        }
    return true;
}

/* The kernel file, then the samplers of "a+b+...", as one kernel; a cycle when there are several. */
static int make_kernel(const settings *set, const ais_target *target, ais_kernel **kernel) {
    enum { MOST = 8 };
    ais_context context = {0};
    ais_kernel *part[MOST] = {0};
    int count = 0, code = 0;
    if (set->kernel_file) {
        if (ais_kernel_load(&context, set->kernel_file, target, &part[0]) != AIS_OK) return failed(&context);
        if (set->test) ais_kernel_set_test(part[0], strcmp(set->test, "barker") == 0 ? AIS_BARKER : AIS_METROPOLIS);
        count = 1;
    }
    char names[256], *rest = set->sampler ? names : NULL;
    snprintf(names, sizeof names, "%s", set->sampler ? set->sampler : "");
    for (char *name; code == 0 && (name = strsep(&rest, "+"));) { /* an empty name is an unknown one */
        if (count == MOST)
            code = complain(EXIT_USAGE, "a cycle has at most %d parts", MOST);
        else if (!known_sampler(name))
            code = EXIT_USAGE;
        else if (classical(&context, name, set, &part[count]) != AIS_OK)
            code = failed(&context);
        else
            count++;
    }
    if (code == 0 && count > 1) return ais_kernel_cycle(&context, part, count, kernel) == AIS_OK ? 0 : failed(&context);
    if (code == 0) *kernel = part[0];
    for (int i = 0; code != 0 && i < count; i++) ais_kernel_free(part[i]);
    return code;
}

/* ---- files --------------------------------------------------------------------------------------- */

/* As in summary.json: jansson's integers have a sign; a seed beyond them is text. */
static json_t *seed_as_json(uint64_t seed) {
    char digits[24];
    snprintf(digits, sizeof digits, "%llu", (unsigned long long)seed);
    return seed <= INT64_MAX ? json_integer((json_int_t)seed) : json_string(digits);
}

static json_t *configuration(const settings *set, const ais_kernel *kernel) {
    return json_pack("{ss ss ss? so si si si si sb ss ss ss? sf sf sf sf si si}", "target", set->target, "sampler",
                     ais_kernel_name(kernel), "kernel_file", set->kernel_file, "seed", seed_as_json(set->seed),
                     "chains", set->chains, "warmup", set->warmup, "draws", set->draws, "thin", set->thin,
                     "save_warmup", (int)set->save_warmup, "format", set->format, "metric", set->metric, "test",
                     set->test, "step_size", set->step_size, "target_accept", set->target_accept, "jitter", set->jitter,
                     "scale", set->scale, "leapfrogs", set->leapfrogs, "max_depth", set->max_depth);
}

static bool write_run_json(const settings *set, const ais_kernel *kernel, const ais_sample_result *result,
                           bool stopped) {
    output_file output;
    if (!output_open(&output, set->out, "run.json")) return false;
    json_t *json = json_pack("{ss so si sb sf sf sI}", "aisampler_version", ais_version(), "configuration",
                             configuration(set, kernel), "draws", result->draws, "stopped", (int)stopped,
                             "warmup_seconds", result->warmup_seconds, "sample_seconds", result->sample_seconds,
                             "evaluations", (json_int_t)result->evaluations);
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

/* That of an earlier run must not stand beside these draws when they cannot be judged. */
static void remove_summary(const settings *set) {
    char path[4200];
    snprintf(path, sizeof path, "%s/summary.json", set->out);
    unlink(path);
}

/* out/NAME, NAME being the target's without folder, ending and keys. */
static void default_directory(const char *target, char *directory, size_t size) {
    const char *slash = strrchr(target, '/'), *name = slash ? slash + 1 : target;
    if (strncmp(name, "blr:", 4) == 0) name += 4;
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
    ais_diagnosis *diagnosis;
    ais_draws *draws;
    double numbers = (double)set->chains * result->draws * (target->dim + 8);
    if (numbers > most_numbers)
        return complain(EXIT_DISTRUST,
                        "%.3g numbers are too many to judge in memory: nobody judged the draws in %s; keep fewer with "
                        "--thin",
                        numbers, set->out);
    if (read_back(&context, set, &draws) != AIS_OK) return failed(&context);
    ais_status status = ais_diagnose(&context, draws, target, &diagnosis);
    if (status != AIS_OK) {
        ais_draws_free(draws);
        return failed(&context);
    }
    const ais_report_run run = {.target = set->target,
                                .sampler = ais_kernel_name(kernel),
                                .seed = set->seed,
                                .train_seconds = set->kernel_file ? NAN : 0, /* the file does not tell */
                                .result = result};
    int code =
        write_summary(set, diagnosis, &run) ? tell(diagnosis, &run, set->json, set->quiet, set->rows) : EXIT_FAILED;
    if (code != EXIT_FAILED && !set->quiet) fprintf(stderr, "draws and summary.json are in %s\n", set->out);
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
                                        .stop = &stop_asked};
    ais_sample_result result = {0};
    catch_interrupts(true);
    ais_status status = ais_sample(&context, target, kernel, &options, sink, sinks, &result);
    catch_interrupts(false);
    if (status != AIS_OK && status != AIS_STOPPED) return failed(&context);
    remove_summary(set);
    if (!write_run_json(set, kernel, &result, status == AIS_STOPPED)) return EXIT_FAILED;
    int code = result.draws > 0 ? judge(set, target, kernel, &result) : EXIT_FAILED;
    if (status != AIS_STOPPED) return code;
    return complain(EXIT_FAILED, "%s; the files in %s are complete up to there", context.message, set->out);
}

static int sample(settings *set) {
    ais_context context = {0};
    ais_target *target = NULL;
    ais_kernel *kernel = NULL;
    ais_sink *sink[2];
    int sinks = 0, code = EXIT_FAILED;
    char directory[4096];
    if (ais_target_open(&context, set->target, &target) != AIS_OK) return failed(&context);
    if (set->start_scale > 0) target->start_scale = set->start_scale;
    if (!set->sampler && !set->kernel_file) set->sampler = target->grad ? "nuts" : "rwm";
    default_directory(set->target, directory, sizeof directory);
    if (!set->out) set->out = directory;
    if (!options_apply(set))
        code = EXIT_USAGE;
    else if (ais_target_check(&context, target, set->seed) != AIS_OK)
        code = failed(&context);
    else if ((code = make_kernel(set, target, &kernel)) == 0)
        code = make_sinks(set, sink, &sinks) ? draw(set, target, kernel, sink, sinks) : EXIT_FAILED;
    for (int i = 0; i < sinks; i++) ais_sink_free(sink[i]);
    ais_kernel_free(kernel);
    ais_target_close(target);
    return code;
}

int run_sample(int argc, char **argv) {
    settings set = {.seed = 1, .chains = 4, .draws = 1000, .warmup = 1000, .thin = 1, .rows = 30};
    set.format = "both";
    set.metric = "diag";
    const option options[] = {
        {"kernel", 'k', OPTION_TEXT, &set.kernel_file, "FILE.ais", "a learned kernel; with --sampler: cycle of both"},
        {"sampler", 's', OPTION_TEXT, &set.sampler, "NAME",
         "rwm, hmc or nuts, or a cycle such as nuts+rwm (nuts; rwm without gradient)"},
        {"chains", 'c', OPTION_COUNT, &set.chains, NULL, "independent chains (4)"},
        {"draws", 'n', OPTION_COUNT, &set.draws, NULL, "draws per chain that are kept (1000)"},
        {"warmup", 'w', OPTION_COUNT, &set.warmup, NULL, "steps per chain that adapt and are left out (1000)"},
        {"thin", 0, OPTION_COUNT, &set.thin, NULL, "keep every Nth step (1)"},
        {"seed", 0, OPTION_SEED, &set.seed, NULL, "the same seed gives the same files on any number of threads (1)"},
        {"threads", 'j', OPTION_COUNT, &set.threads, NULL, "0: one per core (0)"},
        {"out", 'o', OPTION_TEXT, &set.out, "DIR", "where the files go (out/TARGET)"},
        {"format", 0, OPTION_CHOICE, &set.format, "csv|netcdf|both", "Stan CSV, ArviZ netCDF, or both (both)"},
        {"save-warmup", 0, OPTION_FLAG, &set.save_warmup, NULL, "keep the warm-up draws in the files"},
        {"start-scale", 0, OPTION_NUMBER, &set.start_scale, NULL, "chains start from N(0, N^2) (the target's own)"},
        {"step-size", 0, OPTION_NUMBER, &set.step_size, NULL, "hmc, nuts: fixed step size (tuned in warm-up)"},
        {"leapfrogs", 0, OPTION_COUNT, &set.leapfrogs, NULL, "hmc: leapfrog steps of a trajectory (40)"},
        {"jitter", 0, OPTION_NUMBER, &set.jitter, NULL, "hmc: step size varies by this share (0)"},
        {"max-depth", 0, OPTION_COUNT, &set.max_depth, NULL, "nuts: deepest tree (10)"},
        {"metric", 0, OPTION_CHOICE, &set.metric, "diag|dense", "nuts: mass matrix (diag)"},
        {"scale", 0, OPTION_NUMBER, &set.scale, NULL, "rwm: fixed scale of the walk (tuned in warm-up)"},
        {"target-accept", 0, OPTION_NUMBER, &set.target_accept, NULL, "acceptance to tune for (0.8; rwm 0.234)"},
        {"test", 0, OPTION_CHOICE, &set.test, "metropolis|barker", "accept test of a learned kernel (the file's)"},
        {"rows", 0, OPTION_COUNT, &set.rows, NULL,
         "most parameters in the table: those with the smallest ESS; 0: all (30)"},
        {"json", 0, OPTION_FLAG, &set.json, NULL, "print summary.json instead of a table"},
        {"quiet", 'q', OPTION_FLAG, &set.quiet, NULL, "no progress, no table"},
        {"help", 'h', OPTION_FLAG, &set.help, NULL, "this text"},
        {0}};
    int words = parse_options(argc, argv, options, &set.target, 1);
    if (words < 0) return EXIT_USAGE;
    if (set.help) {
        print_help("sample TARGET [options]",
                   "Draws from TARGET: a built-in name (aisampler targets), blr:FILE.csv, FILE.c or FILE.so. Writes "
                   "the draws, summary.json and run.json into a folder and judges them: exits with 3 when the "
                   "diagnostics say that they are not to be trusted. Ctrl-C finishes the step and leaves complete "
                   "files.",
                   options);
        return 0;
    }
    if (words == 0) return complain(EXIT_USAGE, "sample needs a target; see aisampler sample --help");
    if (set.chains == 0 || set.draws == 0 || set.thin == 0)
        return complain(EXIT_USAGE, "--chains, --draws and --thin must be 1 or more");
    if (set.start_scale < 0) return complain(EXIT_USAGE, "--start-scale must not be negative");
    if (set.out && !*set.out) return complain(EXIT_USAGE, "--out is empty: name a folder");
    signal(SIGXFSZ, SIG_IGN); /* a file size limit becomes a write error with a sentence */
    return sample(&set);
}
