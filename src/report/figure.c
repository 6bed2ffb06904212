/* Putting figures together: everything is copied, nothing is drawn. */
#include "report/figure.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/status.h"
#include "report/clean_text.h"

static void *take(ais_figure *figure, size_t bytes) {
    void *room = figure->failed ? NULL : ais_arena_take(&figure->arena, bytes ? bytes : 1);
    if (!room) figure->failed = true;
    return room;
}

/* Never NULL. A byte that is not UTF-8 may become three. */
static const char *keep_text(ais_figure *figure, const char *text) {
    size_t size = text ? 3 * strlen(text) + 1 : 1;
    char *kept = take(figure, size);
    if (!kept) return "";
    ais_clean_text(text, kept, size);
    return kept;
}

static double *keep_numbers(ais_figure *figure, const double *x, size_t n) {
    double *kept = take(figure, n * sizeof *kept);
    if (kept && x && n) memcpy(kept, x, n * sizeof *kept);
    return kept;
}

ais_status ais_figure_new(ais_context *context, const char *title, int columns, ais_figure **figure_out) {
    *figure_out = NULL;
    if (columns < 0) return ais_fail(context, AIS_BAD_ARGUMENT, "a figure cannot have %d columns", columns);
    ais_figure *figure = ais_allocate(sizeof *figure);
    if (!figure) return ais_fail_memory(context, "a figure", sizeof *figure);
    figure->last = &figure->first;
    figure->columns = columns;
    figure->title = keep_text(figure, title);
    figure->note = "";
    *figure_out = figure;
    return AIS_OK;
}

void ais_figure_free(ais_figure *figure) {
    if (figure) ais_arena_free(&figure->arena);
    free(figure);
}

void ais_figure_note(ais_figure *figure, const char *note) { figure->note = keep_text(figure, note); }

int ais_figure_panels(const ais_figure *figure) { return figure->panels; }

static ais_axis keep_axis(ais_figure *figure, const ais_axis *axis) {
    ais_axis kept = *axis;
    kept.label = keep_text(figure, axis->label);
    kept.names = NULL;
    if (!axis->names || axis->name_count < 1) return kept;
    const char **names = take(figure, (size_t)axis->name_count * sizeof *names);
    for (int i = 0; names && i < axis->name_count; i++) names[i] = keep_text(figure, axis->names[i]);
    kept.names = names;
    return kept;
}

static ais_panel *new_panel(ais_figure *figure, const ais_panel_options *options) {
    ais_panel *panel = take(figure, sizeof *panel);
    if (!panel) return NULL;
    *panel = (ais_panel){.figure = figure,
                         .title = keep_text(figure, options->title),
                         .x = keep_axis(figure, &options->x),
                         .y = keep_axis(figure, &options->y),
                         .width = AIS_PANEL_WIDTH,
                         .height = options->height > 0 ? options->height : AIS_PANEL_HEIGHT};
    panel->last = &panel->first;
    return panel;
}

ais_panel *ais_figure_panel(ais_figure *figure, const ais_panel_options *options) {
    ais_panel *panel = new_panel(figure, options);
    if (!panel) return NULL;
    *figure->last = panel;
    figure->last = &panel->next;
    figure->panels++;
    return panel;
}

ais_panel *ais_figure_triangle(ais_figure *figure, const char *title, int side) {
    static const int wide[] = {300, 210, 180, 160, 145, 135}; /* a cell, by their number in a row */
    int most = sizeof wide / sizeof *wide, cell = side <= most ? wide[side - 1] : 120;
    size_t cells = (size_t)side * ((size_t)side + 1) / 2;
    ais_panel *panel =
        ais_figure_panel(figure, &(ais_panel_options){.title = title, .height = side * cell + (side > 1 ? 70 : 110)});
    if (!panel) return NULL;
    panel->width = fmax(side * cell + 80, AIS_PANEL_WIDTH);
    panel->cell = take(figure, cells * sizeof *panel->cell);
    panel->side = side;
    for (size_t k = 0; panel->cell && k < cells; k++) panel->cell[k] = NULL;
    return panel;
}

ais_panel *ais_triangle_cell(ais_panel *triangle, int row, int column, const ais_panel_options *options) {
    if (!triangle || !triangle->cell) return NULL;
    ais_panel *cell = new_panel(triangle->figure, options);
    triangle->cell[row * (row + 1) / 2 + column] = cell;
    return cell;
}

/* A layer at the end of the panel, or NULL. */
static ais_layer *add(ais_panel *panel, ais_layer_kind kind, const ais_style *style) {
    static const ais_style plain = {0};
    ais_layer *layer = panel ? take(panel->figure, sizeof *layer) : NULL;
    if (!layer) return NULL;
    if (!style) style = &plain;
    *layer = (ais_layer){.kind = kind,
                         .label = style->label ? keep_text(panel->figure, style->label) : NULL,
                         .colour = style->colour,
                         .width = style->width > 0           ? style->width
                                  : kind == AIS_LAYER_POINTS ? 2
                                                             : 1.5,
                         .opacity = style->opacity > 0 ? style->opacity : 1,
                         .dashed = style->dashed};
    *panel->last = layer;
    panel->last = &layer->next;
    return layer;
}

static void add_pairs(ais_panel *panel, ais_layer_kind kind, const double *x, const double *y, size_t n,
                      const ais_style *style) {
    ais_layer *layer = add(panel, kind, style);
    if (!layer) return;
    layer->x = keep_numbers(panel->figure, x, n);
    layer->y = keep_numbers(panel->figure, y, n);
    layer->n = layer->x && layer->y ? n : 0;
}

void ais_panel_line(ais_panel *panel, const double *x, const double *y, size_t n, const ais_style *style) {
    add_pairs(panel, AIS_LAYER_LINE, x, y, n, style);
}

void ais_panel_points(ais_panel *panel, const double *x, const double *y, size_t n, const ais_style *style) {
    add_pairs(panel, AIS_LAYER_POINTS, x, y, n, style);
}

static void add_outline(ais_panel *panel, const double *edges, const double *heights, int bins, bool filled,
                        const ais_style *style) {
    ais_layer *layer = add(panel, filled ? AIS_LAYER_AREA : AIS_LAYER_LINE, style);
    if (!layer) return;
    size_t n = 2 * (size_t)bins + 2;
    layer->x = keep_numbers(panel->figure, NULL, n);
    layer->y = keep_numbers(panel->figure, NULL, n);
    if (!layer->x || !layer->y) return;
    layer->n = n;
    layer->from_zero = true;
    layer->x[0] = edges[0];
    layer->y[0] = 0;
    for (int i = 0; i < bins; i++) {
        layer->x[2 * i + 1] = edges[i];
        layer->x[2 * i + 2] = edges[i + 1];
        layer->y[2 * i + 1] = layer->y[2 * i + 2] = heights[i];
    }
    layer->x[n - 1] = edges[bins];
    layer->y[n - 1] = 0;
}

void ais_panel_steps(ais_panel *panel, const double *edges, const double *heights, int bins, bool filled,
                     const ais_style *style) {
    if (bins < 1) return;
    if (filled) {
        ais_style light = style ? *style : (ais_style){0};
        light.label = NULL;
        light.opacity = 0.3 * (light.opacity > 0 ? light.opacity : 1);
        add_outline(panel, edges, heights, bins, true, &light);
    }
    add_outline(panel, edges, heights, bins, false, style);
}

void ais_panel_band(ais_panel *panel, const double *x, const double *low, const double *high, size_t n,
                    const ais_style *style) {
    ais_layer *layer = add(panel, AIS_LAYER_AREA, style);
    if (!layer) return;
    layer->x = keep_numbers(panel->figure, NULL, 2 * n);
    layer->y = keep_numbers(panel->figure, NULL, 2 * n);
    if (!layer->x || !layer->y) return;
    layer->n = 2 * n;
    for (size_t i = 0; i < n; i++) {
        layer->x[i] = layer->x[2 * n - 1 - i] = x[i];
        layer->y[i] = low[i];
        layer->y[2 * n - 1 - i] = high[i];
    }
}

void ais_panel_bars(ais_panel *panel, const double *height, int n, const ais_style *style) {
    ais_layer *layer = n > 0 ? add(panel, AIS_LAYER_BARS, style) : NULL;
    if (!layer) return;
    layer->y = keep_numbers(panel->figure, height, (size_t)n);
    layer->n = layer->y ? (size_t)n : 0;
    layer->from_zero = true;
    layer->series = panel->bar_series++;
}

void ais_panel_rule(ais_panel *panel, bool vertical, double at, const ais_style *style) {
    ais_layer *layer = add(panel, AIS_LAYER_RULE, style);
    if (!layer) return;
    double *place = keep_numbers(panel->figure, &at, 1);
    *(vertical ? &layer->x : &layer->y) = place;
    layer->n = place ? 1 : 0;
}

void ais_panel_heat(ais_panel *panel, const ais_grid *grid, const double *value, const ais_heat *heat) {
    ais_layer *layer = grid->nx > 0 && grid->ny > 0 ? add(panel, AIS_LAYER_HEAT, NULL) : NULL;
    if (!layer) return;
    size_t cells = (size_t)grid->nx * (size_t)grid->ny;
    layer->grid = *grid;
    layer->y = keep_numbers(panel->figure, value, cells);
    layer->n = layer->y ? cells : 0;
    layer->low = heat ? heat->low : 0;
    layer->high = heat ? heat->high : 0;
    layer->numbers = heat && heat->numbers;
    layer->tint = heat && heat->tint;
    layer->label = heat && heat->label ? keep_text(panel->figure, heat->label) : NULL;
    if (layer->low != layer->high) return;
    layer->low = INFINITY;
    layer->high = -INFINITY;
    for (size_t k = 0; k < layer->n; k++) {
        if (!isfinite(value[k])) continue;
        layer->low = fmin(layer->low, value[k]);
        layer->high = fmax(layer->high, value[k]);
    }
}
