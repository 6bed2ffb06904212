/* Figures 5, 6 and 7: time against chains, proposal against gradient, a training curve. */
#include <math.h>
#include <string.h>

#include "bench.h"
#include "reproduce.h"

enum { MOST_POINTS = 16 };

static double number(const json_t *row, const char *key) {
    const json_t *value = json_object_get(row, key);
    return json_is_number(value) ? json_number_value(value) : NAN;
}

typedef struct series {
    const char *key, *label;
} series;

/* A part of `aisampler bench` as a table and a panel of two lines. */
static int measured(reproduction *set, const char *part, const char *place, const char *across, const series line[2]) {
    const bench how = {.seconds = set->quick ? 0.05 : 0.3, .quiet = true};
    const bench_part *at = bench_parts;
    while (at->name && strcmp(at->name, part) != 0) at++;
    json_t *rows = at->name ? at->measure(&how) : NULL;
    if (!rows) return EXIT_FAILED;
    const char *headings[] = {across, line[0].label, line[1].label, NULL};
    double x[MOST_POINTS], y[2][MOST_POINTS];
    int count = 0;
    table numbers;
    table_begin(&numbers, place, headings);
    for (; count < MOST_POINTS && count < (int)json_array_size(rows); count++) {
        const json_t *row = json_array_get(rows, (size_t)count);
        char name[TABLE_CELL];
        x[count] = number(row, across);
        snprintf(name, sizeof name, "%.0f", x[count]);
        char(*cell)[TABLE_CELL] = table_row(&numbers, name);
        for (int k = 0; k < 2; k++) {
            y[k][count] = number(row, line[k].key);
            cell_number(cell[k + 1], y[k][count], 3);
        }
    }
    json_decref(rows);
    snprintf(numbers.note, sizeof numbers.note, "aisampler bench %.20s, on german: %.100s. Seconds.", part,
             at->summary);
    show_table(set, part, &numbers);
    ais_context context = {0};
    ais_figure *figure;
    if (ais_figure_new(&context, NULL, 1, &figure) != AIS_OK) return failed(&context);
    ais_panel *panel = ais_figure_panel(
        figure, &(ais_panel_options){.x = {.label = across, .log = true}, .y = {.label = "seconds", .log = true}});
    for (int k = 0; k < 2; k++)
        ais_panel_line(panel, x, y[k], (size_t)count, &(ais_style){.label = line[k].label, .colour = k});
    return show_figure(set, NULL, figure);
}

int reproduce_speed(reproduction *set) {
    static const series chains[] = {{"henon_seconds", "henon, 5 layers"}, {"hmc_seconds", "hmc, 40 leapfrogs"}};
    static const series calls[] = {{"proposal_seconds", "proposals"}, {"gradient_seconds", "gradients"}};
    int code = measured(set, "chains", "Time of 100 steps against parallel chains (figure 5)", "chains", chains);
    if (code == 0)
        code =
            measured(set, "proposal", "One proposal against one gradient, by batch size (figure 6)", "points", calls);
    return code;
}

int reproduce_training(reproduction *set) {
    ais_context context = {0};
    ais_target *target = NULL;
    ais_figure *figure = NULL;
    entry made = {0};
    if (ais_target_open(&context, "mog6", &target) != AIS_OK) return failed(&context);
    const contest how = {
        .target = target, .seed = set->seed, .threads = set->threads, .steps = set->paper_steps, .quiet = true};
    if (!set->quiet) fprintf(stderr, "  mog6: training by the paper's setting\n");
    int code = entry_make(&how, find_contestant("paper"), &made);
    if (code == 0) {
        static const char *const names[] = {"x.1", "x.2"};
        char *copied[] = {(char *)names[0], (char *)names[1]};
        double value[2] = {0};
        const ais_draws none = {.dim = 2, .chains = 1, .draws = 1, .name = copied, .value = value};
        const ais_figure_data data = {
            .draws = &none, .target = target, .curve = made.training->point, .points = made.training->points};
        if (!ais_figure_applies("training", &data))
            complain(0, "this training left no curve");
        else if (ais_figure_of_draws(&context, "training", &data, &figure) != AIS_OK)
            code = failed(&context);
        else
            code = show_figure(set, "Training on mog6 by --preset paper (figure 7)", figure);
    }
    entry_free(&made);
    ais_target_close(target);
    return code;
}
