/* aisampler diagnose: judges draws, whoever made them. */
#include <stdlib.h>

#include "cli.h"

static int diagnose(const ais_draws *draws, const ais_target *target, const char *target_name, bool json, bool quiet,
                    int rows) {
    ais_context context = {0};
    ais_diagnosis *diagnosis;
    if (ais_diagnose(&context, draws, target, &diagnosis) != AIS_OK) return failed(&context);
    const ais_report_run run = {.target = target_name};
    int code = tell(diagnosis, target_name ? &run : NULL, json, quiet, rows);
    ais_diagnosis_free(diagnosis);
    return code;
}

int run_diagnose(int argc, char **argv) {
    bool json = false, quiet = false, help = false;
    const char *target_name = NULL;
    int rows = 30;
    const option options[] = {
        {"target", 't', OPTION_TEXT, &target_name, "TARGET", "what was drawn from: adds modes and known moments"},
        {"rows", 0, OPTION_COUNT, &rows, NULL,
         "most parameters in the table: those with the smallest ESS; 0: all (30)"},
        {"json", 0, OPTION_FLAG, &json, NULL, "print JSON instead of a table"},
        {"quiet", 'q', OPTION_FLAG, &quiet, NULL, "print nothing: the exit code tells"},
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
                   "sampler. Exits with 3 when a warning says that they are not to be trusted.",
                   options);
        code = 0;
    } else if (count == 0) {
        complain(EXIT_USAGE, "diagnose needs at least one file of draws; see aisampler diagnose --help");
    } else if ((target_name && ais_target_open(&context, target_name, &target) != AIS_OK) ||
               ais_draws_read(&context, paths, count, &draws) != AIS_OK) {
        code = failed(&context);
    } else if (target && target->dim != draws->dim) {
        code =
            complain(EXIT_FAILED, "%s has %d parameters, but %s has dimension %d: name the target that was drawn from",
                     paths[0], draws->dim, target_name, target->dim);
    } else {
        code = diagnose(draws, target, target_name, json, quiet, rows);
    }
    ais_draws_free(draws);
    ais_target_close(target);
    free(paths);
    return code;
}
