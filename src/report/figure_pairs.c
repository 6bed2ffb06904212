/* Pairs of parameters: the density of all draws as a heat map with some of the draws on it, and for targets in two
 * dimensions the true density beside it. */
#include <math.h>
#include <stdlib.h>

#include "base/arena.h"
#include "base/status.h"
#include "report/bins.h"
#include "report/figures.h"
#include "report/truth.h"

enum { CELLS = 90, DOTS = 300, MOST_PARAMETERS = 6, HEIGHT = 320, KDE_DRAWS = 20000 };

typedef struct cloud {
    double *x, *y; /* the finite pairs, n of them */
    size_t n;
} cloud;

/* Of very many draws every k-th. */
static void gather(const ais_scene *scene, int first, int second, cloud *c) {
    const ais_draws *draws = scene->data->draws;
    size_t n = (size_t)draws->chains * (size_t)draws->draws, every = (n + KDE_DRAWS - 1) / KDE_DRAWS;
    const double *x = ais_scene_chain(scene, first, 0), *y = ais_scene_chain(scene, second, 0);
    c->n = 0;
    for (size_t i = 0; i < n; i += every) {
        if (!isfinite(x[i]) || !isfinite(y[i])) continue;
        c->x[c->n] = x[i];
        c->y[c->n++] = y[i];
    }
}

/* Less than Scott's rule, for the densest part: modes far apart must not be smeared. */
static double bandwidth(const double *sorted, size_t n) {
    double least = (sorted[n - 1] - sorted[0]) / 300;
    return fmax(0.65 * ais_narrow_spread(sorted, n) * pow((double)n, -1.0 / 6), least);
}

static double cell_area(const ais_grid *grid) {
    return (grid->x_high - grid->x_low) / grid->nx * ((grid->y_high - grid->y_low) / grid->ny);
}

/* The end of the colour scale of both panels, so that they can be compared; 0 without a truth. */
static double highest(const ais_truth *truth) {
    double most = 0;
    for (int k = 0; truth->mass && k < truth->grid.nx * truth->grid.ny; k++) most = fmax(most, truth->mass[k]);
    return truth->mass ? most / cell_area(&truth->grid) : 0;
}

static void density_panel(ais_scene *scene, int first, int second, const ais_truth *truth, cloud *c, double *work) {
    const ais_draws *draws = scene->data->draws;
    char title[160];
    snprintf(title, sizeof title, "draws: %.60s and %.60s", draws->name[first], draws->name[second]);
    ais_bins across = ais_bins_choose(work, ais_sort_finite(c->x, c->n, work));
    double wide = c->n ? bandwidth(work, c->n) : 0;
    ais_bins up = ais_bins_choose(work, ais_sort_finite(c->y, c->n, work));
    double tall = c->n ? bandwidth(work, c->n) : 0;
    ais_grid grid = {across.low, across.high, up.low, up.high, CELLS, CELLS};
    if (truth->mass) {
        grid = truth->grid;
        grid.nx = grid.ny = CELLS;
    }
    ais_panel *panel = ais_figure_panel(scene->figure, &(ais_panel_options){.title = title,
                                                                            .x = {.label = draws->name[first]},
                                                                            .y = {.label = draws->name[second]},
                                                                            .height = HEIGHT});
    double value[CELLS * CELLS];
    ais_context context = {0};
    if (wide > 0 && tall > 0 && ais_kde(&context, c->x, c->y, c->n, &grid, wide, tall, value) == AIS_OK)
        ais_panel_heat(panel, &grid, value, &(ais_heat){.label = "density", .high = highest(truth)});
    size_t every = c->n > DOTS ? c->n / DOTS : 1, dots = 0;
    double *x = work, *y = work + DOTS + 1;
    for (size_t i = 0; i < c->n && dots < DOTS; i += every, dots++) {
        x[dots] = c->x[i];
        y[dots] = c->y[i];
    }
    char label[48];
    snprintf(label, sizeof label, "%zu of the draws", dots);
    ais_panel_points(panel, x, y, dots, &(ais_style){.label = label, .colour = 3, .width = 1.3, .opacity = 0.7});
}

static void truth_panel(ais_scene *scene, const ais_truth *truth) {
    const ais_draws *draws = scene->data->draws;
    ais_panel *panel = ais_figure_panel(scene->figure, &(ais_panel_options){.title = "target: true density",
                                                                            .x = {.label = draws->name[0]},
                                                                            .y = {.label = draws->name[1]},
                                                                            .height = HEIGHT});
    size_t cells = (size_t)truth->grid.nx * (size_t)truth->grid.ny;
    double area = cell_area(&truth->grid);
    double *density = ais_allocate(cells * sizeof *density);
    for (size_t k = 0; density && k < cells; k++) density[k] = truth->mass[k] / area;
    if (density) {
        ais_panel_heat(panel, &truth->grid, density, &(ais_heat){.label = "density", .high = highest(truth)});
        ais_panel_contour(panel, &truth->grid, density, ais_grid_level(&truth->grid, density, 0.9),
                          &(ais_style){.label = "holds 90%", .colour = 3, .width = 1.2});
    }
    free(density);
}

ais_status ais_draw_pairs(ais_scene *scene) {
    const ais_draws *draws = scene->data->draws;
    size_t n = (size_t)draws->chains * (size_t)draws->draws, room = (n < KDE_DRAWS ? n : KDE_DRAWS) + 2 * DOTS + 8;
    cloud c = {.x = ais_allocate(room * sizeof *c.x), .y = ais_allocate(room * sizeof *c.y)};
    double *work = ais_allocate(room * sizeof *work);
    ais_truth truth;
    ais_truth_find(scene->data, &truth);
    ais_status status =
        c.x && c.y && work ? AIS_OK : ais_fail_memory(scene->context, "pairs of draws", 3 * room * sizeof *work);
    int shown = scene->parameters < MOST_PARAMETERS ? scene->parameters : MOST_PARAMETERS;
    for (int i = 0; i < shown && status == AIS_OK; i++)
        for (int k = i + 1; k < shown; k++) {
            int first = scene->parameter[i], second = scene->parameter[k];
            if (first > second && truth.mass) first = scene->parameter[k], second = scene->parameter[i];
            gather(scene, first, second, &c);
            density_panel(scene, first, second, &truth, &c, work);
        }
    if (status == AIS_OK && truth.mass) truth_panel(scene, &truth);
    if (shown < scene->parameters) ais_scene_say(scene, "Pairs of the first %d parameters.", shown);
    ais_truth_free(&truth);
    free(c.x);
    free(c.y);
    free(work);
    return status;
}
