/* aisampler run: learns, draws, judges. The main job. */
#include "draw.h"
#include "guard.h"
#include "learning.h"
#include "ranks.h"

/* The data of the callback at the end of learning. */
typedef struct running {
    const settings *set;
    const learning *how;
    const ais_target *target;
    bool stopped; /* learning was */
} running;

static ais_status save_kernel(ais_context *context, const running *run, const ais_kernel *kernel) {
    char path[4200];
    snprintf(path, sizeof path, "%s/kernel.ais", run->set->out);
    return ais_kernel_save(context, kernel, run->target, path);
}

/* The kernel is saved before the first draw. After learning was stopped, draws are made with what was learned: another
 * Ctrl-C stops those. */
static ais_status when_learned(ais_context *context, const ais_run_learned *learned, void *data) {
    running *run = data;
    const ais_training *training = learned->training;
    bool ends = learned->stopped && was_terminated();
    run->stopped = *stop_flag();
    if (learned->stopped && !ends) learning_stopped(run->how, context);
    if (ranks_lead()) {
        ais_status status = save_kernel(context, run, learned->kernel);
        if (status != AIS_OK) return status;
    }
    if (ends) return AIS_STOPPED; /* SIGTERM is soon followed by a kill */
    catch_interrupts();
    if (learned->rival && !run->set->quiet)
        fprintf(
            stderr,
            "%s does better here (worst ESS %.3g per second against %.3g): the chains take a step of each in turn, as "
            "'aisampler sample %s --kernel %s/kernel.ais --sampler %s' does\n",
            learned->rival, training->rival_ess_per_second, training->ess_per_second, run->target->name, run->set->out,
            learned->rival);
    if (!run->set->quiet && !run->set->json) learning_verdict(training, stdout);
    return AIS_OK;
}

static int learn_and_draw(const settings *set, const learning *how, const ais_target *target) {
    learning_plan plan;
    running run = {.set = set, .how = how, .target = target};
    int code = learning_prepare(how, target, set->quiet, &plan);
    const ais_run_options options = {AIS_RUN_HEAD, .learning = &plan.options, .learned = when_learned,
                                     .learned_data = &run};
    if (code == 0) code = draw_to_files(set, target, &options);
    if ((code == 0 || code == EXIT_DISTRUST) && !run.stopped && ranks_lead()) learning_done(how);
    learning_free(&plan);
    return code;
}

int run_run(int argc, char **argv) {
    settings set = default_settings();
    set.chains = 16;
    set.report = true;
    learning how = {0};
    const option options[] = {
        LEARNING_OPTIONS(how), DRAW_OPTIONS(set, "16", "20", "1000, up to 4000 if the verdict needs more"), {0}};
    int words = parse_options(argc, argv, options, &set.target, 1);
    if (words < 0) return EXIT_USAGE;
    if (set.help) {
        print_help(
            "run TARGET [options]",
            "Learns a kernel for TARGET from nothing but its density, draws with it under an exact "
            "Metropolis-Hastings test, and judges the draws. Writes report.html (verdict, table, figures), "
            "kernel.ais, the draws, summary.json and run.json into a folder. Exits with 3 if the draws cannot be "
            "trusted. Ctrl-C ends training "
            "with the best kernel so far, or drawing with complete files." RESUME_HELP DRAWING_HELP EMPIRICAL_HELP,
            options);
        return 0;
    }
    if (words == 0) return complain(EXIT_USAGE, "run needs a target; see aisampler run --help");
    set.resume = how.resume;
    set.renewal = how.renewal;
    if (!settings_make_sense(&set)) return EXIT_USAGE;
    if (!ranks_open()) return EXIT_FAILED;
    set.quiet = set.quiet || !ranks_lead();
    ais_context context = {0};
    ais_target *target = NULL;
    char directory[4096];
    if (guard_open(&context, set.target, &set.isolation, set.threads, &target) != AIS_OK) return failed(&context);
    default_directory(set.target, directory, sizeof directory);
    if (!set.out) set.out = directory;
    how.folder = set.out;
    learning_checkpoint(&how, set.out, "kernel.ais");
    drawing_checkpoint(&set);
    how.over = drawing_goes_on(&set);
    if (how.start_scale > 0) target->start_scale = how.start_scale; /* chains start in the region that is searched */
    int code = shown_find_of(&set.shown, target);
    if (code == 0) code = budget_check(&set.budget, target, set.seed, isolation_threads(&set.isolation, set.threads));
    if (code == 0) code = learn_and_draw(&set, &how, target);
    shown_free(&set.shown);
    ais_target_close(target);
    return code;
}
