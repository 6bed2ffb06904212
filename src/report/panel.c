/* Drawing one panel: title and legend on top, axes with ticks, what is on them, a colour scale at the right. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "report/panel.h"

enum {
    TICK_SIZE = AIS_TICK_SIZE,
    LABEL_SIZE = AIS_LABEL_SIZE,
    TITLE_SIZE = 13,
    GAP = 5,
    LEGEND_ROW = 16,
    SWATCH = 18,
    SCALE_WIDTH = 12
};

const ais_lettering ais_tick_letters = {.size = TICK_SIZE, .colour = {0.2, 0.2, 0.2}};
const ais_lettering ais_label_letters = {.size = LABEL_SIZE, .colour = {0.2, 0.2, 0.2}, .anchor = 0.5};
const ais_pen ais_axis_pen = {.colour = {0.2, 0.2, 0.2}, .opacity = 0.8, .width = 1};
static const ais_lettering title_letters = {.size = TITLE_SIZE, .bold = true, .colour = {0.2, 0.2, 0.2}};
static const ais_pen faint = {.colour = {0.2, 0.2, 0.2}, .opacity = 0.13, .width = 1};

void ais_canvas_fit(ais_canvas *canvas, const ais_lettering *lettering, double width, const char *text, char *fitted,
                    size_t size) {
    size_t length = strlen(text);
    if (length >= size) length = size - 1;
    snprintf(fitted, size, "%.*s", (int)length, text);
    while (length > 0 && ais_canvas_text_width(canvas, lettering, fitted) > width) {
        do length--;
        while (length > 0 && ((unsigned char)text[length] & 0xC0) == 0x80);
        snprintf(fitted, size, "%.*s…", (int)length, text);
    }
}

/* ---- ranges ---------------------------------------------------------------------------------------------- */

typedef struct range {
    double low, high;
    bool tight_low, tight_high; /* what is drawn ends there: no room beside it */
} range;

static void include(range *r, double value, bool log) {
    if (!isfinite(value) || (log && value <= 0)) return;
    r->low = fmin(r->low, value);
    r->high = fmax(r->high, value);
}

static void include_layer(const ais_layer *layer, bool vertical, bool log, range *r) {
    const double *values = vertical ? layer->y : layer->x;
    if (layer->kind == AIS_LAYER_HEAT) {
        include(r, vertical ? layer->grid.y_low : layer->grid.x_low, log);
        include(r, vertical ? layer->grid.y_high : layer->grid.x_high, log);
        r->tight_low = r->tight_high = true;
        return;
    }
    if (layer->kind == AIS_LAYER_BARS && !vertical) {
        include(r, -0.5, false);
        include(r, (double)layer->n - 0.5, false);
        r->tight_low = r->tight_high = true;
        return;
    }
    if (vertical && layer->from_zero) include(r, 0, log);
    for (size_t i = 0; values && i < layer->n; i++) include(r, values[i], log);
}

/* Of what is drawn, with a little room, unless the caller gave the ends. */
static void axis_range(const ais_panel *panel, bool vertical, double *low, double *high) {
    const ais_axis *axis = vertical ? &panel->y : &panel->x;
    range r = {INFINITY, -INFINITY, false, false};
    if (axis->low != axis->high) {
        *low = axis->low;
        *high = axis->high;
    } else {
        bool zero = false;
        for (const ais_layer *at = panel->first; at; at = at->next) {
            include_layer(at, vertical, axis->log, &r);
            zero = zero || (vertical && at->from_zero && !axis->log);
        }
        if (axis->names && r.low > r.high) r = (range){-0.5, axis->name_count - 0.5, true, true};
        *low = r.low;
        *high = r.high;
        ais_ticks_range(low, high, axis->log);
        double room = axis->log ? 0 : 0.04 * (*high - *low), factor = axis->log ? pow(*high / *low, 0.04) : 1;
        if (!r.tight_low && !(zero && *low == 0)) *low = axis->log ? *low / factor : *low - room;
        if (!r.tight_high) *high = axis->log ? *high * factor : *high + room;
    }
    ais_ticks_range(low, high, axis->log);
}

/* ---- legend ---------------------------------------------------------------------------------------------- */

static bool in_legend(const ais_layer *layer) { return layer->label && layer->kind != AIS_LAYER_HEAT; }

static void draw_swatch(ais_canvas *canvas, const ais_layer *layer, double x, double y) {
    /* Thin and pale lines overlap in the panel; a lone one must be seen all the same. */
    bool area = layer->kind == AIS_LAYER_AREA || layer->kind == AIS_LAYER_BARS;
    const ais_pen pen = {ais_colour_of(layer->colour), area ? layer->opacity : fmax(layer->opacity, 0.9),
                         fmin(fmax(layer->width, 1.5), 3), layer->dashed};
    const double line[] = {x, y, x + SWATCH - 4, y}, dot[] = {x + 0.5 * (SWATCH - 4), y};
    if (area)
        ais_canvas_rectangle(canvas, x, y - 4, SWATCH - 4, 8, &pen);
    else if (layer->kind == AIS_LAYER_POINTS) {
        ais_pen dot_pen = pen;
        dot_pen.width = fmax(pen.width, 4);
        ais_canvas_dots(canvas, dot, 1, &dot_pen);
    } else
        ais_canvas_lines(canvas, line, 2, &pen);
}

double ais_panel_legend(ais_canvas *canvas, const ais_panel *panel, double x, double y, double width, bool draw) {
    double at = 0;
    int rows = 0;
    for (const ais_layer *layer = panel->first; layer; layer = layer->next) {
        char text[128];
        if (!in_legend(layer)) continue;
        ais_canvas_fit(canvas, &ais_tick_letters, width - SWATCH, layer->label, text, sizeof text);
        double needed = SWATCH + ais_canvas_text_width(canvas, &ais_tick_letters, text);
        if (rows == 0 || at + needed > width) {
            rows++;
            at = 0;
        }
        double baseline = y + rows * LEGEND_ROW - 5;
        if (draw) {
            draw_swatch(canvas, layer, x + at, baseline - 4);
            ais_canvas_text(canvas, x + at + SWATCH, baseline, &ais_tick_letters, text);
        }
        at += needed + 12;
    }
    return rows * LEGEND_ROW;
}

/* ---- ticks ----------------------------------------------------------------------------------------------- */

double ais_ticks_widest(ais_canvas *canvas, const ais_ticks *ticks) {
    double most = 0;
    for (int i = 0; i < ticks->count; i++)
        most = fmax(most, ais_canvas_text_width(canvas, &ais_tick_letters, ticks->label[i]));
    return most;
}

/* Names of places; every k-th where there is no room for all. */
static void ticks_of_names(const ais_axis *axis, int most, ais_ticks *ticks) {
    int every = (axis->name_count + most - 1) / most;
    *ticks = (ais_ticks){0};
    for (int i = 0; i < axis->name_count && ticks->count < AIS_MOST_TICKS; i += every < 1 ? 1 : every) {
        ticks->at[ticks->count] = i;
        snprintf(ticks->label[ticks->count++], sizeof ticks->label[0], "%s", axis->names[i]);
    }
}

static void ticks_of(const ais_axis *axis, double low, double high, int most, ais_ticks *ticks) {
    if (axis->names)
        ticks_of_names(axis, most, ticks);
    else if (axis->log)
        ais_ticks_log(low, high, most, ticks);
    else
        ais_ticks_linear(low, high, most, axis->whole, ticks);
}

void ais_ticks_below(ais_canvas *canvas, const ais_axis *axis, double low, double high, double width,
                     ais_ticks *ticks) {
    for (int most = axis->names ? AIS_MOST_TICKS : 8; most >= 2; most--) {
        ticks_of(axis, low, high, most, ticks);
        if (ticks->count * (ais_ticks_widest(canvas, ticks) + 12) <= width) return;
    }
}

/* By how much the last label would leave the panel. */
static double overhang(ais_canvas *canvas, const ais_plane *plane, const ais_ticks *ticks, double edge) {
    const char *label = ticks->count ? ticks->label[ticks->count - 1] : "";
    double half = 0.5 * ais_canvas_text_width(canvas, &ais_tick_letters, label);
    double end = ais_plane_x(plane, ticks->count ? ticks->at[ticks->count - 1] : plane->x_low) + half;
    return fmax(end + 2 - edge, 0);
}

void ais_label_with_factor(const char *label, const ais_ticks *ticks, char *text, size_t size) {
    const char *open = *label && *ticks->factor ? " (" : "", *close = *label && *ticks->factor ? ")" : "";
    snprintf(text, size, "%s%s%s%s", label, open, ticks->factor, close);
}

/* ---- the panel ------------------------------------------------------------------------------------------- */

static void draw_x_axis(ais_canvas *canvas, const ais_panel *panel, const ais_plane *plane, const ais_ticks *ticks) {
    ais_lettering letters = ais_tick_letters;
    char text[160], fitted[160];
    double bottom = plane->top + plane->height;
    letters.anchor = 0.5;
    for (int i = 0; i < ticks->count; i++) {
        double x = ais_plane_x(plane, ticks->at[i]);
        const double grid[] = {x, plane->top, x, bottom}, mark[] = {x, bottom, x, bottom + 4};
        if (!panel->x.names) ais_canvas_lines(canvas, grid, 2, &faint);
        ais_canvas_lines(canvas, mark, 2, &ais_axis_pen);
        ais_canvas_text(canvas, x, bottom + 4 + TICK_SIZE, &letters, ticks->label[i]);
    }
    ais_label_with_factor(panel->x.label, ticks, text, sizeof text);
    ais_canvas_fit(canvas, &ais_label_letters, plane->width, text, fitted, sizeof fitted);
    ais_canvas_text(canvas, plane->left + 0.5 * plane->width, bottom + 8 + TICK_SIZE + LABEL_SIZE, &ais_label_letters,
                    fitted);
}

static void draw_y_axis(ais_canvas *canvas, const ais_panel *panel, const ais_plane *plane, const ais_ticks *ticks,
                        double left_edge) {
    ais_lettering letters = ais_tick_letters, upward = ais_label_letters;
    char text[160], fitted[160];
    letters.anchor = 1;
    upward.upward = true;
    for (int i = 0; i < ticks->count; i++) {
        double y = ais_plane_y(plane, ticks->at[i]);
        const double grid[] = {plane->left, y, plane->left + plane->width, y},
                     mark[] = {plane->left - 4, y, plane->left, y};
        if (!panel->y.names) ais_canvas_lines(canvas, grid, 2, &faint);
        ais_canvas_lines(canvas, mark, 2, &ais_axis_pen);
        ais_canvas_text(canvas, plane->left - 6, y + 0.36 * TICK_SIZE, &letters, ticks->label[i]);
    }
    ais_label_with_factor(panel->y.label, ticks, text, sizeof text);
    ais_canvas_fit(canvas, &upward, plane->height, text, fitted, sizeof fitted);
    ais_canvas_text(canvas, left_edge + LABEL_SIZE, plane->top + 0.5 * plane->height, &upward, fitted);
}

static const ais_layer *heat_with_scale(const ais_panel *panel) {
    for (const ais_layer *at = panel->first; at; at = at->next)
        if (at->kind == AIS_LAYER_HEAT && at->label) return at;
    return NULL;
}

/* The colour scale of a heat map; what it needs at the right. Draws nothing when !draw. */
static double colour_scale(ais_canvas *canvas, const ais_layer *heat, const ais_plane *plane, bool draw) {
    enum { STEPS = 64 };
    ais_ticks ticks;
    double low = heat->low, high = heat->high;
    ais_ticks_range(&low, &high, false);
    ais_ticks_linear(low, high, 6, false, &ticks);
    double labels = ais_ticks_widest(canvas, &ticks), left = plane->left + plane->width + 8;
    if (draw) {
        uint32_t pixel[STEPS];
        char text[160], fitted[160];
        ais_lettering upward = ais_label_letters;
        upward.upward = true;
        for (int i = 0; i < STEPS; i++) pixel[i] = ais_pixel(ais_colour_scale(1 - (i + 0.5) / STEPS));
        ais_canvas_image(canvas, left, plane->top, SCALE_WIDTH, plane->height, pixel, 1, STEPS);
        for (int i = 0; i < ticks.count; i++) {
            double y = plane->top + plane->height * (1 - (ticks.at[i] - low) / (high - low));
            ais_canvas_text(canvas, left + SCALE_WIDTH + 4, y + 0.36 * TICK_SIZE, &ais_tick_letters, ticks.label[i]);
        }
        ais_label_with_factor(heat->label, &ticks, text, sizeof text);
        ais_canvas_fit(canvas, &upward, plane->height, text, fitted, sizeof fitted);
        ais_canvas_text(canvas, left + SCALE_WIDTH + 8 + labels + 0.8 * LABEL_SIZE, plane->top + 0.5 * plane->height,
                        &upward, fitted);
    }
    return 8 + SCALE_WIDTH + 4 + labels + (*heat->label || *ticks.factor ? LABEL_SIZE + GAP : 0);
}

void ais_panel_draw(ais_canvas *canvas, const ais_panel *panel, double x, double y) {
    if (panel->cell) {
        ais_triangle_draw(canvas, panel, x, y);
        return;
    }
    double width = panel->width, top = GAP + (*panel->title ? TITLE_SIZE + 6 : 0);
    char title[256];
    ais_ticks across, up;
    ais_plane plane = {.x_log = panel->x.log, .y_log = panel->y.log};
    axis_range(panel, false, &plane.x_low, &plane.x_high);
    axis_range(panel, true, &plane.y_low, &plane.y_high);
    double legend_height = ais_panel_legend(canvas, panel, x + GAP, y + top, width - 2 * GAP, false);
    plane.top = y + top + legend_height + GAP;
    plane.height = y + panel->height - plane.top - (8 + TICK_SIZE + LABEL_SIZE + GAP);
    int most = (int)(plane.height / 26);
    if (panel->y.names) most = (int)(plane.height / 13);
    ticks_of(&panel->y, plane.y_low, plane.y_high, most < 2 ? 2 : most > AIS_MOST_TICKS ? AIS_MOST_TICKS : most, &up);
    double label_room = *panel->y.label || *up.factor ? LABEL_SIZE + GAP : 0;
    plane.left = x + GAP + label_room + ais_ticks_widest(canvas, &up) + 8;
    plane.width = x + width - 12 - plane.left;
    const ais_layer *heat = heat_with_scale(panel);
    if (heat) plane.width -= colour_scale(canvas, heat, &plane, false) - 8;
    ais_ticks_below(canvas, &panel->x, plane.x_low, plane.x_high, plane.width, &across);
    if (!heat) plane.width -= overhang(canvas, &plane, &across, x + width);

    ais_canvas_fit(canvas, &title_letters, width - 2 * GAP, panel->title, title, sizeof title);
    ais_canvas_text(canvas, x + GAP, y + GAP + TITLE_SIZE, &title_letters, title);
    ais_panel_legend(canvas, panel, x + GAP, y + top, width - 2 * GAP, true);
    draw_x_axis(canvas, panel, &plane, &across);
    draw_y_axis(canvas, panel, &plane, &up, x + GAP - 2);
    if (heat) colour_scale(canvas, heat, &plane, true);
    ais_canvas_clip(canvas, plane.left, plane.top, plane.width, plane.height);
    for (const ais_layer *layer = panel->first; layer; layer = layer->next)
        ais_layer_draw(canvas, layer, panel->bar_series, &plane);
    ais_canvas_unclip(canvas);
    const double frame[] = {plane.left,
                            plane.top,
                            plane.left,
                            plane.top + plane.height,
                            plane.left + plane.width,
                            plane.top + plane.height};
    ais_canvas_lines(canvas, frame, 3, &ais_axis_pen);
}
