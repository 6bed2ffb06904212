/* aisampler run: learns, draws, judges. The main job. */
#include <stdlib.h>
#include <string.h>

#include "draw.h"
#include "learning.h"
#include "ranks.h"

enum { rival_warmup = 500 }; /* what NUTS and the random walk need to adapt */

static int save_kernel(const settings *set, const ais_kernel *kernel, const ais_target *target) {
    ais_context context = {0};
    char path[4200];
    snprintf(path, sizeof path, "%s/kernel.ais", set->out);
    if (ais_directory_make(&context, set->out) != AIS_OK) return failed(&context);
    return ais_kernel_save(&context, kernel, target, path) == AIS_OK ? 0 : failed(&context);
}

/* Where a classical kernel does better, the two are cycled: one step of each in turn. Says so. */
static int join_rival(settings *set, const ais_training *training, ais_kernel **kernel) {
    if (!(training->rival_ess_per_second > training->ess_per_second)) return 0;
    ais_context context = {0};
    bool nuts = strcmp(training->rival, "nuts") == 0;
    ais_kernel *part[2] = {*kernel, NULL};
    ais_status status = nuts ? ais_kernel_nuts(&context, NULL, &part[1]) : ais_kernel_rwm(&context, NULL, &part[1]);
    if (status != AIS_OK) return failed(&context);
    *kernel = NULL; /* the cycle owns its parts, also when it fails */
    if (ais_kernel_cycle(&context, part, 2, kernel) != AIS_OK) return failed(&context);
    if (set->usual_warmup < rival_warmup) set->usual_warmup = rival_warmup;
    if (!set->quiet)
        fprintf(stderr,
                "%s does better here (worst ESS %.3g a second against %.3g): the chains take a step of each in turn\n",
                training->rival, training->rival_ess_per_second, training->ess_per_second);
    return 0;
}

/* Effective draws that come far slower than the kernel was judged are a sign of chains that stick: an end is better
 * than drawing for ever. */
static void limit_draws(settings *set, const ais_training *training) {
    enum { slower = 20, least = 1000, most = 1 << 30 };
    if (!(set->budget.effective > 0) || set->draws > 0 || !(training->worst_ess > 0)) return;
    double draws = slower * set->budget.effective / training->worst_ess / set->chains;
    set->draws = draws < least ? least : draws > most ? most : (int)draws;
}

static int draw_learned(settings *set, const ais_target *target, const ais_kernel *kernel,
                        const ais_training *training) {
    double *start = population_points(training, set->chains);
    if (!start) return complain(EXIT_FAILED, "out of memory for the starting points of %d chains", set->chains);
    set->start = start;
    set->training = training;
    limit_draws(set, training);
    if (!set->quiet && !set->json) learning_verdict(training, stdout);
    int code = draw_to_files(set, target, kernel);
    set->start = NULL;
    free(start);
    return code;
}

int run_run(int argc, char **argv) {
    settings set = default_settings();
    set.chains = 16;
    set.usual_warmup = 20;
    set.report = true;
    learning how = {0};
    const option options[] = {LEARNING_OPTIONS(how), DRAW_OPTIONS(set), {0}};
    int words = parse_options(argc, argv, options, &set.target, 1);
    if (words < 0) return EXIT_USAGE;
    if (set.help) {
        print_help("run TARGET [options]",
                   "Learns a kernel for TARGET from nothing but its density, draws with it under an exact "
                   "Metropolis-Hastings test, and judges the draws. Writes report.html (verdict, table, figures), "
                   "kernel.ais, the draws, summary.json and run.json into a folder. Exits with 3 when the draws are "
                   "not to be trusted. Ctrl-C ends training "
                   "with the best kernel so far, or drawing with complete files." RESUME_HELP
                   " Drawing begins anew." EMPIRICAL_HELP,
                   options);
        return 0;
    }
    if (words == 0) return complain(EXIT_USAGE, "run needs a target; see aisampler run --help");
    if (!settings_make_sense(&set)) return EXIT_USAGE;
    if (!ranks_open()) return EXIT_FAILED;
    set.quiet = set.quiet || !ranks_lead();
    ais_context context = {0};
    ais_target *target = NULL;
    ais_kernel *kernel = NULL;
    ais_training *training = NULL;
    char directory[4096];
    if (ais_target_open(&context, set.target, &target) != AIS_OK) return failed(&context);
    default_directory(set.target, directory, sizeof directory);
    if (!set.out) set.out = directory;
    how.folder = set.out;
    learning_checkpoint(&how, set.out, "kernel.ais");
    if (how.scale > 0) target->start_scale = how.scale; /* where chains begin is where modes are hunted */
    int code = chains_fit(&set, target->dim) ? 0 : EXIT_USAGE;
    if (code == 0) code = budget_check(&set.budget, target, set.seed);
    learning_limits limits;
    if (code == 0 && !half_for_learning(&set.budget, &limits)) code = EXIT_USAGE;
    if (code == 0) code = learn(&how, &limits, target, set.seed, set.threads, set.quiet, &kernel, &training);
    bool stopped = *stop_flag();
    if (code == 0 && ranks_lead()) code = save_kernel(&set, kernel, target);
    if (code == 0) code = join_rival(&set, training, &kernel);
    if (code == 0) code = draw_learned(&set, target, kernel, training);
    if ((code == 0 || code == EXIT_DISTRUST) && !stopped && ranks_lead()) learning_done(&how);
    ais_training_free(training);
    ais_kernel_free(kernel);
    ais_target_close(target);
    return code;
}
