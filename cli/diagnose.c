/* aisampler diagnose: judges the draws of any sampler. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "page.h"
#include "shown.h"

static bool write_report(const char *path, const ais_figure_data *data, const ais_report_run *run) {
    char directory[4096];
    const char *slash = strrchr(path, '/');
    snprintf(directory, sizeof directory, "%.*s", slash ? (int)(slash - path) : 1, slash ? path : ".");
    if (slash == path) snprintf(directory, sizeof directory, "/.");
    return write_page(directory, slash ? slash + 1 : path, data, run);
}

static int diagnose(const ais_draws *draws, const ais_target *target, const char *target_name, const char *report,
                    const shown *wish, bool json, bool quiet, int rows) {
    ais_context context = {0};
    ais_diagnosis *diagnosis;
    if (ais_diagnose(&context, draws, target, &diagnosis) != AIS_OK) return failed(&context);
    const ais_report_run run = {.target = target_name, .train_seconds = NAN};
    const ais_figure_data data = {.draws = draws,
                                  .diagnosis = diagnosis,
                                  .target = target,
                                  .parameter = wish->parameter,
                                  .parameters = wish->parameters,
                                  .truth = wish->truth};
    bool written = !report || write_report(report, &data, target_name ? &run : NULL);
    int code = written ? tell(diagnosis, target_name ? &run : NULL, json, quiet, rows) : EXIT_FAILED;
    ais_diagnosis_free(diagnosis);
    return code;
}

int run_diagnose(int argc, char **argv) {
    bool json = false, quiet = false, help = false;
    const char *target_name = NULL, *report = NULL;
    int rows = 30;
    shown wish = {0};
    const option options[] = {
        {"target", 't', OPTION_TEXT, &target_name, "TARGET",
         "the density that was drawn from: adds modes and known moments"},
        {"report", 0, OPTION_TEXT, &report, "FILE.html", "write a page with verdict, table and figures too"},
        SHOWN_OPTIONS(wish, 0),
        {"rows", 0, OPTION_COUNT, &rows, NULL, "parameters in the table, worst first; 0: all (30)"},
        {"json", 0, OPTION_FLAG, &json, NULL, "print JSON instead of a table"},
        {"quiet", 'q', OPTION_FLAG, &quiet, NULL, "print nothing; the exit code is the verdict"},
        {"help", 'h', OPTION_FLAG, &help, NULL, "this text"},
        {0}};
    const char **paths = malloc((size_t)argc * sizeof *paths);
    if (!paths) return complain(EXIT_FAILED, "out of memory");
    int count = parse_options(argc, argv, options, paths, argc), code = EXIT_USAGE;
    ais_context context = {0};
    ais_target *target = NULL;
    ais_draws *draws = NULL;
    if (count < 0) {
    } else if (help) {
        print_help("diagnose FILE... [options]",
                   "Judges the draws in Stan CSV files (one per chain) or an ArviZ netCDF file (all chains), of any "
                   "sampler. Exits with 3 if they cannot be trusted.",
                   options);
        code = 0;
    } else if (count == 0) {
        complain(EXIT_USAGE, "diagnose needs at least one file of draws; see aisampler diagnose --help");
    } else if (report && (!*report || report[strlen(report) - 1] == '/')) {
        complain(EXIT_USAGE, "--report takes the name of a file, such as report.html, not '%s'", report);
    } else if ((wish.names || wish.truths) && !report) {
        complain(EXIT_USAGE, "--parameters and --truth are for the figures of --report FILE.html");
    } else if ((target_name && ais_target_open(&context, target_name, &target) != AIS_OK) ||
               ais_draws_read(&context, paths, count, &draws) != AIS_OK) {
        code = failed(&context);
    } else if (target && target->dim != draws->dim) {
        code =
            complain(EXIT_FAILED, "%s has %d parameters, but %s has dimension %d: name the target that was drawn from",
                     paths[0], draws->dim, target_name, target->dim);
    } else if ((code = shown_find(&wish, (const char *const *)draws->name, draws->dim)) == 0) {
        code = diagnose(draws, target, target_name, report, &wish, json, quiet, rows);
    }
    shown_free(&wish);
    ais_draws_free(draws);
    ais_target_close(target);
    free(paths);
    return code;
}
