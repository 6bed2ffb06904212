/* What compare shows of targets in the plane: every sampler's draws, chain by chain, over the
 * target. */
#include "compare_picture.h"

#include <math.h>
#include <stdlib.h>

enum { CELLS = 80, POINTS = 240 }; /* of all chains of a sampler */

static void widen(const double *x, size_t n, double *low, double *high) {
    for (size_t i = 0; i < n; i++) {
        if (!isfinite(x[i])) continue;
        *low = fmin(*low, x[i]);
        *high = fmax(*high, x[i]);
    }
}

/* All draws of all samplers, and a little more. */
static ais_grid frame(const outcome *out, int count) {
    double low[2] = {INFINITY, INFINITY}, high[2] = {-INFINITY, -INFINITY};
    for (int k = 0; k < count; k++) {
        size_t n = out[k].draws ? (size_t)out[k].draws->chains * (size_t)out[k].draws->draws : 0;
        for (int i = 0; i < 2 && n > 0; i++) widen(out[k].draws->value + (size_t)i * n, n, &low[i], &high[i]);
    }
    for (int i = 0; i < 2; i++) {
        double margin = 0.05 * (high[i] - low[i]) + 1e-9;
        low[i] -= margin;
        high[i] += margin;
    }
    return (ais_grid){low[0], high[0], low[1], high[1], CELLS, CELLS};
}

static ais_panel *square(ais_figure *figure, const ais_grid *grid, const char *title) {
    return ais_figure_panel(figure,
                            &(ais_panel_options){.title = title,
                                                 .x = {.label = "x.1", .low = grid->x_low, .high = grid->x_high},
                                                 .y = {.label = "x.2", .low = grid->y_low, .high = grid->y_high},
                                                 .height = 320});
}

/* Some draws of each chain in a colour of its own, over the line that holds most of the target. */
static void draw_sampler(ais_figure *figure, const ais_grid *grid, const double *value, const char *name,
                         const outcome *out) {
    char title[96];
    const ais_diagnosis *judged = out->diagnosis;
    const ais_draws *draws = out->draws;
    size_t length = (size_t)draws->draws, n = (size_t)draws->chains * length;
    size_t stride = n / POINTS + 1;
    if (judged->modes > 1)
        snprintf(title, sizeof title, "%s: the worst chain saw %d of %d modes", name, judged->fewest_modes,
                 judged->modes);
    else
        snprintf(title, sizeof title, "%s: R-hat %.3g", name, judged->worst_rhat);
    ais_panel *panel = square(figure, grid, title);
    double level = ais_grid_level(grid, value, 0.95), x[POINTS], y[POINTS];
    for (int chain = 0; chain < draws->chains; chain++) {
        size_t count = 0;
        for (size_t t = 0; t < length && count < POINTS; t += stride, count++) {
            x[count] = draws->value[(size_t)chain * length + t];
            y[count] = draws->value[n + (size_t)chain * length + t];
        }
        ais_panel_points(panel, x, y, count,
                         &(ais_style){.colour = ais_series_colour(chain, draws->chains), .width = 2.6});
    }
    if (isfinite(level)) ais_panel_contour(panel, grid, value, level, &(ais_style){.colour = AIS_INK, .width = 0.8});
}

int compare_picture(const ais_target *target, int count, const contestant *const *who, const outcome *out,
                    ais_figure **figure) {
    ais_context context = {0};
    char note[200];
    *figure = NULL;
    if (target->dim != 2 || target->view) return 0;
    double *value = malloc((size_t)CELLS * CELLS * sizeof *value);
    if (!value) return complain(EXIT_FAILED, "out of memory");
    int panels = 0, chains = 0;
    for (int k = 0; k < count; k++) panels += out[k].draws != NULL;
    ais_status status = ais_figure_new(&context, NULL, panels <= 4 ? panels : 0, figure);
    if (status == AIS_OK) {
        const ais_grid grid = frame(out, count);
        ais_grid_evaluate(&grid, plane_density, (void *)target, value);
        for (int k = 0; k < count; k++) {
            if (!out[k].draws) continue;
            draw_sampler(*figure, &grid, value, who[k]->name, &out[k]);
            chains = out[k].draws->chains;
        }
        snprintf(note, sizeof note,
                 "%.60s: draws of %d chains, a colour each. In good draws every colour is everywhere; the line holds "
                 "95%% of the target.",
                 target->name, chains);
        ais_figure_note(*figure, note);
    }
    free(value);
    return status == AIS_OK ? 0 : failed(&context);
}
