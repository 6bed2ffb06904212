/* Drawing a triangle of panels: ticks and labels at the left and at the bottom only, the legend in the empty corner. */
#include <math.h>
#include <string.h>

#include "report/panel.h"

enum { GAP = 5, TITLE_ROOM = 18, BELOW = 8 + AIS_TICK_SIZE + AIS_LABEL_SIZE + GAP };

/* Shortened in the middle: names often differ at their ends. */
static void fit_name(ais_canvas *canvas, const ais_lettering *letters, double width, const char *text, char *fitted,
                     size_t size) {
    size_t length = strlen(text), left = length, right = length;
    snprintf(fitted, size, "%s", text);
    while (left > 0 && ais_canvas_text_width(canvas, letters, fitted) > width) {
        size_t kept = left + (length - right);
        left = (kept - 1) / 2;
        right = length - (kept - 1 - left);
        while (left > 0 && ((unsigned char)text[left] & 0xC0) == 0x80) left--;
        while (right < length && ((unsigned char)text[right] & 0xC0) == 0x80) right++;
        snprintf(fitted, size, "%.*s…%s", (int)left, text, text + right);
    }
}

/* A name and the factor of its ticks, of which no digit may be lost. */
static void fit_label(ais_canvas *canvas, const ais_lettering *letters, double width, const char *name,
                      const ais_ticks *ticks, char *text, size_t size) {
    char factor[64], fitted[900];
    ais_label_with_factor("", ticks, factor, sizeof factor);
    double taken = *factor ? ais_canvas_text_width(canvas, letters, factor) + 12 : 0;
    fit_name(canvas, letters, width - taken, name, fitted, sizeof fitted);
    ais_label_with_factor(fitted, ticks, text, size);
}

/* Numbers: smaller letters where they need it, and none rather than half of them. */
static void draw_title(ais_canvas *canvas, const char *title, double middle, double baseline, double width) {
    ais_lettering letters = ais_tick_letters;
    letters.anchor = 0.5;
    while (letters.size > 8 && ais_canvas_text_width(canvas, &letters, title) > width) letters.size -= 0.5;
    if (ais_canvas_text_width(canvas, &letters, title) <= width)
        ais_canvas_text(canvas, middle, baseline, &letters, title);
}

static const ais_panel *cell_at(const ais_panel *triangle, int row, int column) {
    return triangle->cell[row * (row + 1) / 2 + column];
}

static void ticks_beside(const ais_panel *cell, double height, ais_ticks *ticks) {
    int most = (int)(height / 26);
    ais_ticks_linear(cell->y.low, cell->y.high, most < 2 ? 2 : most > 5 ? 5 : most, false, ticks);
}

/* The width of the labels of the left column. */
static double left_room(ais_canvas *canvas, const ais_panel *triangle, double about) {
    double widest = 0;
    for (int row = 1; row < triangle->side; row++) {
        ais_ticks ticks;
        if (!cell_at(triangle, row, 0)) continue;
        ticks_beside(cell_at(triangle, row, 0), about, &ticks);
        widest = fmax(widest, ais_ticks_widest(canvas, &ticks));
    }
    return GAP + (triangle->side > 1 ? AIS_LABEL_SIZE + GAP + widest + 8 : 0);
}

static void draw_below(ais_canvas *canvas, const ais_panel *cell, const ais_plane *plane, const ais_ticks *ticks,
                       bool labels) {
    ais_lettering letters = ais_tick_letters;
    double bottom = plane->top + plane->height;
    letters.anchor = 0.5;
    for (int i = 0; i < ticks->count; i++) {
        double x = ais_plane_x(plane, ticks->at[i]);
        const double mark[] = {x, bottom, x, bottom + (labels ? 4 : -4)};
        ais_canvas_lines(canvas, mark, 2, &ais_axis_pen);
        if (labels) ais_canvas_text(canvas, x, bottom + 4 + AIS_TICK_SIZE, &letters, ticks->label[i]);
    }
    if (!labels) return;
    char text[1024];
    fit_label(canvas, &ais_label_letters, plane->width, cell->x.label, ticks, text, sizeof text);
    ais_canvas_text(canvas, plane->left + 0.5 * plane->width, bottom + 8 + AIS_TICK_SIZE + AIS_LABEL_SIZE,
                    &ais_label_letters, text);
}

static void draw_beside(ais_canvas *canvas, const ais_panel *cell, const ais_plane *plane, const ais_ticks *ticks,
                        bool labels, double left_edge) {
    ais_lettering letters = ais_tick_letters, upward = ais_label_letters;
    letters.anchor = 1;
    upward.upward = true;
    for (int i = 0; i < ticks->count; i++) {
        double y = ais_plane_y(plane, ticks->at[i]);
        const double mark[] = {plane->left, y, plane->left + (labels ? -4 : 4), y};
        ais_canvas_lines(canvas, mark, 2, &ais_axis_pen);
        if (labels) ais_canvas_text(canvas, plane->left - 6, y + 0.36 * AIS_TICK_SIZE, &letters, ticks->label[i]);
    }
    if (!labels) return;
    char text[1024];
    fit_label(canvas, &upward, plane->height, cell->y.label, ticks, text, sizeof text);
    ais_canvas_text(canvas, left_edge + AIS_LABEL_SIZE, plane->top + 0.5 * plane->height, &upward, text);
}

static void draw_cell(ais_canvas *canvas, const ais_panel *cell, double left, double top, double size, bool bottom_row,
                      bool first_column, bool diagonal, double left_edge) {
    const ais_plane plane = {.left = left,
                             .top = top,
                             .width = size,
                             .height = size,
                             .x_low = cell->x.low,
                             .x_high = cell->x.high,
                             .y_low = cell->y.low,
                             .y_high = cell->y.high};
    ais_ticks across, up;
    ais_canvas_clip(canvas, left, top, size, size);
    for (const ais_layer *layer = cell->first; layer; layer = layer->next)
        ais_layer_draw(canvas, layer, cell->bar_series, &plane);
    ais_canvas_unclip(canvas);
    ais_ticks_below(canvas, &cell->x, plane.x_low, plane.x_high, size, &across);
    draw_below(canvas, cell, &plane, &across, bottom_row);
    if (diagonal) {
        draw_title(canvas, cell->title, left + 0.5 * size, top - GAP, size);
        const double line[] = {left, top + size, left + size, top + size};
        ais_canvas_lines(canvas, line, 2, &ais_axis_pen);
        return;
    }
    ticks_beside(cell, size, &up);
    draw_beside(canvas, cell, &plane, &up, first_column, left_edge);
    const double frame[] = {left, top, left + size, top, left + size, top + size, left, top + size, left, top};
    ais_canvas_lines(canvas, frame, 5, &ais_axis_pen);
}

void ais_triangle_draw(ais_canvas *canvas, const ais_panel *panel, double x, double y) {
    int side = panel->side;
    double left = x + left_room(canvas, panel, panel->width / (side + 1.0)), top = y + GAP;
    if (side == 1) top += ais_panel_legend(canvas, panel, x + GAP, top, panel->width - 2 * GAP, true);
    top += TITLE_ROOM;
    double between = 8, wide = x + panel->width - 14 - left - (side - 1) * between,
           high = y + panel->height - BELOW - top - (side - 1) * between, size = fmin(wide, high) / side,
           pitch = size + between;
    if (side == 1) left = x + 0.5 * (panel->width - size);
    for (int row = 0; row < side; row++)
        for (int column = 0; column <= row; column++) {
            const ais_panel *cell = cell_at(panel, row, column);
            if (cell)
                draw_cell(canvas, cell, left + column * pitch, top + row * pitch, size, row == side - 1, column == 0,
                          column == row, x + GAP - 2);
        }
    if (side > 1) ais_panel_legend(canvas, panel, left + pitch, top, (side - 1) * pitch - between, true);
}
