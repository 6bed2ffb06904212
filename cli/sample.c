/* aisampler sample: draws from a target with a kernel file, a classical sampler or a ladder. */
#include <stdlib.h>
#include <string.h>

#include "draw.h"
#include "guard.h"
#include "learning.h"
#include "ranks.h"

enum { ladder_warmup = 100 }; /* steps in which replicas leave the point where their chain begins */

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

static bool is_ladder(const char *name) { return strcmp(name, "ladder") == 0; }

static bool known_sampler(const char *name) {
    static const char *const known[] = {"rwm", "hmc", "nuts", "ladder", "anice", NULL};
    for (const char *const *at = known; *at; at++)
        if (strcmp(name, *at) == 0) return true;
    const char *near = ais_nearest(name, known);
    complain(EXIT_USAGE, "unknown sampler '%s'; %s%s%s", name,
             near ? "did you mean " : "there are rwm, hmc, nuts, ladder and anice", near ? near : "", near ? "?" : "");
    return false;
}

/* Options that the chosen samplers would not look at are refused, not ignored. */
static bool options_apply(const settings *set) {
    const char *names = set->sampler ? set->sampler : "";
    bool rwm = strstr(names, "rwm"), hmc = strstr(names, "hmc"), nuts = strstr(names, "nuts"),
         anice = strstr(names, "anice");
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
                {"iterations", "anice", set->iterations != 0, anice},
                {"test", "a kernel file (-k)", set->test != NULL, set->kernel_file != NULL}};
    for (size_t i = 0; i < sizeof rule / sizeof *rule; i++)
        if (rule[i].given && !rule[i].applies) {
            complain(EXIT_USAGE, "--%s belongs to %s, which is not in use here", rule[i].option, rule[i].of);
            return false;
        }
    return true;
}

static int load_kernel(const settings *set, const ais_target *target, ais_kernel **kernel) {
    ais_context context = {0};
    if (ais_kernel_load(&context, set->kernel_file, target, kernel) != AIS_OK) return failed(&context);
    if (!set->test) return 0;
    if (ais_kernel_shape(*kernel)) {
        ais_kernel_set_test(*kernel, strcmp(set->test, "barker") == 0 ? AIS_BARKER : AIS_METROPOLIS);
        return 0;
    }
    ais_kernel_free(*kernel);
    return complain(EXIT_USAGE, "--test is for learned involutions; %s is a kernel with a test of its own",
                    set->kernel_file);
}

/* Every name of "a+b+...", before anything is trained; an empty one is unknown. */
static bool known_samplers(const char *list) {
    char names[256], *rest = names;
    int trained = 0;
    snprintf(names, sizeof names, "%s", list);
    for (char *name; (name = strsep(&rest, "+"));) {
        if (!known_sampler(name)) return false;
        trained += strcmp(name, "anice") == 0 || is_ladder(name);
    }
    if (trained > 1) complain(EXIT_USAGE, "of anice and ladder one may be named, once: it is trained for this run");
    return trained <= 1;
}

static int climb(const settings *set, const ais_target *target, ais_kernel **kernel, ais_training **training) {
    ais_budget limits;
    int code = budget_left(&set->budget, &limits);
    if (code != 0) return code;
    limits.evaluations = (limits.evaluations + 1) / 2; /* the rest is for the draws */
    limits.seconds /= 2;
    return learn(&(learning){.ladder = true}, &limits, target, set->seed, set->threads, set->quiet, kernel, training);
}

/* One sampler by its name. A-NICE-MC and the ladder are trained first. */
static int make_part(const settings *set, const char *name, const ais_target *target, ais_kernel **kernel,
                     ais_training **training) {
    ais_context context = {0};
    const anice_learning how = {.iterations = set->iterations};
    int code = 0;
    if (is_ladder(name))
        code = climb(set, target, kernel, training);
    else if (strcmp(name, "anice") == 0)
        code = learn_anice(&how, target, set->seed, set->threads, set->quiet, kernel, training);
    else
        return classical(&context, name, set, kernel) == AIS_OK ? 0 : failed(&context);
    if (code == 0 && was_terminated()) return EXIT_FAILED;
    if (code == 0 && !set->quiet && !set->json) learning_verdict(*training, stdout);
    return code;
}

/* A kernel that was trained for a run is in its checkpoint, where that is gone on from. */
static bool is_trained(const settings *set) {
    return set->sampler && (strstr(set->sampler, "ladder") || strstr(set->sampler, "anice"));
}

static int recall_kernel(const settings *set, const ais_target *target, ais_kernel **kernel, ais_training **training) {
    ais_context context = {0};
    if (ais_run_recall_learned(&context, set->checkpoint, target, kernel, training) != AIS_OK) return failed(&context);
    return *kernel ? 0 : complain(EXIT_FAILED, "%s has no kernel to go on with", set->checkpoint);
}

/* The kernel file, then the samplers of "a+b+...", as one kernel; a cycle when there are several. */
static int make_kernel(const settings *set, const ais_target *target, ais_kernel **kernel, ais_training **training) {
    enum { MOST = 8 };
    ais_context context = {0};
    ais_kernel *part[MOST] = {0};
    int count = 0, code = 0;
    if (set->sampler && !known_samplers(set->sampler)) return EXIT_USAGE;
    if (is_trained(set) && drawing_goes_on(set)) return recall_kernel(set, target, kernel, training);
    if (set->kernel_file) {
        code = load_kernel(set, target, &part[0]);
        if (code != 0) return code;
        count = 1;
    }
    char names[256], *rest = set->sampler ? names : NULL;
    snprintf(names, sizeof names, "%s", set->sampler ? set->sampler : "");
    for (char *name; code == 0 && (name = strsep(&rest, "+"));) {
        if (count == MOST)
            code = complain(EXIT_USAGE, "a cycle has at most %d parts", MOST);
        else if ((code = make_part(set, name, target, &part[count], training)) == 0)
            count++;
    }
    if (code == 0 && count > 1) return ais_kernel_cycle(&context, part, count, kernel) == AIS_OK ? 0 : failed(&context);
    if (code == 0) *kernel = part[0];
    for (int i = 0; code != 0 && i < count; i++) ais_kernel_free(part[i]);
    return code;
}

/* Chains with a ladder start at draws of its top, as those of run do. */
static int draw_with(settings *set, const ais_target *target, const ais_kernel *kernel, const ais_training *training) {
    double *start = training && training->rungs.count ? population_points(training, set->chains) : NULL;
    if (training && training->rungs.count && !start)
        return complain(EXIT_FAILED, "out of memory for the starting points of %d chains", set->chains);
    char identity[400];
    snprintf(identity, sizeof identity, "sampler %s\niterations %d", set->sampler ? set->sampler : "none",
             set->iterations);
    const ais_run_options given = {AIS_RUN_HEAD, .start = start, .identity = identity,
                                   .before = {.kernel = kernel,
                                              .training = training,
                                              .warmup = is_ladder(ais_kernel_name(kernel)) ? ladder_warmup : 0}};
    int code = draw_to_files(set, target, &given);
    free(start);
    return code;
}

static int sample(settings *set) {
    ais_context context = {0};
    ais_target *target = NULL;
    ais_kernel *kernel = NULL;
    ais_training *training = NULL;
    int code;
    char directory[4096];
    if (guard_open(&context, set->target, &set->isolation, set->threads, &target) != AIS_OK) return failed(&context);
    if (set->start_scale > 0) target->start_scale = set->start_scale;
    if (target->draws && !set->kernel_file) {
        ais_target_close(target);
        return complain(EXIT_USAGE,
                        "%s is a set of draws and has no density for a classical sampler: aisampler train %s -o K.ais, "
                        "then sample with -k K.ais",
                        set->target, set->target);
    }
    if (!set->sampler && !set->kernel_file) set->sampler = target->grad ? "nuts" : "rwm";
    default_directory(set->target, directory, sizeof directory);
    if (!set->out) set->out = directory;
    drawing_checkpoint(set);
    if (!options_apply(set))
        code = EXIT_USAGE;
    else if ((code = shown_find_of(&set->shown, target)) == 0 &&
             (code = budget_check(&set->budget, target, set->seed, isolation_threads(&set->isolation, set->threads))) ==
                 0 &&
             (code = make_kernel(set, target, &kernel, &training)) == 0)
        code = draw_with(set, target, kernel, training);
    shown_free(&set->shown);
    ais_training_free(training);
    ais_kernel_free(kernel);
    ais_target_close(target);
    return code;
}

int run_sample(int argc, char **argv) {
    settings set = default_settings();
    const option options[] = {
        {"kernel", 'k', OPTION_TEXT, &set.kernel_file, "FILE.ais", "a learned kernel; with --sampler: cycle of both"},
        {"sampler", 's', OPTION_TEXT, &set.sampler, "NAME",
         "rwm, hmc, nuts, ladder (replicas from a normal or a learned density to the target, for many modes), anice "
         "(A-NICE-MC, trained first: minutes), or a cycle such as nuts+rwm (nuts; rwm without gradient)"},
        {"start-scale", 0, OPTION_NUMBER, &set.start_scale, NULL,
         "chains start from N(0, N^2), and the ladder's base does (the target's own)"},
        {"step-size", 0, OPTION_NUMBER, &set.step_size, NULL, "hmc, nuts: fixed step size (tuned in warm-up)"},
        {"leapfrogs", 0, OPTION_COUNT, &set.leapfrogs, NULL, "hmc: leapfrog steps of a trajectory (40)"},
        {"jitter", 0, OPTION_NUMBER, &set.jitter, NULL, "hmc: step size varies by this share (0)"},
        {"max-depth", 0, OPTION_COUNT, &set.max_depth, NULL, "nuts: deepest tree (10)"},
        {"metric", 0, OPTION_CHOICE, &set.metric, "diag|dense", "nuts: mass matrix (diag)"},
        {"scale", 0, OPTION_NUMBER, &set.scale, NULL, "rwm: fixed scale of the walk (tuned in warm-up)"},
        {"target-accept", 0, OPTION_NUMBER, &set.target_accept, NULL, "acceptance to tune for (0.8; rwm 0.234)"},
        {"iterations", 0, OPTION_COUNT, &set.iterations, NULL, "anice: of its training (5000)"},
        {"test", 0, OPTION_CHOICE, &set.test, "metropolis|barker", "accept test of a learned kernel (the file's)"},
        {"report", 0, OPTION_FLAG, &set.report, NULL, "write report.html too: verdict, table, figures"},
        {"checkpoint", 0, OPTION_NUMBER, &set.renewal, NULL, "seconds between two renewals of the checkpoint (1)"},
        {"resume", 0, OPTION_FLAG, &set.resume, NULL,
         "go on with what was killed or stopped, to the same bytes as if it had not been"},
        DRAW_OPTIONS(set, "4", "1000"),
        {0}};
    int words = parse_options(argc, argv, options, &set.target, 1);
    if (words < 0) return EXIT_USAGE;
    if (set.help) {
        print_help(
            "sample TARGET [options]",
            "Draws from TARGET: a built-in name (aisampler targets), a regression on a table (blr:FILE, linear:FILE, "
            "poisson:FILE), stan:MODEL.stan:DATA.json, FILE.c or FILE.so; or "
            "data:DRAWS with the kernel that train learned from these draws (-k). Writes "
            "the draws, summary.json and run.json into a folder and judges them: exits with 3 when the "
            "diagnostics say that they are not to be trusted. Ctrl-C finishes the step and leaves complete "
            "files. --sampler ladder sets its rungs, step sizes and base in rounds before the draws, and then "
            "leaves them alone; what that takes is counted as learning, with half of --evaluations and "
            "--seconds at the most." DRAWING_HELP,
            options);
        return 0;
    }
    if (words == 0) return complain(EXIT_USAGE, "sample needs a target; see aisampler sample --help");
    if (!settings_make_sense(&set)) return EXIT_USAGE;
    if (set.start_scale < 0) return complain(EXIT_USAGE, "--start-scale must not be negative");
    if (!ranks_open()) return EXIT_FAILED;
    set.quiet = set.quiet || !ranks_lead();
    return sample(&set);
}
