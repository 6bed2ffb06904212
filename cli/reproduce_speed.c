/* Figures 5 and 6: time against chains, proposal against gradient. */
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
