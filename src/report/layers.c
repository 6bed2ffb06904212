#include "report/layers.h"

#include <math.h>
#include <stdlib.h>

/* Far outside is as good as anywhere outside, and keeps cairo's fixed-point coordinates from overflowing. NAN stays. */
static double place(double value, double low, double high, bool log_axis) {
    double share;
    if (log_axis)
        share = value > 0 ? log(value / low) / log(high / low) : NAN;
    else
        share = (value - low) / (high - low);
    if (!isfinite(value) || isnan(share)) return NAN;
    return fmin(fmax(share, -10), 10);
}

double ais_plane_x(const ais_plane *plane, double x) {
    return plane->left + plane->width * place(x, plane->x_low, plane->x_high, plane->x_log);
}

double ais_plane_y(const ais_plane *plane, double y) {
    return plane->top + plane->height * (1 - place(y, plane->y_low, plane->y_high, plane->y_log));
}

uint32_t ais_pixel(ais_colour colour) {
    uint32_t red = (uint32_t)(255 * colour.red + 0.5), green = (uint32_t)(255 * colour.green + 0.5),
             blue = (uint32_t)(255 * colour.blue + 0.5);
    return 0xFF000000U | red << 16 | green << 8 | blue;
}

/* The zero line of histograms on a logarithmic axis is its lower end. */
static double floor_of(const ais_plane *plane, double y) { return plane->y_log && y == 0 ? plane->y_low : y; }

static void draw_pairs(ais_canvas *canvas, const ais_layer *layer, const ais_plane *plane, const ais_pen *pen) {
    double *xy = ais_allocate(2 * (layer->n + 1) * sizeof *xy);
    if (!xy) return;
    for (size_t i = 0; i < layer->n; i++) {
        double y = layer->from_zero ? floor_of(plane, layer->y[i]) : layer->y[i];
        xy[2 * i] = ais_plane_x(plane, layer->x[i]);
        xy[2 * i + 1] = ais_plane_y(plane, y);
    }
    if (layer->kind == AIS_LAYER_AREA)
        ais_canvas_area(canvas, xy, layer->n, pen);
    else if (layer->kind == AIS_LAYER_POINTS)
        ais_canvas_dots(canvas, xy, layer->n, pen);
    else
        ais_canvas_lines(canvas, xy, layer->n, pen);
    free(xy);
}

static void draw_bars(ais_canvas *canvas, const ais_layer *layer, int series, const ais_plane *plane,
                      const ais_pen *pen) {
    double each = 0.8 / series, first = -0.4 + each * layer->series;
    double zero = ais_plane_y(plane, floor_of(plane, 0));
    for (size_t i = 0; i < layer->n; i++) {
        double place_of_bar = (double)i + first, left = ais_plane_x(plane, place_of_bar),
               right = ais_plane_x(plane, place_of_bar + each), top = ais_plane_y(plane, layer->y[i]);
        if (isfinite(top)) ais_canvas_rectangle(canvas, left, fmin(top, zero), right - left, fabs(zero - top), pen);
    }
}

static void draw_rule(ais_canvas *canvas, const ais_layer *layer, const ais_plane *plane, const ais_pen *pen) {
    double x = layer->x ? ais_plane_x(plane, layer->x[0]) : 0, y = layer->y ? ais_plane_y(plane, layer->y[0]) : 0;
    const double vertical[] = {x, plane->top, x, plane->top + plane->height};
    const double level[] = {plane->left, y, plane->left + plane->width, y};
    ais_canvas_lines(canvas, layer->x ? vertical : level, 2, pen);
}

static double heat_share(const ais_layer *layer, double value) {
    return layer->high > layer->low ? (value - layer->low) / (layer->high - layer->low) : 0.5;
}

/* Counts in the cells: dark on light cells, light on dark ones. */
static void draw_numbers(ais_canvas *canvas, const ais_layer *layer, const ais_plane *plane) {
    const ais_grid *grid = &layer->grid;
    double dx = (grid->x_high - grid->x_low) / grid->nx, dy = (grid->y_high - grid->y_low) / grid->ny;
    for (size_t k = 0; k < layer->n; k++) {
        int ix = (int)(k % (size_t)grid->nx), iy = (int)(k / (size_t)grid->nx);
        bool light = heat_share(layer, layer->y[k]) > 0.55;
        ais_lettering letters = {.size = 11, .anchor = 0.5, .colour = {0.99, 0.99, 0.99}};
        if (light) letters.colour = (ais_colour){0.05, 0.05, 0.05};
        char text[16];
        snprintf(text, sizeof text, "%.3g", layer->y[k]);
        if (fabs(layer->y[k]) < 1e5 && layer->y[k] == floor(layer->y[k]))
            snprintf(text, sizeof text, "%.0f", layer->y[k]);
        if (!isfinite(layer->y[k]) || plane->height / grid->ny < 14) continue;
        if (ais_canvas_text_width(canvas, &letters, text) > plane->width / grid->nx - 2) continue;
        ais_canvas_text(canvas, ais_plane_x(plane, grid->x_low + (ix + 0.5) * dx),
                        ais_plane_y(plane, grid->y_low + (iy + 0.5) * dy) + 4, &letters, text);
    }
}

/* The first colour of the palette, the more of it the larger the share: seen on white and on dark pages. */
static uint32_t tinted(double share) {
    ais_colour colour = ais_colour_of(0);
    double alpha = 0.7 * share;
    uint32_t pixel = ais_pixel((ais_colour){alpha * colour.red, alpha * colour.green, alpha * colour.blue});
    return (pixel & 0xFFFFFFU) | (uint32_t)(255 * alpha + 0.5) << 24;
}

static void draw_heat(ais_canvas *canvas, const ais_layer *layer, const ais_plane *plane) {
    const ais_grid *grid = &layer->grid;
    /* Readers of SVG smooth images: cells that should stay visible get many pixels each. */
    int across = grid->nx > 40 ? 1 : 320 / grid->nx, up = grid->ny > 40 ? 1 : 320 / grid->ny;
    size_t nx = (size_t)grid->nx * (size_t)across, ny = (size_t)grid->ny * (size_t)up;
    uint32_t table[256], *pixel = ais_allocate(nx * ny * sizeof *pixel);
    if (!pixel) return;
    for (int i = 0; i < 256; i++) table[i] = layer->tint ? tinted(i / 255.0) : ais_pixel(ais_colour_scale(i / 255.0));
    for (size_t k = 0; k < nx * ny; k++) {
        size_t row = (ny - 1 - k / nx) / (size_t)up, column = k % nx / (size_t)across;
        double share = heat_share(layer, layer->y[row * (size_t)grid->nx + column]);
        pixel[k] = isfinite(share) ? table[(int)(255 * fmin(fmax(share, 0), 1) + 0.5)] : 0;
    }
    double left = ais_plane_x(plane, grid->x_low), right = ais_plane_x(plane, grid->x_high);
    double top = ais_plane_y(plane, grid->y_high), bottom = ais_plane_y(plane, grid->y_low);
    ais_canvas_image(canvas, left, top, right - left, bottom - top, pixel, (int)nx, (int)ny);
    free(pixel);
    if (layer->numbers) draw_numbers(canvas, layer, plane);
}

void ais_layer_draw(ais_canvas *canvas, const ais_layer *layer, int bar_series, const ais_plane *plane) {
    const ais_pen pen = {ais_colour_of(layer->colour), layer->opacity, layer->width, layer->dashed};
    if (layer->n == 0) return;
    switch (layer->kind) {
    case AIS_LAYER_LINE:
    case AIS_LAYER_AREA:
    case AIS_LAYER_POINTS:
        draw_pairs(canvas, layer, plane, &pen);
        return;
    case AIS_LAYER_BARS:
        draw_bars(canvas, layer, bar_series, plane, &pen);
        return;
    case AIS_LAYER_RULE:
        draw_rule(canvas, layer, plane, &pen);
        return;
    case AIS_LAYER_HEAT:
        draw_heat(canvas, layer, plane);
    }
}
