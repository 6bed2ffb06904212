/* What single panels and triangles of them draw alike (panel.c). */
#ifndef AIS_REPORT_PANEL_H
#define AIS_REPORT_PANEL_H

#include "report/figure.h"
#include "report/layers.h"
#include "report/ticks.h"

enum { AIS_TICK_SIZE = 11, AIS_LABEL_SIZE = 12 };

extern const ais_lettering ais_tick_letters, ais_label_letters;
extern const ais_pen ais_axis_pen;

/* Entries from left to right, in as many rows as they need; the height used. Draws nothing when !draw. */
double ais_panel_legend(ais_canvas *canvas, const ais_panel *panel, double x, double y, double width, bool draw);

/* As many ticks as have room below an axis of this width. */
void ais_ticks_below(ais_canvas *canvas, const ais_axis *axis, double low, double high, double width, ais_ticks *ticks);

/* Of the labels. */
double ais_ticks_widest(ais_canvas *canvas, const ais_ticks *ticks);

/* "label (×10⁶)" */
void ais_label_with_factor(const char *label, const ais_ticks *ticks, char *text, size_t size);

/* The whole of a panel that has cells (triangle.c). */
void ais_triangle_draw(ais_canvas *canvas, const ais_panel *panel, double x, double y);

#endif
