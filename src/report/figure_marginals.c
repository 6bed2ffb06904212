/* Marginals: the histogram of all draws, those of the chains as thin lines over it, and the truth in 2D. */
#include <math.h>
#include <stdlib.h>

#include "base/arena.h"
#include "base/status.h"
#include "report/bins.h"
#include "report/figures.h"
#include "report/truth.h"

static void chains_over(const ais_scene *scene, int parameter, const ais_bins *fine, ais_panel *panel) {
    const ais_draws *draws = scene->data->draws;
    double edge[AIS_MOST_BINS + 1], height[AIS_MOST_BINS], centre[AIS_MOST_BINS];
    int shown = draws->chains < AIS_MOST_CHAINS ? draws->chains : AIS_MOST_CHAINS;
    ais_bins bins = *fine; /* a chain has fewer draws, and wants fewer bins */
    if (fine->count > 20) bins.count = 20 + (fine->count - 20) / 2;
    ais_bins_edges(&bins, edge);
    for (int i = 0; i < bins.count; i++) centre[i] = 0.5 * (edge[i] + edge[i + 1]);
    for (int k = 0; k < shown; k++) {
        int c = (int)((long)k * draws->chains / shown);
        ais_bins_density(&bins, ais_scene_chain(scene, parameter, c), (size_t)draws->draws, height);
        ais_panel_line(panel, centre, height, (size_t)bins.count,
                       &(ais_style){.label = k ? NULL : "each chain", .colour = 3, .width = 0.7, .opacity = 0.55});
    }
}

static void marginal(ais_scene *scene, int parameter, const ais_truth *truth, double *sorted) {
    const ais_draws *draws = scene->data->draws;
    size_t n = (size_t)draws->chains * (size_t)draws->draws;
    const double *x = ais_scene_chain(scene, parameter, 0);
    double edge[AIS_MOST_BINS + 1], height[AIS_MOST_BINS];
    ais_bins bins = ais_bins_choose(sorted, ais_sort_finite(x, n, sorted));
    const char *name = draws->name[parameter];
    ais_panel *panel = ais_figure_panel(
        scene->figure,
        &(ais_panel_options){.title = name, .x = {.label = name}, .y = {.label = "density"}, .height = 230});
    ais_bins_edges(&bins, edge);
    ais_bins_density(&bins, x, n, height);
    ais_panel_steps(panel, edge, height, bins.count, true, &(ais_style){.label = "all draws", .width = 1});
    if (draws->chains > 1) chains_over(scene, parameter, &bins, panel);
    if (truth->mass) {
        double place[AIS_TRUTH_CELLS], density[AIS_TRUTH_CELLS];
        ais_truth_marginal(truth, parameter, place, density);
        ais_panel_line(panel, place, density, AIS_TRUTH_CELLS,
                       &(ais_style){.label = "target", .colour = AIS_INK, .width = 1.3, .dashed = true});
    }
    if (bins.finite < n) ais_scene_say(scene, "Draws of %s that are not finite: %zu.", name, n - bins.finite);
    if (bins.outside) ais_scene_say(scene, "Draws of %s outside its panel: %zu.", name, bins.outside);
}

static ais_status draw_marginals(ais_scene *scene) {
    const ais_draws *draws = scene->data->draws;
    size_t n = (size_t)draws->chains * (size_t)draws->draws;
    double *sorted = ais_allocate((n + 1) * sizeof *sorted);
    if (!sorted) return ais_fail_memory(scene->context, "sorted draws", n * sizeof *sorted);
    ais_truth truth;
    ais_truth_find(scene->data, &truth);
    for (int k = 0; k < scene->parameters; k++) marginal(scene, scene->parameter[k], &truth, sorted);
    if (draws->chains > AIS_MOST_CHAINS)
        ais_scene_say(scene, "Lines for %d of %d chains.", AIS_MOST_CHAINS, draws->chains);
    ais_truth_free(&truth);
    free(sorted);
    return AIS_OK;
}

const ais_figure_kind ais_figure_marginals = {
    {"marginals", "Marginals", "histograms of all draws, with every chain's as a thin line: they should agree"},
    draw_marginals,
    NULL,
    4,
    AIS_MOST_SHOWN,
    0};
