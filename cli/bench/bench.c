/* aisampler bench: how fast this machine samples, part by part. */
#include <string.h>

#include "bench/bench.h"
#include "ranks.h"

static int usage(const option *options) {
    char text[2048] = "Measures this machine. Parts (by default all except those marked 'only when named'): ";
    for (const bench_part *part = bench_parts; part->name; part++) {
        size_t used = strlen(text);
        snprintf(text + used, sizeof text - used, "%s (%s%s)%s", part->name, part->summary,
                 part->asked_for ? "; only when named" : "", part[1].name ? ", " : ".");
    }
    print_help("bench [PART...] [options]", text, options);
    return 0;
}

static const bench_part *find(const char *word) {
    const char *known[16];
    int count = 0;
    for (const bench_part *part = bench_parts; part->name; part++) {
        if (strcmp(part->name, word) == 0) return part;
        known[count++] = part->name;
    }
    known[count] = NULL;
    const char *near = ais_nearest(word, known);
    complain(EXIT_USAGE,
             near ? "unknown part '%s'; did you mean '%s'?" : "unknown part '%s'; see aisampler bench --help", word,
             near);
    return NULL;
}

/* One draw that costs `steps` steps: the start of the chains is paid for too, files are not. */
static double run_seconds(const ais_target *target, const ais_kernel *kernel, int chains, int threads, int steps) {
    ais_context context = {0};
    ais_sample_result result;
    const ais_sample_options options = {.seed = 1, .chains = chains, .draws = 1, .thin = steps, .threads = threads};
    if (ais_sample(&context, target, kernel, &options, NULL, 0, &result) == AIS_OK) return result.sample_seconds;
    failed(&context);
    return -1;
}

double steps_per_second(const bench *set, const ais_target *target, const ais_kernel *kernel, int chains, int threads) {
    enum { MOST_STEPS = 1 << 28, REPETITIONS = 7 };
    int steps = 32; /* the start of a chain costs about as much as two */
    double seconds = 0, best = 0, began = wall_seconds();
    while ((seconds = run_seconds(target, kernel, chains, threads, steps)) < set->seconds / REPETITIONS) {
        if (seconds < 0) return 0;
        if (steps >= MOST_STEPS) break;
        steps *= 2;
    }
    for (int k = 0; k < REPETITIONS && (k < 1 || wall_seconds() - began < 4 * set->seconds); k++) {
        seconds = run_seconds(target, kernel, chains, threads, steps);
        if (seconds < 0) return 0;
        double rate = (double)chains * steps / seconds;
        if (rate > best) best = rate;
    }
    return best;
}

/* Before anything is measured: whether there will be something to draw, and a way to write it. */
static int check_figure(const char *path, const bench_part *const *part, int parts) {
    ais_figure_format format;
    bool any = false;
    if (!bench_figure_format(path, &format))
        return complain(EXIT_USAGE, "--out %s: the name must end in .svg, .png or .pdf", path);
    for (int i = 0; i < parts; i++) any |= bench_drawing_of(part[i]->name) != NULL;
    if (!any)
        return complain(EXIT_USAGE,
                        "--out draws steps, proposal, chains, dimension and memory, and none of these was chosen");
    if (!ais_figures_available())
        return complain(EXIT_FAILED, "aisampler was built without cairo and cannot draw figures: install libcairo2-dev "
                                     "and build again");
    return 0;
}

/* Before anything is measured: what was named can be opened. */
static int check_named(const bench *set) {
    ais_context context = {0};
    ais_target *target;
    ais_kernel *kernel = NULL;
    if (!set->target && !set->kernel_file) return 0;
    if (ais_target_open(&context, set->target ? set->target : "mog6", &target) != AIS_OK) return failed(&context);
    bool good = !set->kernel_file || ais_kernel_load(&context, set->kernel_file, target, &kernel) == AIS_OK;
    ais_kernel_free(kernel);
    ais_target_close(target);
    return good ? 0 : failed(&context);
}

int run_bench(int argc, char **argv) {
    enum { MOST_PARTS = 12 };
    bench set = {.seconds = 0.2};
    bool json = false, help = false;
    const char *word[MOST_PARTS], *figure = NULL;
    const option options[] = {{"target", 0, OPTION_TEXT, &set.target, "TARGET",
                               "density for steps and chains (mog6) and for proposal (german)"},
                              {"kernel", 'k', OPTION_TEXT, &set.kernel_file, "FILE.ais",
                               "learned kernel for steps (an untrained henon kernel)"},
                              {"seconds", 0, OPTION_NUMBER, &set.seconds, NULL, "length of one measurement (0.2)"},
                              {"out", 'o', OPTION_TEXT, &figure, "FILE",
                               "draw steps, proposal, chains, dimension and memory into FILE.svg, .png or .pdf"},
                              {"json", 0, OPTION_FLAG, &json, NULL, "print JSON instead of tables"},
                              {"help", 'h', OPTION_FLAG, &help, NULL, "this text"},
                              {0}};
    int words = parse_options(argc, argv, options, word, MOST_PARTS);
    if (words < 0) return EXIT_USAGE;
    if (help) return usage(options);
    if (!(set.seconds > 0)) return complain(EXIT_USAGE, "--seconds must be above 0");
    const bench_part *part[MOST_PARTS];
    for (int i = 0; i < words; i++)
        if (!(part[i] = find(word[i]))) return EXIT_USAGE;
    if (words == 0)
        for (const bench_part *at = bench_parts; at->name; at++)
            if (!at->asked_for) part[words++] = at;
    int code = figure ? check_figure(figure, part, words) : 0;
    if (code == 0) code = check_named(&set);
    if (code != 0) return code;
    if (!ranks_open()) return EXIT_FAILED;
    set.quiet = json;
    json_t *all = json_object();
    for (int i = 0; i < words && code == 0; i++) {
        if (!json) printf("%s%s: %s\n", i ? "\n" : "", part[i]->name, part[i]->summary);
        json_t *found = part[i]->measure(&set);
        json_object_set_new(all, part[i]->name, found);
        if (!found) code = EXIT_FAILED;
        if (!json_is_whole(all)) code = complain(EXIT_FAILED, "out of memory for JSON");
    }
    if (code == 0 && figure) code = bench_draw(figure, all);
    if (code == 0 && json) code = print_json(all, JSON_INDENT(2) | JSON_REAL_PRECISION(6));
    json_decref(all);
    return code;
}
