/* What a figure holds, between the functions that fill it (figure.c) and those that draw it. */
#ifndef AIS_REPORT_FIGURE_H
#define AIS_REPORT_FIGURE_H

#include <aisampler/figure.h>

#include "base/arena.h"
#include "report/canvas.h"

typedef enum ais_layer_kind {
    AIS_LAYER_LINE,   /* x, y */
    AIS_LAYER_AREA,   /* x, y: a closed outline */
    AIS_LAYER_POINTS, /* x, y */
    AIS_LAYER_BARS,   /* y at 0 .. n - 1 */
    AIS_LAYER_RULE,   /* at x[0] or y[0], the other is NULL */
    AIS_LAYER_HEAT    /* y: values on the grid */
} ais_layer_kind;

typedef struct ais_layer ais_layer;
struct ais_layer {
    ais_layer_kind kind;
    ais_layer *next;
    const char *label; /* or NULL */
    int colour;
    double width, opacity;
    bool dashed;
    bool from_zero; /* the axis starts at 0 */
    size_t n;
    double *x, *y;
    ais_grid grid; /* heat */
    double low, high;
    bool numbers, tint;
    int series; /* bars: which, from 0 */
};

struct ais_panel {
    ais_figure *figure;
    ais_panel *next;
    const char *title; /* "" when there is none */
    ais_axis x, y;     /* labels and names copied, labels never NULL */
    double width, height;
    ais_layer *first, **last;
    int bar_series;
    ais_panel **cell; /* a triangle: side (side + 1) / 2 panels, row by row; or NULL */
    int side;
};

struct ais_figure {
    ais_arena arena;
    const char *title, *note; /* "" when there is none */
    int columns, panels;
    ais_panel *first, **last;
    bool failed; /* memory ran out */
};

enum { AIS_PANEL_WIDTH = 340, AIS_PANEL_HEIGHT = 240 };

/* A panel that is a triangle of square ones: cell (row, column), column <= row <= side - 1. Cells of a column share
 * their x axis and cells of a row below the diagonal their y axis: all of them must have the ends of both. Labels are
 * named at the left and at the bottom, titles above the cells of the diagonal; the layers of the triangle itself are
 * its legend, nothing else of them is seen. title: for readers who cannot see it. */
ais_panel *ais_figure_triangle(ais_figure *figure, const char *title, int side);
ais_panel *ais_triangle_cell(ais_panel *triangle, int row, int column, const ais_panel_options *options);

/* Draws one panel with its upper left corner at (x, y). */
void ais_panel_draw(ais_canvas *canvas, const ais_panel *panel, double x, double y);

/* Refuses a figure that memory was too short for, or that has no panel. */
ais_status ais_figure_check(ais_context *context, const ais_figure *figure);

/* Draws panel number `index` alone as an svg element for a page: no white ground, ink is currentColor, ids begin with
 * prefix (letters and digits) and so do not meet those of other pictures. */
ais_status ais_panel_inline(ais_context *context, const ais_figure *figure, int index, const char *prefix, FILE *file);

/* text in at most `width` units: shortened and ended by an ellipsis where it must be. */
void ais_canvas_fit(ais_canvas *canvas, const ais_lettering *lettering, double width, const char *text, char *fitted,
                    size_t size);

#endif
