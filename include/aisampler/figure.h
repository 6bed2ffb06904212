/* figure.h: figures, as SVG, PNG or PDF.
 *
 * A figure is a grid of panels; a panel is a pair of axes with what was added to them. Everything is copied when it is
 * added, and nothing is drawn before ais_figure_write:
 *
 *     ais_figure *figure;
 *     ais_figure_new(&context, "Speed", 2, &figure);
 *     ais_panel *panel = ais_figure_panel(figure, &(ais_panel_options){.title = "one core",
 *         .x = {.label = "chains", .log = true}, .y = {.label = "steps per second", .log = true}});
 *     ais_panel_line(panel, chains, rate, 6, &(ais_style){.label = "henon"});
 *     ais_panel_line(panel, chains, other, 6, &(ais_style){.label = "spline", .colour = 1});
 *     ais_figure_write(&context, figure, AIS_SVG, file);
 *     ais_figure_free(figure);
 *
 * Functions that add to a figure return nothing: if memory ran out, ais_figure_write says so. Values that are not
 * finite are left out, and interrupt a line; on a logarithmic axis, so do values that are not positive. Text is UTF-8;
 * other bytes are shown as a replacement character. Text that is too long for its place is cut with an ellipsis.
 *
 * Do not add a million points: bin or thin first (ais_panel_heat, ais_panel_steps).
 *
 * Drawing needs cairo when the library is built. Without it figures can be put together but not written:
 * ais_figure_write then fails and says so.
 */
#ifndef AISAMPLER_FIGURE_H
#define AISAMPLER_FIGURE_H

#include <stdbool.h>
#include <stdio.h>

#include "diagnostics.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct ais_figure ais_figure;
typedef struct ais_panel ais_panel; /* owned by its figure */

typedef enum ais_figure_format { AIS_SVG, AIS_PNG, AIS_PDF } ais_figure_format;

/* Whether the library was built with cairo. */
bool ais_figures_available(void);

/* columns: panels side by side; 0: chosen from their number. title may be NULL. */
ais_status ais_figure_new(ais_context *context, const char *title, int columns, ais_figure **figure);
void ais_figure_free(ais_figure *figure); /* NULL is allowed */

/* One line of small text below the panels; long text is broken into lines. Replaces an earlier note. */
void ais_figure_note(ais_figure *figure, const char *note);

int ais_figure_panels(const ais_figure *figure);

/* Draws into a file that is open for writing. */
ais_status ais_figure_write(ais_context *context, const ais_figure *figure, ais_figure_format format, FILE *file);

/* ---- panels -------------------------------------------------------------------------------------------- */

typedef struct ais_axis {
    const char *label; /* with the unit, e.g. "seconds"; or NULL */
    double low, high;  /* if equal (such as 0 and 0): chosen from what is drawn */
    bool log;
    bool whole;               /* ticks at whole numbers only */
    const char *const *names; /* name_count names for the places 0, 1, ... instead of ticks; or NULL */
    int name_count;
} ais_axis;

typedef struct ais_panel_options {
    const char *title; /* or NULL */
    ais_axis x, y;
    double height; /* in units in which a panel is 340 wide; 0: 240 */
} ais_panel_options;

/* Panels fill the figure row by row. NULL if memory is out; all functions below accept NULL. */
ais_panel *ais_figure_panel(ais_figure *figure, const ais_panel_options *options);

/* Colours 0 to 5 can be distinguished by colour-blind readers, too. AIS_INK is the colour of the text: black on white,
 * white on a dark page. */
enum { AIS_INK = -1, AIS_COLOURS = 6 };

/* A colour for series i of n: from the palette above, or if that has too few, shades of one scale. */
int ais_series_colour(int i, int n);

typedef struct ais_style {
    const char *label; /* in the legend; NULL: not in it */
    int colour;
    double width;   /* of lines and points; 0: 1.5 and 2 */
    double opacity; /* 0: 1 */
    bool dashed;
} ais_style;

void ais_panel_line(ais_panel *panel, const double *x, const double *y, size_t n, const ais_style *style);

/* A histogram's outline, filled lightly: bins heights between bins + 1 edges. */
void ais_panel_steps(ais_panel *panel, const double *edges, const double *heights, int bins, bool filled,
                     const ais_style *style);

/* The area between low and high, e.g. a tolerance. */
void ais_panel_band(ais_panel *panel, const double *x, const double *low, const double *high, size_t n,
                    const ais_style *style);

void ais_panel_points(ais_panel *panel, const double *x, const double *y, size_t n, const ais_style *style);

/* Bars at the places 0 to n - 1 of an axis with names; several series stand side by side. */
void ais_panel_bars(ais_panel *panel, const double *height, int n, const ais_style *style);

/* A line across the whole panel, at x (vertical) or y. */
void ais_panel_rule(ais_panel *panel, bool vertical, double at, const ais_style *style);

/* The properties of a heat map besides its values. */
typedef struct ais_heat {
    const char *label; /* of the colour scale; NULL: no scale is shown */
    double low, high;  /* values at its ends; equal: from the values */
    bool numbers;      /* written into the cells, where there is room */
    bool tint;         /* shades of one colour instead, from none at the low end: as a background for lines */
} ais_heat;

/* Cells of a perceptually uniform colour scale; value[iy * nx + ix]. Cells that are not finite are left empty. */
void ais_panel_heat(ais_panel *panel, const ais_grid *grid, const double *value, const ais_heat *heat);

/* Lines where the values at the cells' centres, interpolated, are at `level`. */
void ais_panel_contour(ais_panel *panel, const ais_grid *grid, const double *value, double level,
                       const ais_style *style);

/* ---- for heat maps and contours -------------------------------------------------------------------------- */

/* A function of the plane at the cells' centres. */
void ais_grid_evaluate(const ais_grid *grid, double (*function)(double x, double y, void *data), void *data,
                       double *value);

/* The value above which this share of the sum lies: the level of a contour that holds this share of a density's mass.
 * NAN if the values have no positive sum or memory is out. */
double ais_grid_level(const ais_grid *grid, const double *value, double share);

#ifdef __cplusplus
}
#endif
#endif
