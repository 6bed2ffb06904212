/* aisampler sample: draws from a target with a kernel file, a classical sampler or a ladder. */
#include <stdlib.h>
#include <string.h>

#include "draw.h"
#include "guard.h"
#include "learning.h"
#include "ranks.h"

enum { ladder_warmup = 100 }; /* steps in which replicas leave the point where their chain begins */

/* ---- kernels ------------------------------------------------------------------------------------- */

static const ais_classical_entry *find_classical(const char *name) {
    const ais_classical_entry *at;
    for (int i = 0; (at = ais_classical_builtin(i)); i++)
        if (strcmp(at->name, name) == 0) return at;
    return NULL;
}

/* Of the options those that the sampler takes: in a cycle others are for other parts. */
static ais_status classical(ais_context *context, const char *name, const settings *set, ais_kernel **kernel) {
    const ais_classical_entry *entry = find_classical(name);
    const bool step = ais_classical_takes(entry, "step_size"), scale = ais_classical_takes(entry, "scale"),
               accept = ais_classical_takes(entry, "target_accept"), jitter = ais_classical_takes(entry, "jitter"),
               leapfrogs = ais_classical_takes(entry, "leapfrogs"), depth = ais_classical_takes(entry, "max_depth"),
               dense = ais_classical_takes(entry, "dense");
    const ais_classical_options options = {.step_size = step ? set->step_size : 0,
                                           .scale = scale ? set->scale : 0,
                                           .target_accept = accept ? set->target_accept : 0,
                                           .jitter = jitter ? set->jitter : 0,
                                           .leapfrogs = leapfrogs ? set->leapfrogs : 0,
                                           .max_depth = depth ? set->max_depth : 0,
                                           .dense = dense && strcmp(set->metric, "dense") == 0};
    return ais_kernel_classical(context, name, &options, kernel);
}

static bool is_ladder(const char *name) { return strcmp(name, "ladder") == 0; }

/* The names of all samplers; ends with NULL. */
enum { MOST_SAMPLERS = 16 };
static void sampler_names(const char *name[MOST_SAMPLERS + 1]) {
    int count = 0;
    for (const ais_classical_entry *at; count < MOST_SAMPLERS - 2 && (at = ais_classical_builtin(count));)
        name[count++] = at->name;
    name[count++] = "ladder";
    name[count++] = "anice";
    name[count] = NULL;
}

static bool known_sampler(const char *name) {
    const char *known[MOST_SAMPLERS + 1];
    sampler_names(known);
    for (const char *const *at = known; *at; at++)
        if (strcmp(name, *at) == 0) return true;
    char list[256] = "there are";
    for (const char *const *at = known; *at; at++) {
        size_t used = strlen(list);
        snprintf(list + used, sizeof list - used, "%s %s", at == known ? "" : at[1] ? "," : " and", *at);
    }
    const char *near = ais_nearest(name, known);
    complain(EXIT_USAGE, "unknown sampler '%s'; %s%s%s", name, near ? "did you mean " : list, near ? near : "",
             near ? "?" : "");
    return false;
}

/* Whether "a+b+..." has this part. */
static bool names_part(const char *list, const char *name) {
    size_t length = strlen(name);
    for (const char *at = list; *at; at += *at == '+') {
        size_t part = strcspn(at, "+");
        if (part == length && memcmp(at, name, length) == 0) return true;
        at += part;
    }
    return false;
}

/* The classical samplers that take an option, as "a, b and c"; whether one of them is in the list. */
static bool takers(const char *list, const char *key, char *of, size_t size) {
    const ais_classical_entry *at, *all[MOST_SAMPLERS];
    bool any = false;
    int count = 0;
    for (int i = 0; count < MOST_SAMPLERS && (at = ais_classical_builtin(i)); i++) {
        if (!ais_classical_takes(at, key)) continue;
        all[count++] = at;
        any = any || names_part(list, at->name);
    }
    size_t used = 0;
    for (int i = 0; i < count && used < size; i++)
        used += (size_t)snprintf(of + used, size - used, "%s%s",
                                 i == 0          ? ""
                                 : i + 1 < count ? ", "
                                                 : " and ",
                                 all[i]->name);
    return any;
}

static bool applies(const char *name, const char *of, bool used) {
    if (!used) complain(EXIT_USAGE, "--%s applies only to %s", name, of);
    return used;
}

/* Options that the chosen samplers do not use are refused, not ignored. */
static bool options_apply(const settings *set) {
    const char *names = set->sampler ? set->sampler : "";
    const struct {
        const char *option, *key;
        bool given;
    } rule[] = {{"step-size", "step_size", set->step_size != 0},
                {"leapfrogs", "leapfrogs", set->leapfrogs != 0},
                {"jitter", "jitter", set->jitter != 0},
                {"max-depth", "max_depth", set->max_depth != 0},
                {"metric", "dense", strcmp(set->metric, "diag") != 0},
                {"scale", "scale", set->scale != 0},
                {"target-accept", "target_accept", set->target_accept != 0}};
    for (size_t i = 0; i < sizeof rule / sizeof *rule; i++) {
        char of[128] = "";
        bool used = takers(names, rule[i].key, of, sizeof of);
        if (rule[i].given && !applies(rule[i].option, of, used)) return false;
    }
    return (!set->iterations || applies("iterations", "anice", names_part(names, "anice"))) &&
           (!set->test || applies("test", "a kernel file (-k)", set->kernel_file != NULL));
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
    return complain(EXIT_USAGE, "--test applies only to learned involutions; %s has an accept test of its own",
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
    if (trained > 1) complain(EXIT_USAGE, "name anice or ladder only once, and not both: it is trained for this run");
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

/* A kernel that was trained for a run is in its checkpoint, if the run continues from that. */
static bool is_trained(const settings *set) {
    return set->sampler && (names_part(set->sampler, "ladder") || names_part(set->sampler, "anice"));
}

static int recall_kernel(const settings *set, const ais_target *target, ais_kernel **kernel, ais_training **training) {
    ais_context context = {0};
    if (ais_run_recall_learned(&context, set->checkpoint, target, kernel, training) != AIS_OK) return failed(&context);
    return *kernel ? 0 : complain(EXIT_FAILED, "%s has no kernel to continue with", set->checkpoint);
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

static const char *sampler_help(char *text, size_t size) {
    const ais_classical_entry *at;
    size_t used = 0;
    for (int i = 0; used < size && (at = ais_classical_builtin(i)); i++)
        used += (size_t)snprintf(text + used, size - used, "%s, ", at->name);
    if (used < size)
        snprintf(text + used, size - used,
                 "ladder (replicas from a normal or a learned density to the target, for many modes), anice "
                 "(A-NICE-MC, trained first: minutes), or a cycle such as nuts+rwm (nuts; rwm without gradient)");
    return text;
}

int run_sample(int argc, char **argv) {
    settings set = default_settings();
    char help[400];
    const option options[] = {
        {"kernel", 'k', OPTION_TEXT, &set.kernel_file, "FILE.ais",
         "a learned kernel; with --sampler the two alternate"},
        {"sampler", 's', OPTION_TEXT, &set.sampler, "NAME", sampler_help(help, sizeof help)},
        {"start-scale", 0, OPTION_NUMBER, &set.start_scale, NULL,
         "chains, and the ladder's base, start from N(0, N^2) (the target's own)"},
        {"step-size", 0, OPTION_NUMBER, &set.step_size, NULL, "hmc, nuts: fixed step size (tuned in warm-up)"},
        {"leapfrogs", 0, OPTION_COUNT, &set.leapfrogs, NULL, "hmc: leapfrog steps of a trajectory (40)"},
        {"jitter", 0, OPTION_NUMBER, &set.jitter, NULL, "hmc: step size varies by this share (0)"},
        {"max-depth", 0, OPTION_COUNT, &set.max_depth, NULL, "nuts: deepest tree (10)"},
        {"metric", 0, OPTION_CHOICE, &set.metric, "diag|dense", "nuts: mass matrix (diag)"},
        {"scale", 0, OPTION_NUMBER, &set.scale, NULL,
         "rwm, slice: fixed scale of the steps or intervals (tuned in warm-up)"},
        {"target-accept", 0, OPTION_NUMBER, &set.target_accept, NULL, "acceptance to tune for (0.8; rwm 0.234)"},
        {"iterations", 0, OPTION_COUNT, &set.iterations, NULL, "anice: iterations of its training (5000)"},
        {"test", 0, OPTION_CHOICE, &set.test, "metropolis|barker", "accept test of a learned kernel (the file's)"},
        {"report", 0, OPTION_FLAG, &set.report, NULL, "write report.html too: verdict, table, figures"},
        {"checkpoint", 0, OPTION_NUMBER, &set.renewal, NULL, "seconds between two checkpoints (1)"},
        {"resume", 0, OPTION_FLAG, &set.resume, NULL,
         "continue what was killed or stopped; the files become the same as without the interruption"},
        DRAW_OPTIONS(set, "4", "1000", "1000"),
        {0}};
    int words = parse_options(argc, argv, options, &set.target, 1);
    if (words < 0) return EXIT_USAGE;
    if (set.help) {
        print_help(
            "sample TARGET [options]",
            "Draws from TARGET: a built-in name (aisampler targets), a regression on a table (blr:FILE, linear:FILE, "
            "poisson:FILE), stan:MODEL.stan:DATA.json, FILE.c or FILE.so; or "
            "data:DRAWS with the kernel that train learned from these draws (-k). Writes "
            "the draws, summary.json and run.json into a folder and judges them: exits with 3 if they cannot be "
            "trusted. Ctrl-C finishes the step and leaves complete "
            "files. --sampler ladder tunes its rungs, step sizes and base in rounds before the draws and then keeps "
            "them fixed; that counts as learning, and takes at most half of --evaluations and --seconds." DRAWING_HELP,
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
