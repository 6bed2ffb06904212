/* aisampler compare: several samplers on one target, in one table. */
#include <math.h>
#include <string.h>

#include "compare_picture.h"
#include "draw.h"
#include "guard.h"
#include "page.h"
#include "table.h"

static const double most_rhat = 1.05;
enum { MOST = 8, population_warmup = 100 }; /* chains that start at the population need few steps, as in run */

typedef struct comparison {
    const char *target_name, *samplers, *out;
    uint64_t seed;
    int chains, draws, warmup, threads, iterations;
    bool json, quiet, help;
    isolation isolation;
    int count;
    const contestant *who[MOST];
    entry entry[MOST];
    outcome outcome[MOST];
    bool done[MOST];
    char left_out[512];
} comparison;

/* ---- numbers ---------------------------------------------------------------------------------------- */

static double rate(const comparison *all, int i) {
    return outcome_ess(&all->outcome[i]) / all->outcome[i].result.sample_seconds;
}

/* Seconds before the first draw that is kept. */
static double setup(const comparison *all, int i) {
    return all->entry[i].seconds + all->outcome[i].result.warmup_seconds;
}

static double rate_with_setup(const comparison *all, int i) {
    return outcome_ess(&all->outcome[i]) / (setup(all, i) + all->outcome[i].result.sample_seconds);
}

/* An ESS means nothing for chains that never met: those do not count as fast. */
static bool mixed(const comparison *all, int i) {
    const ais_diagnosis *judged = all->outcome[i].diagnosis;
    return all->done[i] && judged->worst_rhat <= most_rhat && !isinf(judged->mode_kl) && rate(all, i) > 0;
}

/* The fastest one that mixed, among those without training when `classical`; -1 if there is none. */
static int fastest(const comparison *all, bool classical) {
    int best = -1;
    for (int i = 0; i < all->count; i++)
        if (mixed(all, i) && !(classical && all->who[i]->learned) && (best < 0 || rate(all, i) > rate(all, best)))
            best = i;
    return best;
}

/* Effective draws from which on learning was worth it: setup_a + n / rate_a = setup_b + n / rate_b. 0 also when nothing
 * without training mixed; INFINITY: never; NAN: does not apply. */
static double break_even(const comparison *all, int i) {
    int other = fastest(all, true);
    if (!all->who[i]->learned || !mixed(all, i)) return NAN;
    if (other < 0) return 0;
    double gain = 1 / rate(all, other) - 1 / rate(all, i);
    double cost = setup(all, i) - setup(all, other);
    if (cost <= 0 && gain >= 0) return 0;
    return gain > 0 ? cost / gain : INFINITY;
}

/* Those of training were counted from outside; training reports how many of them the start took. */
static ais_evaluations evaluations_of(const comparison *all, int i) {
    const entry *made = &all->entry[i];
    ais_evaluations count = ais_evaluations_of(NULL, NULL, &all->outcome[i].result, 0);
    long start = made->training ? made->training->start_evaluations : 0;
    count.densities += (long)made->densities;
    count.gradients += (long)made->gradients;
    count.start += start;
    count.learning = (long)(made->densities + made->gradients) - start;
    return count;
}

/* ---- forms ------------------------------------------------------------------------------------------ */

static const char *const quantities[] = {"training, s",           "warm-up, s",
                                         "sampling, s",           "chains x draws",
                                         "density evaluations",   "gradient evaluations",
                                         "to start, learn, draw", "acceptance",
                                         "mean-ESS (Song)",       "worst ESS",
                                         "worst ESS is of",       "ESS/s",
                                         "ESS/s with training",   "R-hat",
                                         "KL of mode weights",    "total variation",
                                         "break-even, draws"};
enum { QUANTITIES = sizeof quantities / sizeof *quantities };

static void fill_column(const comparison *all, int i, char (*cell)[TABLE_CELL]) {
    const outcome *out = &all->outcome[i];
    const ais_diagnosis *judged = out->diagnosis;
    double even = break_even(all, i);
    const ais_evaluations count = evaluations_of(all, i);
    cell_number(*cell++, all->who[i]->learned ? all->entry[i].seconds : NAN, 3);
    cell_number(*cell++, out->result.warmup_seconds, 3);
    cell_number(*cell++, out->result.sample_seconds, 3);
    snprintf(*cell++, TABLE_CELL, "%d x %d", judged->chains, judged->draws);
    cell_number(*cell++, (double)count.densities, 4);
    cell_number(*cell++, (double)count.gradients, 4);
    snprintf(*cell++, TABLE_CELL, "%ld, %ld, %ld", count.start, count.learning, count.drawing);
    cell_fixed(*cell++, out->result.acceptance, 3);
    cell_number(*cell++, judged->mean_ess_song, 3);
    cell_number(*cell++, judged->worst_ess, 3);
    snprintf(*cell++, TABLE_CELL, "%.31s", judged->worst_ess_function);
    cell_number(*cell++, rate(all, i), 3);
    cell_number(*cell++, rate_with_setup(all, i), 3);
    cell_fixed(*cell++, judged->worst_rhat, 3);
    cell_number(*cell++, judged->mode_kl, 2);
    cell_fixed(*cell++, judged->total_variation, 3);
    if (isinf(even) || even == 0)
        snprintf(*cell, TABLE_CELL, even == 0 ? "at once" : "never");
    else
        cell_number(*cell, even, 3);
}

static void fill_table(const comparison *all, table *to) {
    const char *heading[MOST + 2] = {""};
    char cell[MOST + 1][QUANTITIES][TABLE_CELL];
    int columns = 1;
    for (int i = 0; i < all->count; i++)
        if (all->done[i]) {
            fill_column(all, i, cell[columns]);
            heading[columns++] = all->who[i]->name;
        }
    table_begin(to, "Samplers", heading);
    for (int q = 0; q < QUANTITIES; q++) {
        char(*row)[TABLE_CELL] = table_row(to, quantities[q]);
        for (int k = 1; k < columns; k++) memcpy(row[k], cell[k][q], TABLE_CELL);
    }
    snprintf(to->note, sizeof to->note,
             "Evaluations count training, warm-up and draws. mean-ESS is Song's, smallest over the coordinates; worst "
             "ESS the smallest bulk ESS over x, x^2 and mode indicators; both per chain of %d draws. ESS/s is worst "
             "ESS of all chains per second of sampling; with training: warm-up is counted too. KL of mode weights is "
             "infinite when a mode was never visited. Total variation of %d independent draws would not be 0 either. "
             "Break-even: the number of effective draws from which training was worth it, against the fastest sampler "
             "without "
             "training. A sampler with R-hat above %.2f, or with a mode that no chain visited, does not count as fast, "
             "and its ESS cannot be trusted.",
             all->draws, all->chains * all->draws, most_rhat);
}

static void verdict(const comparison *all, char *text, size_t size) {
    int best = fastest(all, false), other = fastest(all, true);
    if (best < 0) {
        snprintf(text, size, "No sampler mixed: draw more, and trust none of these.");
        return;
    }
    char number[TABLE_CELL];
    cell_number(number, rate(all, best), 3);
    int used =
        snprintf(text, size, "Fastest by worst ESS per second of sampling: %s, %s.", all->who[best]->name, number);
    if (!all->who[best]->learned || used < 0 || (size_t)used >= size) return;
    if (other < 0)
        snprintf(text + used, size - (size_t)used, " No sampler without training mixed.");
    else
        snprintf(text + used, size - (size_t)used, " Its training pays from %.3g effective draws on, against %s.",
                 break_even(all, best), all->who[other]->name);
}

static json_t *sampler_json(const comparison *all, int i) {
    const outcome *out = &all->outcome[i];
    const ais_diagnosis *judged = out->diagnosis;
    double even = break_even(all, i);
    const ais_evaluations count = evaluations_of(all, i);
    const struct {
        const char *key;
        double value;
    } number[] = {{"train_seconds", all->entry[i].seconds},
                  {"warmup_seconds", out->result.warmup_seconds},
                  {"sample_seconds", out->result.sample_seconds},
                  {"density_evaluations", (double)count.densities},
                  {"gradient_evaluations", (double)count.gradients},
                  {"start_evaluations", (double)count.start},
                  {"learning_evaluations", (double)count.learning},
                  {"drawing_evaluations", (double)count.drawing},
                  {"acceptance", out->result.acceptance},
                  {"mean_ess_song", judged->mean_ess_song},
                  {"worst_ess", judged->worst_ess},
                  {"ess_per_second", rate(all, i)},
                  {"ess_per_second_all_in", rate_with_setup(all, i)},
                  {"rhat", judged->worst_rhat},
                  {"mode_kl", judged->mode_kl},
                  {"total_variation", judged->total_variation},
                  {"break_even", even}};
    json_t *object = json_pack("{ss ss si si ss sb}", "sampler", all->who[i]->name, "kernel",
                               ais_kernel_name(all->entry[i].kernel), "chains", judged->chains, "draws", judged->draws,
                               "worst_ess_function", judged->worst_ess_function, "never_pays", (int)isinf(even));
    for (size_t k = 0; k < sizeof number / sizeof *number; k++)
        json_object_set_new(object, number[k].key, json_number_or_null(number[k].value));
    return object;
}

static json_t *as_json(const comparison *all) {
    json_t *samplers = json_array();
    for (int i = 0; i < all->count; i++)
        if (all->done[i]) json_array_append_new(samplers, sampler_json(all, i));
    return json_pack("{ss so sI so so}", "aisampler_version", ais_version(), "target", json_text(all->target_name),
                     "seed", (json_int_t)all->seed, "left_out",
                     all->left_out[0] ? json_text(all->left_out) : json_null(), "samplers", samplers);
}

static bool write_html(const comparison *all, const table *from, const ais_figure *picture) {
    output_file output;
    ais_context context = {0};
    char text[512];
    if (!output_open(&output, all->out, "compare.html")) return false;
    snprintf(text, sizeof text, "Samplers on %.300s", all->target_name);
    ais_document_begin(output.file, text);
    verdict(all, text, sizeof text);
    ais_document_paragraph(output.file, text);
    if (all->left_out[0]) ais_document_paragraph(output.file, all->left_out);
    table_html(from, output.file);
    snprintf(text, sizeof text, "Seed %llu; threads: %d (0: one per core).", (unsigned long long)all->seed,
             all->threads);
    ais_document_note(output.file, text);
    ais_status status = AIS_OK;
    if (picture) {
        ais_document_heading(output.file, "Draws");
        status = ais_document_figure(&context, output.file, picture, "draws");
    }
    if (status == AIS_OK && ais_document_end(&context, output.file) == AIS_OK) return output_commit(&output);
    output_abandon(&output);
    failed(&context);
    return false;
}

static bool write_png(const comparison *all, const ais_figure *picture) {
    return !picture || !ais_figures_available() || write_figure(all->out, "compare.png", picture, AIS_PNG) == 0;
}

static int show(const comparison *all, const ais_target *target) {
    table numbers;
    ais_figure *picture = NULL;
    fill_table(all, &numbers);
    json_t *json = as_json(all);
    int code = compare_picture(target, all->count, all->who, all->outcome, &picture);
    if (code == 0)
        code = write_json(all->out, "compare.json", json, JSON_INDENT(2) | JSON_REAL_PRECISION(8)) &&
                       write_html(all, &numbers, picture) && write_png(all, picture)
                   ? 0
                   : EXIT_FAILED;
    ais_figure_free(picture);
    if (code == 0 && all->json) {
        code = print_json(json, JSON_INDENT(2) | JSON_REAL_PRECISION(8));
    } else if (code == 0) {
        char text[512];
        table_text(&numbers, stdout);
        verdict(all, text, sizeof text);
        putchar('\n');
        print_wrapped(stdout, 0, 0, text);
        if (all->left_out[0]) print_wrapped(stdout, 0, 0, all->left_out);
    }
    json_decref(json);
    if (code == 0 && !all->quiet) fprintf(stderr, "compare.html and compare.json are in %s\n", all->out);
    return code;
}

/* ---- the job ---------------------------------------------------------------------------------------- */

static bool choose(comparison *all, const char *list) {
    char names[256], *rest = names;
    if (snprintf(names, sizeof names, "%s", list) >= (int)sizeof names) {
        complain(EXIT_USAGE, "--samplers is too long");
        return false;
    }
    for (char *name; (name = strsep(&rest, ","));) {
        const contestant *who = find_contestant(name);
        if (!who) return false;
        for (int i = 0; i < all->count; i++)
            if (all->who[i] == who) {
                complain(EXIT_USAGE, "--samplers names %s twice", name);
                return false;
            }
        all->who[all->count++] = who;
    }
    return true;
}

static void leave_out(comparison *all, const contestant *who) {
    size_t used = strlen(all->left_out);
    snprintf(all->left_out + used, sizeof all->left_out - used,
             "%s%s is left out: it needs a gradient, and %.80s has "
             "none.",
             used ? " " : "", who->name, all->target_name);
}

static int measure(comparison *all, const ais_target *target, int i) {
    const contestant *who = all->who[i];
    if (who->gradient && !target->grad) {
        leave_out(all, who);
        return 0;
    }
    contest set = {.target = target,
                   .seed = all->seed,
                   .chains = all->chains,
                   .draws = all->draws,
                   .warmup = all->warmup,
                   .threads = all->threads,
                   .iterations = all->iterations,
                   .quiet = all->quiet};
    if (who->at_start && set.warmup > population_warmup) set.warmup = population_warmup;
    if (!all->quiet) fprintf(stderr, "%s\n", who->title);
    int code = entry_make(&set, who, &all->entry[i]);
    if (code == 0) code = outcome_make(&set, &all->entry[i], &all->outcome[i]);
    all->done[i] = code == 0;
    return code;
}

static int compare(comparison *all) {
    ais_context context = {0};
    ais_target *target = NULL;
    ais_check check = {.threads = isolation_threads(&all->isolation, all->threads)};
    char directory[4096];
    int code = 0;
    if (guard_open(&context, all->target_name, &all->isolation, all->threads, &target) != AIS_OK)
        return failed(&context);
    default_directory(all->target_name, directory, sizeof directory);
    if (!all->out) all->out = directory;
    if (target->draws)
        code = complain(EXIT_USAGE, "%s is a set of draws and has no density for samplers to be compared on",
                        all->target_name);
    else if (ais_target_check(&context, target, all->seed, &check) != AIS_OK ||
             ais_directory_make(&context, all->out) != AIS_OK)
        code = failed(&context);
    if (code == 0 && check.note[0]) complain(0, "%s", check.note);
    for (int i = 0; i < all->count && code == 0; i++) code = measure(all, target, i);
    tell_of_errors(target);
    if (code == 0) code = show(all, target);
    for (int i = 0; i < all->count; i++) {
        entry_free(&all->entry[i]);
        outcome_free(&all->outcome[i]);
    }
    ais_target_close(target);
    return code;
}

int run_compare(int argc, char **argv) {
    char list[256], samplers[400];
    contestant_list(list, sizeof list);
    snprintf(samplers, sizeof samplers,
             "of %s (paper: the paper's own setting), joined by commas (ai,hmc,nuts,rwm,anice)", list);
    comparison all = {
        .samplers = "ai,hmc,nuts,rwm,anice", .seed = 1, .chains = 4, .draws = 1000, .warmup = 1000, .iterations = 500};
    const option options[] = {{"samplers", 's', OPTION_TEXT, &all.samplers, "LIST", samplers},
                              {"chains", 'c', OPTION_COUNT, &all.chains, NULL, "independent chains (4)"},
                              {"draws", 'n', OPTION_COUNT, &all.draws, NULL, "draws per chain (1000)"},
                              {"warmup", 'w', OPTION_COUNT, &all.warmup, NULL,
                               "steps per chain that are left out; at most 100 for ai, ladder and paper (1000)"},
                              {"iterations", 0, OPTION_COUNT, &all.iterations, NULL,
                               "anice: iterations of its training; the 5000 of train take minutes (500)"},
                              {"seed", 0, OPTION_SEED, &all.seed, NULL, "(1)"},
                              {"threads", 'j', OPTION_COUNT, &all.threads, NULL, "0: one per core (0)"},
                              {"out", 'o', OPTION_TEXT, &all.out, "DIR", "where the files go (out/TARGET)"},
                              ISOLATE_OPTIONS(all.isolation),
                              {"json", 0, OPTION_FLAG, &all.json, NULL, "print compare.json instead of a table"},
                              {"quiet", 'q', OPTION_FLAG, &all.quiet, NULL, "no progress"},
                              {"help", 'h', OPTION_FLAG, &all.help, NULL, "this text"},
                              {0}};
    int words = parse_options(argc, argv, options, &all.target_name, 1);
    if (words < 0) return EXIT_USAGE;
    if (all.help) {
        print_help(
            "compare TARGET [options]",
            "Draws from TARGET with several samplers and compares their cost and their draws in one table: seconds, "
            "evaluations, effective draws per second without and with training, and from how many effective "
            "draws on training pays. Writes compare.html and compare.json into a folder, and for targets in the "
            "plane compare.png. ai is the kernel that run learns, without the classical kernel that run adds where "
            "that is faster.",
            options);
        return 0;
    }
    if (words == 0) return complain(EXIT_USAGE, "compare needs a target; see aisampler compare --help");
    if (all.chains == 0 || all.draws == 0) return complain(EXIT_USAGE, "--chains and --draws must be 1 or more");
    if (all.out && !*all.out) return complain(EXIT_USAGE, "--out is empty: name a folder");
    if (!isolation_makes_sense(&all.isolation)) return EXIT_USAGE;
    return choose(&all, all.samplers) ? compare(&all) : EXIT_USAGE;
}
