/* Rank plots: when chains agree, each has equally many draws of every rank. A few chains are lines, many are the rows
 * of a heat map. */
#include <math.h>
#include <stdlib.h>

#include "base/arena.h"
#include "base/status.h"
#include "report/bins.h"
#include "report/figures.h"

enum { BINS = 20, MOST_LINES = 4, MOST_ROWS = 64 };

/* Share of chain's draws in each bin of rank, over what it should be. */
static void relative(const double *rank, size_t n, double height[BINS]) {
    size_t finite = 0;
    for (int i = 0; i < BINS; i++) height[i] = 0;
    for (size_t t = 0; t < n; t++) {
        if (isnan(rank[t])) continue;
        finite++;
        height[(int)(rank[t] * BINS)] += 1;
    }
    for (int i = 0; i < BINS; i++) height[i] = finite ? height[i] * BINS / (double)finite : NAN;
}

static void lines(const ais_draws *draws, const double *rank, ais_panel *panel) {
    double edge[BINS + 1], height[BINS], low[2], high[2];
    const double ends[2] = {0, 1};
    double sd = sqrt((BINS - 1) / (double)draws->draws); /* of a bin's relative height, independent draws */
    for (int i = 0; i <= BINS; i++) edge[i] = (double)i / BINS;
    for (int i = 0; i < 2; i++) {
        low[i] = fmax(1 - 2.58 * sd, 0);
        high[i] = 1 + 2.58 * sd;
    }
    ais_panel_band(panel, ends, low, high, 2,
                   &(ais_style){.label = "99% if independent", .colour = AIS_INK, .opacity = 0.15});
    for (int c = 0; c < draws->chains; c++) {
        char label[32];
        snprintf(label, sizeof label, "chain %d", c + 1);
        relative(rank + (size_t)c * (size_t)draws->draws, (size_t)draws->draws, height);
        ais_panel_steps(panel, edge, height, BINS, false,
                        &(ais_style){.label = label, .colour = ais_series_colour(c, draws->chains), .width = 1.2});
    }
}

static void rows(const ais_draws *draws, const double *rank, ais_panel *panel) {
    double value[MOST_ROWS * BINS];
    int shown = draws->chains < MOST_ROWS ? draws->chains : MOST_ROWS;
    for (int k = 0; k < shown; k++) {
        size_t c = (size_t)((long)k * draws->chains / shown);
        relative(rank + c * (size_t)draws->draws, (size_t)draws->draws, value + (size_t)k * BINS);
    }
    const ais_grid grid = {0, 1, 0.5, shown + 0.5, BINS, shown};
    ais_panel_heat(panel, &grid, value, &(ais_heat){.label = "draws / expected", .low = 0, .high = 2});
}

static ais_status draw_ranks(ais_scene *scene) {
    const ais_draws *draws = scene->data->draws;
    size_t n = (size_t)draws->chains * (size_t)draws->draws;
    bool few = draws->chains <= MOST_LINES;
    double *rank = ais_allocate((n + 1) * sizeof *rank);
    if (!rank) return ais_fail_memory(scene->context, "ranks", n * sizeof *rank);
    ais_status status = AIS_OK;
    for (int k = 0; k < scene->parameters && status == AIS_OK; k++) {
        int parameter = scene->parameter[k];
        ais_panel *panel = ais_figure_panel(
            scene->figure, &(ais_panel_options){.title = draws->name[parameter],
                                                .x = {.label = "rank among all draws (share)", .low = 0, .high = 1},
                                                .y = {.label = few ? "draws / expected" : "chain", .whole = !few},
                                                .height = 230});
        if (!ais_rank_all(ais_scene_chain(scene, parameter, 0), n, rank))
            status = ais_fail_memory(scene->context, "ranks", n * sizeof *rank);
        else if (few)
            lines(draws, rank, panel);
        else
            rows(draws, rank, panel);
    }
    if (draws->chains > MOST_ROWS) ais_scene_say(scene, "Rows: %d of %d chains.", MOST_ROWS, draws->chains);
    free(rank);
    return status;
}

const ais_figure_kind ais_figure_rank = {
    {"rank", "Rank plots", "ranks of each chain's draws among all draws: flat if the chains agree"},
    draw_ranks,
    NULL,
    4,
    AIS_MOST_SHOWN,
    0};
