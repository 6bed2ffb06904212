/* aisampler train: learns a kernel and writes it to a file. */
#include <stdlib.h>
#include <string.h>

#include "draw.h"
#include "learning.h"

static bool write_record(const char *path, const ais_training *training) {
    output_file output;
    char directory[4096], name[512];
    const char *slash = strrchr(path, '/');
    snprintf(directory, sizeof directory, "%.*s", slash ? (int)(slash - path) : 1, slash ? path : ".");
    snprintf(name, sizeof name, "%s.json", slash ? slash + 1 : path);
    if (!output_open(&output, directory, name)) return false;
    json_t *json = learning_json(training);
    json_dumpf(json, output.file, JSON_INDENT(2));
    fputc('\n', output.file);
    json_decref(json);
    return output_commit(&output);
}

int run_train(int argc, char **argv) {
    learning how = {0};
    const char *name = NULL, *out = NULL;
    uint64_t seed = 1;
    int threads = 0;
    bool quiet = false, json = false, help = false;
    const option options[] = {
        {"out", 'o', OPTION_TEXT, &out, "K.ais", "the kernel file; the record goes to K.ais.json (TARGET.ais)"},
        LEARNING_OPTIONS(how),
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
                   "sample TARGET -k K.ais'. Ctrl-C keeps the best kernel so far." EMPIRICAL_HELP,
                   options);
        return 0;
    }
    if (words == 0) return complain(EXIT_USAGE, "train needs a target; see aisampler train --help");
    ais_context context = {0};
    ais_target *target = NULL;
    ais_kernel *kernel = NULL;
    ais_training *training = NULL;
    char path[4096];
    if (ais_target_open(&context, name, &target) != AIS_OK) return failed(&context);
    default_directory(name, path, sizeof path); /* out/NAME: only NAME is wanted */
    char *base = path + strlen("out/");
    snprintf(base + strlen(base), sizeof path - strlen(path), ".ais");
    if (!out) out = base;
    if (how.scale > 0) target->start_scale = how.scale; /* as in run */
    int code = 0;
    if (ais_target_check(&context, target, seed) != AIS_OK) code = failed(&context);
    if (code == 0) code = learn(&how, target, seed, threads, quiet, &kernel, &training);
    if (code == 0 && ais_kernel_save(&context, kernel, target, out) != AIS_OK) code = failed(&context);
    if (code == 0 && !write_record(out, training)) code = EXIT_FAILED;
    if (code == 0 && json) {
        json_t *record = learning_json(training);
        json_dumpf(record, stdout, JSON_INDENT(2));
        putchar('\n');
        json_decref(record);
    } else if (code == 0 && !quiet) {
        learning_verdict(training, stdout);
        printf("the kernel is in %s; draw with: aisampler sample %s -k %s\n", out, name, out);
    }
    ais_training_free(training);
    ais_kernel_free(kernel);
    ais_target_close(target);
    return code;
}
