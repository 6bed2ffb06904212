/* The few strokes that figures are made of. canvas.c is the only file that knows cairo.
 *
 * Units are pixels, y grows downward. Polylines are pairs x, y; a pair that is not finite breaks them. */
#ifndef AIS_REPORT_CANVAS_H
#define AIS_REPORT_CANVAS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include <aisampler/figure.h>

#include "report/colour.h"

typedef struct ais_canvas ais_canvas;

typedef struct ais_pen {
    ais_colour colour;
    double opacity, width;
    bool dashed;
} ais_pen;

typedef struct ais_lettering {
    double size;
    bool bold;
    double anchor; /* 0: text begins at x, 0.5: is centred, 1: ends there */
    bool upward;   /* rotated by 90 degrees */
    ais_colour colour;
} ais_lettering;

/* transparent: no white ground below. PNG has two pixels a unit. */
ais_status ais_canvas_new(ais_context *context, ais_figure_format format, double width, double height, bool transparent,
                          FILE *file, ais_canvas **canvas);

/* Writes what is left and frees the canvas, even after a failure. */
ais_status ais_canvas_end(ais_context *context, ais_canvas *canvas);

void ais_canvas_lines(ais_canvas *canvas, const double *xy, size_t points, const ais_pen *pen);
void ais_canvas_area(ais_canvas *canvas, const double *xy, size_t points, const ais_pen *pen);
void ais_canvas_rectangle(ais_canvas *canvas, double x, double y, double width, double height, const ais_pen *pen);
void ais_canvas_dots(ais_canvas *canvas, const double *xy, size_t points, const ais_pen *pen);

/* nx x ny pixels, 0xAARRGGBB with premultiplied alpha, the first row on top, stretched over the rectangle. */
void ais_canvas_image(ais_canvas *canvas, double x, double y, double width, double height, const uint32_t *pixel,
                      int nx, int ny);

/* text must be clean (report/clean_text.h). (x, y) is on the baseline. */
void ais_canvas_text(ais_canvas *canvas, double x, double y, const ais_lettering *lettering, const char *text);
double ais_canvas_text_width(ais_canvas *canvas, const ais_lettering *lettering, const char *text);

void ais_canvas_clip(ais_canvas *canvas, double x, double y, double width, double height);
void ais_canvas_unclip(ais_canvas *canvas);

#endif
