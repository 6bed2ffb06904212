/* aisampler reproduce: the tables and figures of the paper, ours beside the printed numbers. */
#include "reproduce/reproduce.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

const experiment experiments[] = {
    {"plane", "ESS and ESS/s in two dimensions, densities, trajectories", reproduce_plane},
    {"regressions", "ESS and ESS/s on the regressions, log predictive density", reproduce_regressions},
    {"triangle", "the unbalanced mixture, total variation and mode weights", reproduce_triangle},
    {"training", "objective and acceptance during training, the discriminator", reproduce_training},
    {"speed", "time against chains, a proposal against a gradient", reproduce_speed},
    {0},
};

/* ---- output ----------------------------------------------------------------------------------------- */

/* A number where the cell is one, else its text. */
static json_t *cell_as_json(const char *cell) {
    char *end;
    double value = strtod(cell, &end);
    if (strcmp(cell, "-") == 0) return json_null();
    return *cell && *end == 0 ? json_number_or_null(value) : json_text(cell);
}

void show_table(reproduction *set, const char *key, const table *numbers) {
    json_t *rows = json_array();
    for (int i = 0; i < numbers->rows; i++) {
        json_t *row = json_object();
        for (int k = 0; k < numbers->columns; k++)
            json_object_set_new(row, numbers->heading[k], cell_as_json(numbers->cell[i][k]));
        json_array_append_new(rows, row);
    }
    json_object_set_new(
        set->json, key,
        json_pack("{ss so so}", "title", numbers->title, "note", json_text(numbers->note), "rows", rows));
    table_html(numbers, set->page);
    table_markdown(numbers, set->tables);
    if (!set->quiet) {
        table_text(numbers, stdout);
        putchar('\n');
        fflush(stdout);
    }
}

int show_figure(reproduction *set, const char *title, ais_figure *figure) {
    ais_context context = {0};
    char prefix[16];
    snprintf(prefix, sizeof prefix, "r%d", set->figures++);
    if (title) ais_document_heading(set->page, title);
    ais_status status = ais_document_figure(&context, set->page, figure, prefix);
    ais_figure_free(figure);
    return status == AIS_OK ? 0 : failed(&context);
}

/* ---- the job ---------------------------------------------------------------------------------------- */

static const experiment *find(const char *name) {
    const char *known[sizeof experiments / sizeof *experiments];
    int count = 0;
    for (const experiment *at = experiments; at->name; at++) {
        if (strcmp(at->name, name) == 0) return at;
        known[count++] = at->name;
    }
    known[count] = NULL;
    const char *near = ais_nearest(name, known);
    if (near)
        complain(EXIT_USAGE, "unknown experiment '%s'; did you mean '%s'?", name, near);
    else
        complain(EXIT_USAGE, "unknown experiment '%s'; see aisampler reproduce --help", name);
    return NULL;
}

/* Into the text of all parts, and onto stderr. */
static void add_seconds(reproduction *set, const char *name, double began) {
    double seconds = wall_seconds() - began;
    size_t used = strlen(set->seconds);
    snprintf(set->seconds + used, sizeof set->seconds - used, "%s%s %.0f", used ? ", " : "", name, seconds);
    if (!set->quiet) fprintf(stderr, "  %.0f s\n", seconds);
}

static int run_experiments(reproduction *set, const experiment *only) {
    double began = wall_seconds();
    int code = baselines_make(set, only ? only->name : NULL);
    if (code == 0) add_seconds(set, "training of A-NICE-MC", began);
    for (const experiment *at = experiments; at->name && code == 0; at++) {
        if (only && at != only) continue;
        began = wall_seconds();
        if (!set->quiet) fprintf(stderr, "%s: %s\n", at->name, at->title);
        code = at->run(set);
        if (code == 0) add_seconds(set, at->name, began);
    }
    if (code != 0) return code;
    char text[512];
    snprintf(text, sizeof text, "Seconds on the wall: %s.", set->seconds);
    ais_document_note(set->page, text);
    fprintf(set->tables, "%s\n", text);
    json_object_set_new(set->json, "seconds", json_text(set->seconds));
    return 0;
}

/* "AMD EPYC 7763, 2 cores", as the kernel tells it. */
static void describe_machine(char *text, size_t size) {
    char line[256], *name = NULL;
    FILE *file = fopen("/proc/cpuinfo", "r");
    while (file && !name && fgets(line, sizeof line, file))
        if (strncmp(line, "model name", 10) == 0) name = strchr(line, ':');
    if (name) name[strcspn(name, "\n")] = 0;
    snprintf(text, size, "%.120s, %ld cores", name && name[1] ? name + 2 : "unknown machine",
             sysconf(_SC_NPROCESSORS_ONLN));
    if (file) fclose(file);
}

static void begin(reproduction *set) {
    char text[512], machine[160];
    char paper[32] = "its own number of";
    int anice = set->anice_iterations;
    describe_machine(machine, sizeof machine);
    if (set->paper_steps > 0) snprintf(paper, sizeof paper, "%d", set->paper_steps);
    snprintf(text, sizeof text,
             "aisampler %s, reproduce%s, seed %llu, %d trials. A-NICE-MC: %d iterations in 2D, %d on the regressions; "
             "--preset paper: %s steps. %s.",
             ais_version(), set->quick ? " --quick" : "", (unsigned long long)set->seed, set->trials,
             anice_iterations(set, PLANE_DRAWS), anice_iterations(set, REGRESSION_DRAWS), paper, machine);
    ais_document_begin(set->page, "The paper's experiments");
    ais_document_paragraph(set->page, text);
    ais_document_paragraph(
        set->page, "Ours beside what the paper prints. Its estimator is mean-ESS; worst ESS, over x, x^2 and mode "
                   "indicators, shows what that one does not see. Samplers: hmc; anice, the baseline A-NICE-MC; paper, "
                   "the Ai-sampler in the paper's own setting; ai, the default of aisampler.");
    fprintf(set->tables, "# The paper's experiments\n\n%s\n\n", text);
    set->json =
        json_pack("{ss sI si sb si ss}", "aisampler_version", ais_version(), "seed", (json_int_t)set->seed, "trials",
                  set->trials, "quick", (int)set->quick, "anice_iterations", anice, "machine", machine);
}

static int reproduce(reproduction *set, const experiment *only, const char *directory) {
    ais_context context = {0};
    output_file page, tables;
    if (ais_directory_make(&context, directory) != AIS_OK) return failed(&context);
    if (!output_open(&page, directory, "reproduce.html")) return EXIT_FAILED;
    if (!output_open(&tables, directory, "tables.md")) {
        output_abandon(&page);
        return EXIT_FAILED;
    }
    set->page = page.file;
    set->tables = tables.file;
    begin(set);
    int code = run_experiments(set, only);
    if (code == 0 && ais_document_end(&context, set->page) != AIS_OK) code = failed(&context);
    if (code == 0 && !write_json(directory, "reproduce.json", set->json, JSON_INDENT(2) | JSON_REAL_PRECISION(8)))
        code = EXIT_FAILED;
    if (code == 0) {
        code = output_commit(&page) ? 0 : EXIT_FAILED;
    } else {
        output_abandon(&page);
    }
    if (code == 0) {
        code = output_commit(&tables) ? 0 : EXIT_FAILED;
    } else {
        output_abandon(&tables);
    }
    json_decref(set->json);
    baselines_free(set);
    if (code == 0 && !set->quiet)
        fprintf(stderr, "reproduce.html, tables.md and reproduce.json are in %s\n", directory);
    return code;
}

static int usage(const option *options) {
    print_help("reproduce [options]",
               "Reproduces tables and figures of the paper, our numbers beside the printed ones (docs/paper.md), and "
               "writes reproduce.html, tables.md and reproduce.json into a folder. A-NICE-MC is trained first, as many "
               "targets at once as there are threads; without --quick that takes half an hour on two cores.",
               options);
    help_entry row[sizeof experiments / sizeof *experiments] = {{0}};
    for (int i = 0; experiments[i].name; i++) row[i] = (help_entry){experiments[i].name, experiments[i].title};
    print_help_list("experiments", row);
    return 0;
}

int run_reproduce(int argc, char **argv) {
    reproduction set = {.seed = 1};
    const char *out = "out/reproduce", *only = NULL, *word;
    bool help = false;
    const option options[] = {
        {"quick", 0, OPTION_FLAG, &set.quick, NULL, "minutes: fewer trials, a short training of A-NICE-MC"},
        {"only", 0, OPTION_TEXT, &only, "NAME", "one experiment of the list below (all)"},
        {"trials", 0, OPTION_COUNT, &set.trials, NULL, "single chains to average over (20; quick: 8)"},
        {"iterations", 0, OPTION_COUNT, &set.anice_iterations, NULL,
         "of A-NICE-MC in 2D, a third of it on the regressions (6000; quick: 1200)"},
        {"steps", 0, OPTION_COUNT, &set.paper_steps, NULL, "of the paper's preset; 0: its own (0)"},
        {"seed", 0, OPTION_SEED, &set.seed, NULL, "(1)"},
        {"threads", 'j', OPTION_COUNT, &set.threads, NULL, "0: one per core (0)"},
        {"out", 'o', OPTION_TEXT, &out, "DIR", "where the files go (out/reproduce)"},
        {"quiet", 'q', OPTION_FLAG, &set.quiet, NULL, "no progress, no tables on stdout"},
        {"help", 'h', OPTION_FLAG, &help, NULL, "this text"},
        {0}};
    if (parse_options(argc, argv, options, &word, 0) < 0) return EXIT_USAGE;
    if (help) return usage(options);
    if (!*out) return complain(EXIT_USAGE, "--out is empty: name a folder");
    const experiment *one = only ? find(only) : NULL;
    if (only && !one) return EXIT_USAGE;
    if (set.trials == 0) set.trials = set.quick ? 8 : 20;
    if (set.anice_iterations == 0) set.anice_iterations = set.quick ? 1200 : 6000;
    return reproduce(&set, one, out);
}
