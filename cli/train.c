/* aisampler train: learns a kernel and writes it to a file. */
#include <stdlib.h>
#include <string.h>

#include "budget.h"
#include "draw.h"
#include "guard.h"
#include "learning.h"
#include "ranks.h"

static bool write_record(const char *path, const ais_training *training) {
    char directory[4096], name[512];
    const char *slash = strrchr(path, '/');
    snprintf(directory, sizeof directory, "%.*s", slash ? (int)(slash - path) : 1, slash ? path : ".");
    snprintf(name, sizeof name, "%s.json", slash ? slash + 1 : path);
    json_t *json = learning_json(training);
    bool written = write_json(directory, name, json, JSON_INDENT(2));
    json_decref(json);
    return written;
}

/* The kernel, its record, and what there is to say. */
static int deliver(const char *name, const char *path, const ais_target *target, const ais_kernel *kernel,
                   const ais_training *training, bool json, bool quiet) {
    ais_context context = {0};
    if (ais_kernel_save(&context, kernel, target, path) != AIS_OK) return failed(&context);
    if (!write_record(path, training)) return EXIT_FAILED;
    if (json) {
        json_t *record = learning_json(training);
        int code = print_json(record, JSON_INDENT(2));
        json_decref(record);
        return code;
    }
    if (!quiet) {
        learning_verdict(training, stdout);
        printf("the kernel is in %s; draw with: aisampler sample %s -k %s\n", path, name, path);
    }
    return 0;
}

int run_train(int argc, char **argv) {
    learning how = {0};
    budget all = {0};
    isolation apart = {0};
    const char *name = NULL, *out = NULL, *sampler = "ai";
    uint64_t seed = 1;
    int threads = 0;
    bool quiet = false, json = false, help = false;
    const option options[] = {
        {"out", 'o', OPTION_TEXT, &out, "K.ais", "the kernel file; the record goes to K.ais.json (TARGET.ais)"},
        {"sampler", 's', OPTION_CHOICE, &sampler, "ai|anice",
         "ai: a learned involution; anice: A-NICE-MC, a baseline whose training takes minutes; of the options below it "
         "takes --steps (iterations, 5000), --rate, --hidden, --checkpoint and --resume only (ai)"},
        LEARNING_OPTIONS(how),
        BUDGET_OPTIONS(all),
        ISOLATE_OPTIONS(apart),
        {"seed", 0, OPTION_SEED, &seed, NULL, "the same seed gives the same kernel on any number of threads (1)"},
        {"threads", 'j', OPTION_COUNT, &threads, NULL, "0: one per core (0)"},
        {"json", 0, OPTION_FLAG, &json, NULL, "print the record as JSON"},
        {"quiet", 'q', OPTION_FLAG, &quiet, NULL, "no table"},
        {"help", 'h', OPTION_FLAG, &help, NULL, "this text"},
        {0}};
    int words = parse_options(argc, argv, options, &name, 1);
    if (words < 0) return EXIT_USAGE;
    if (help) {
        print_help("train TARGET [options]",
                   "Learns a kernel for TARGET from nothing but its density, and writes it to a file for 'aisampler "
                   "sample TARGET -k K.ais'. Ctrl-C keeps the best kernel so far." RESUME_HELP EMPIRICAL_HELP,
                   options);
        return 0;
    }
    if (words == 0) return complain(EXIT_USAGE, "train needs a target; see aisampler train --help");
    bool anice = strcmp(sampler, "anice") == 0;
    if (!isolation_makes_sense(&apart) || !budget_begin(&all, 0, 0)) return EXIT_USAGE;
    if (anice && (beyond_anice(&how) || all.effective > 0 || all.evaluations > 0 || all.seconds > 0))
        return complain(EXIT_USAGE,
                        "of the options of learning, --sampler anice takes --steps, --rate, --hidden, --checkpoint and "
                        "--resume only");
    if (!ranks_open()) return EXIT_FAILED;
    quiet = quiet || !ranks_lead();
    ais_context context = {0};
    ais_target *target = NULL;
    ais_kernel *kernel = NULL;
    ais_training *training = NULL;
    char path[4096];
    if (guard_open(&context, name, &apart, threads, &target) != AIS_OK) return failed(&context);
    default_directory(name, path, sizeof path); /* out/NAME: only NAME is wanted */
    char *base = path + strlen("out/");
    snprintf(base + strlen(base), sizeof path - strlen(path), ".ais");
    if (!out) out = base;
    learning_checkpoint(&how, NULL, out);
    if (how.start_scale > 0) target->start_scale = how.start_scale; /* as in run */
    int code = budget_check(&all, target, seed, isolation_threads(&apart, threads));
    ais_budget limits = {0};
    if (code == 0) code = budget_left(&all, &limits);
    const anice_learning baseline = {
        .iterations = how.steps, .hidden = how.hidden, .rate = how.rate, .kept = ranks_lead() ? &how : NULL};
    if (code == 0)
        code = anice ? learn_anice(&baseline, target, seed, threads, quiet, &kernel, &training)
                     : learn(&how, &limits, target, seed, threads, quiet, &kernel, &training);
    if (code == 0 && ranks_lead()) code = deliver(name, out, target, kernel, training, json, quiet);
    if (code == 0 && ranks_lead() && !*stop_flag()) learning_done(&how);
    tell_of_errors(target);
    ais_training_free(training);
    ais_kernel_free(kernel);
    ais_target_close(target);
    return code;
}
