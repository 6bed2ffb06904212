/* Energies of the draws, and how much one step changes them. A step draws its momentum afresh and can change the
 * energy only as far as momenta vary; where that is much narrower than the energies themselves, chains wander through
 * them (Betancourt 2016; the number is E-BFMI). */
#include <stdlib.h>

#include "base/arena.h"
#include "base/status.h"
#include "diagnostics/judge.h"
#include "report/bins.h"
#include "report/figures.h"

static const double *energies(const ais_figure_data *data) { return ais_judge_stat(data->draws, "energy__", "energy"); }

static const char *objection(const ais_figure_data *data) {
    if (energies(data) && data->draws->draws > 1) return NULL;
    return "the draws have no energies: they come from hmc and nuts (a column energy__)";
}

/* Both about their means, over the same bins. */
static ais_status draw_energy(ais_scene *scene) {
    const ais_draws *draws = scene->data->draws;
    const double *energy = energies(scene->data);
    size_t chains = (size_t)draws->chains, length = (size_t)draws->draws, n = chains * length, changes = n - chains;
    double *level = ais_allocate(3 * n * sizeof *level);
    if (!level) return ais_fail_memory(scene->context, "energies", 3 * n * sizeof *level);
    double *change = level + n, *sorted = change + n;
    double mean = ais_mean(energy, n), edge[AIS_MOST_BINS + 1], height[AIS_MOST_BINS];
    for (size_t k = 0; k < n; k++) level[k] = energy[k] - mean;
    for (size_t c = 0, k = 0; c < chains; c++)
        for (size_t t = 1; t < length; t++) change[k++] = energy[c * length + t] - energy[c * length + t - 1];
    ais_bins bins = ais_bins_choose(sorted, ais_sort_finite(level, n, sorted));
    ais_bins_edges(&bins, edge);
    ais_panel *panel = ais_figure_panel(
        scene->figure, &(ais_panel_options){.x = {.label = "energy minus its mean"}, .y = {.label = "density"}});
    ais_bins_density(&bins, level, n, height);
    ais_panel_steps(panel, edge, height, bins.count, true, &(ais_style){.label = "energies", .width = 1});
    ais_bins_density(&bins, change, changes, height);
    ais_panel_steps(panel, edge, height, bins.count, false,
                    &(ais_style){.label = "changes from draw to draw", .colour = 1});
    if (scene->data->diagnosis)
        ais_scene_say(scene, "Lowest E-BFMI of a chain: %.2f; below %g the changes are too narrow.",
                      scene->data->diagnosis->lowest_ebfmi, AIS_LEAST_EBFMI);
    free(level);
    return AIS_OK;
}

const ais_figure_kind ais_figure_energy = {
    {"energy", "Energy", "energies of hmc and nuts, and their changes in a step: the two should be equally wide"},
    draw_energy,
    objection,
    0,
    0,
    0};
