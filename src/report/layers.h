/* Drawing what is on a panel's axes. */
#ifndef AIS_REPORT_LAYERS_H
#define AIS_REPORT_LAYERS_H

#include "report/figure.h"

/* Values to pixels. */
typedef struct ais_plane {
    double left, top, width, height;
    double x_low, x_high, y_low, y_high;
    bool x_log, y_log;
} ais_plane;

double ais_plane_x(const ais_plane *plane, double x);
double ais_plane_y(const ais_plane *plane, double y);

/* bar_series: of the whole panel. */
void ais_layer_draw(ais_canvas *canvas, const ais_layer *layer, int bar_series, const ais_plane *plane);

/* Opaque, for ais_canvas_image. */
uint32_t ais_pixel(ais_colour colour);

#endif
