/* Figures 5 and 6: time against chains, proposal against gradient. */
#include <string.h>

#include "bench/bench.h"
#include "reproduce/reproduce.h"

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
    table numbers;
    table_begin(&numbers, place, headings);
    for (size_t i = 0; i < json_array_size(rows); i++) {
        const json_t *row = json_array_get(rows, i);
        char name[TABLE_CELL];
        snprintf(name, sizeof name, "%.0f", bench_number(row, across));
        char(*cell)[TABLE_CELL] = table_row(&numbers, name);
        for (int k = 0; k < 2; k++) cell_number(cell[k + 1], bench_number(row, line[k].key), 3);
    }
    snprintf(numbers.note, sizeof numbers.note, "aisampler bench %.20s, on german: %.100s. Seconds.", part,
             at->summary);
    show_table(set, part, &numbers);
    ais_context context = {0};
    ais_figure *figure;
    bool whole = ais_figure_new(&context, NULL, 1, &figure) == AIS_OK;
    if (whole) bench_panel(figure, bench_drawing_of(part), false, rows);
    json_decref(rows);
    return whole ? show_figure(set, NULL, figure) : failed(&context);
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
