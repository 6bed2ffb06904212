/* The ladder: where its rungs lie, which swaps are the bottleneck, and how often replicas get through. */
#include <math.h>

#include "diagnostics/judge.h"
#include "report/figures.h"

enum { POINTS = 200 };

static void rung_panels(ais_scene *scene, const ais_rungs *rungs) {
    double reached[AIS_MOST_RUNGS] = {0}, edge[AIS_MOST_RUNGS], mean = 0;
    int pairs = rungs->count - 1;
    for (int k = 0; k < pairs; k++) {
        reached[k + 1] = reached[k] + rungs->rejection[k];
        mean += rungs->rejection[k] / pairs;
    }
    for (int k = 0; k <= pairs; k++) edge[k] = k + 0.5;
    ais_panel *panel = ais_figure_panel(scene->figure, &(ais_panel_options){.title = "rungs",
                                                                            .x = {.label = "barrier from the base on"},
                                                                            .y = {.label = "inverse temperature"}});
    ais_panel_line(panel, reached, rungs->beta, (size_t)rungs->count, &(ais_style){.width = 1});
    ais_panel_points(panel, reached, rungs->beta, (size_t)rungs->count, &(ais_style){.width = 5});
    panel = ais_figure_panel(scene->figure,
                             &(ais_panel_options){.title = "swaps of neighbours",
                                                  .x = {.label = "pair, counted from the base", .whole = true},
                                                  .y = {.label = "share rejected", .low = 0, .high = 1}});
    ais_panel_steps(panel, edge, rungs->rejection, pairs, true, &(ais_style){0});
    ais_panel_rule(panel, false, mean, &(ais_style){.label = "mean", .colour = AIS_INK, .dashed = true});
    ais_scene_say(scene, "%d rungs, barrier %.2f, as the last round of learning found them.", rungs->count,
                  reached[pairs]);
}

/* Trips so far at up to POINTS draws of a chain; how many. */
static size_t add_up(const double *trip, size_t draws, double *place, double *sum) {
    size_t points = draws < POINTS ? draws : POINTS, next = 0;
    double so_far = 0;
    for (size_t t = 0; t < draws; t++) {
        so_far += isfinite(trip[t]) ? trip[t] : 0;
        if (t + 1 < (next + 1) * draws / points) continue;
        place[next] = (double)t + 1;
        sum[next++] = so_far;
    }
    return next;
}

static ais_status draw_ladder(ais_scene *scene) {
    const ais_draws *draws = scene->data->draws;
    const double *trip = ais_judge_stat(draws, "ladder_trip__", "ladder_trip");
    int shown = draws->chains < AIS_MOST_CHAINS ? draws->chains : AIS_MOST_CHAINS;
    double place[POINTS] = {0}, sum[POINTS] = {0}, all = 0;
    if (scene->data->rungs && scene->data->rungs->count > 1) rung_panels(scene, scene->data->rungs);
    ais_panel *panel = ais_figure_panel(
        scene->figure, &(ais_panel_options){.title = "round trips",
                                            .x = {.label = "draw", .low = 0, .high = fmax(draws->draws, 2)},
                                            .y = {.label = "round trips so far, by chain"}});
    for (int c = 0; c < draws->chains; c++) {
        size_t points = add_up(trip + (size_t)c * (size_t)draws->draws, (size_t)draws->draws, place, sum);
        all += points ? sum[points - 1] : 0;
        if (c >= shown) continue;
        ais_panel_line(panel, place, sum, points,
                       &(ais_style){.colour = ais_series_colour(c, shown), .width = 1, .opacity = 0.8});
    }
    ais_scene_say(scene, "%.0f round trips in %d chains of %d draws.", all, draws->chains, draws->draws);
    if (shown < draws->chains) ais_scene_say(scene, "The first %d chains are shown.", shown);
    return AIS_OK;
}

static const char *objection(const ais_figure_data *data) {
    if (ais_judge_stat(data->draws, "ladder_trip__", "ladder_trip")) return NULL;
    return "the draws do not come from a ladder: they have no column ladder_trip__";
}

const ais_figure_kind ais_figure_ladder = {
    {"ladder", "Ladder",
     "inverse temperatures of the rungs, rejected swaps of neighbours (best if equal for all), and round trips of "
     "replicas (best if steady and alike in all chains)"},
    draw_ladder,
    objection,
    0,
    0,
    3};
