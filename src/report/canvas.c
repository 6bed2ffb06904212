#include "report/canvas.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/constants.h"
#include "base/status.h"
#include "report/clean_text.h"

#ifdef AIS_HAVE_CAIRO

#include <cairo-pdf.h>
#include <cairo-svg.h>
#include <cairo.h>

struct ais_canvas {
    cairo_surface_t *surface;
    cairo_t *cairo;
    FILE *file;
    ais_figure_format format;
};

bool ais_figures_available(void) { return true; }

static cairo_status_t write_bytes(void *file, const unsigned char *data, unsigned int length) {
    return fwrite(data, 1, length, file) == length ? CAIRO_STATUS_SUCCESS : CAIRO_STATUS_WRITE_ERROR;
}

static ais_status status_of(ais_context *context, cairo_status_t status) {
    if (status == CAIRO_STATUS_SUCCESS) return AIS_OK;
    if (status == CAIRO_STATUS_NO_MEMORY) return ais_fail(context, AIS_NO_MEMORY, "out of memory for a figure");
    if (status == CAIRO_STATUS_WRITE_ERROR)
        return ais_fail(context, AIS_FILE_ERROR, "the figure cannot be written: is the disk full?");
    return ais_fail(context, AIS_FILE_ERROR, "the figure cannot be drawn: %s (is a font installed?)",
                    cairo_status_to_string(status));
}

ais_status ais_canvas_new(ais_context *context, ais_figure_format format, double width, double height, bool transparent,
                          FILE *file, ais_canvas **canvas_out) {
    static const double pixels = 2; /* a unit of a PNG */
    ais_canvas *canvas = ais_allocate(sizeof *canvas);
    *canvas_out = NULL;
    if (!canvas) return ais_fail_memory(context, "a figure", sizeof *canvas);
    canvas->file = file;
    canvas->format = format;
    if (format == AIS_SVG) {
        canvas->surface = cairo_svg_surface_create_for_stream(write_bytes, file, width, height);
        cairo_svg_surface_set_document_unit(canvas->surface, CAIRO_SVG_UNIT_PX);
    } else if (format == AIS_PDF) {
        canvas->surface = cairo_pdf_surface_create_for_stream(write_bytes, file, width, height);
    } else {
        canvas->surface =
            cairo_image_surface_create(CAIRO_FORMAT_ARGB32, (int)ceil(width * pixels), (int)ceil(height * pixels));
    }
    canvas->cairo = cairo_create(canvas->surface);
    if (format == AIS_PNG) cairo_scale(canvas->cairo, pixels, pixels);
    if (!transparent) {
        cairo_set_source_rgb(canvas->cairo, 1, 1, 1);
        cairo_paint(canvas->cairo);
    }
    cairo_set_line_join(canvas->cairo, CAIRO_LINE_JOIN_ROUND);
    *canvas_out = canvas;
    return AIS_OK;
}

ais_status ais_canvas_end(ais_context *context, ais_canvas *canvas) {
    cairo_status_t status = cairo_status(canvas->cairo);
    if (status == CAIRO_STATUS_SUCCESS && canvas->format == AIS_PNG)
        status = cairo_surface_write_to_png_stream(canvas->surface, write_bytes, canvas->file);
    cairo_destroy(canvas->cairo);
    cairo_surface_finish(canvas->surface);
    if (status == CAIRO_STATUS_SUCCESS) status = cairo_surface_status(canvas->surface);
    cairo_surface_destroy(canvas->surface);
    free(canvas);
    return status_of(context, status);
}

static void take_pen(cairo_t *cairo, const ais_pen *pen) {
    static const double dashes[] = {5, 3};
    cairo_set_source_rgba(cairo, pen->colour.red, pen->colour.green, pen->colour.blue, pen->opacity);
    cairo_set_line_width(cairo, pen->width);
    cairo_set_dash(cairo, dashes, pen->dashed ? 2 : 0, 0);
}

static void follow(cairo_t *cairo, const double *xy, size_t points) {
    bool drawing = false;
    for (size_t i = 0; i < points; i++) {
        bool there = isfinite(xy[2 * i]) && isfinite(xy[2 * i + 1]);
        if (there && drawing) cairo_line_to(cairo, xy[2 * i], xy[2 * i + 1]);
        if (there && !drawing) cairo_move_to(cairo, xy[2 * i], xy[2 * i + 1]);
        drawing = there;
    }
}

void ais_canvas_lines(ais_canvas *canvas, const double *xy, size_t points, const ais_pen *pen) {
    take_pen(canvas->cairo, pen);
    follow(canvas->cairo, xy, points);
    cairo_stroke(canvas->cairo);
}

void ais_canvas_area(ais_canvas *canvas, const double *xy, size_t points, const ais_pen *pen) {
    take_pen(canvas->cairo, pen);
    follow(canvas->cairo, xy, points);
    cairo_fill(canvas->cairo);
}

void ais_canvas_rectangle(ais_canvas *canvas, double x, double y, double width, double height, const ais_pen *pen) {
    take_pen(canvas->cairo, pen);
    cairo_rectangle(canvas->cairo, x, y, width, height);
    cairo_fill(canvas->cairo);
}

/* A line of no length with round ends is a dot, and a tenth of the bytes of a circle. */
void ais_canvas_dots(ais_canvas *canvas, const double *xy, size_t points, const ais_pen *pen) {
    take_pen(canvas->cairo, pen);
    cairo_set_line_cap(canvas->cairo, CAIRO_LINE_CAP_ROUND);
    for (size_t i = 0; i < points; i++) {
        if (!isfinite(xy[2 * i]) || !isfinite(xy[2 * i + 1])) continue;
        cairo_move_to(canvas->cairo, xy[2 * i], xy[2 * i + 1]);
        cairo_close_path(canvas->cairo);
    }
    cairo_stroke(canvas->cairo);
    cairo_set_line_cap(canvas->cairo, CAIRO_LINE_CAP_BUTT);
}

void ais_canvas_image(ais_canvas *canvas, double x, double y, double width, double height, const uint32_t *pixel,
                      int nx, int ny) {
    cairo_surface_t *image = cairo_image_surface_create(CAIRO_FORMAT_ARGB32, nx, ny);
    unsigned char *to = cairo_image_surface_get_data(image);
    if (to) {
        size_t stride = (size_t)cairo_image_surface_get_stride(image), row = (size_t)nx * sizeof *pixel;
        for (size_t i = 0; i < (size_t)ny; i++) memcpy(to + i * stride, pixel + i * (size_t)nx, row);
        cairo_surface_mark_dirty(image);
        cairo_save(canvas->cairo);
        cairo_rectangle(canvas->cairo, x, y, width, height);
        cairo_clip(canvas->cairo);
        cairo_translate(canvas->cairo, x, y);
        cairo_scale(canvas->cairo, width / nx, height / ny);
        cairo_set_source_surface(canvas->cairo, image, 0, 0);
        cairo_pattern_set_extend(cairo_get_source(canvas->cairo), CAIRO_EXTEND_PAD);
        cairo_paint(canvas->cairo);
        cairo_restore(canvas->cairo);
    }
    cairo_surface_destroy(image);
}

/* Where fontconfig finds no configuration, as in an empty container, it would print an error. */
static bool fonts_are_known(void) {
    const char *file = getenv("FONTCONFIG_FILE");
    if (file && file[0] == '/') return access(file, R_OK) == 0;
    return file || getenv("FONTCONFIG_PATH") || access(AIS_FONTS "/fonts.conf", R_OK) == 0;
}

/* Takes the font and writes the text as that font can show it: cairo's own, which stands in where there is no other
 * (its name is @cairo:), knows ASCII alone. */
enum { TEXT_BYTES = 512 };
static void take_font(cairo_t *cairo, const ais_lettering *lettering, const char *text, char shown[TEXT_BYTES]) {
    cairo_select_font_face(cairo, fonts_are_known() ? "sans-serif" : "@cairo:", CAIRO_FONT_SLANT_NORMAL,
                           lettering->bold ? CAIRO_FONT_WEIGHT_BOLD : CAIRO_FONT_WEIGHT_NORMAL);
    cairo_set_font_size(cairo, lettering->size);
    if (cairo_scaled_font_get_type(cairo_get_scaled_font(cairo)) == CAIRO_FONT_TYPE_USER)
        ais_ascii_text(text, shown, TEXT_BYTES);
    else
        ais_clean_text(text, shown, TEXT_BYTES);
}

static double take_width(ais_canvas *canvas, const ais_lettering *lettering, const char *text, char shown[TEXT_BYTES]) {
    cairo_text_extents_t extents;
    take_font(canvas->cairo, lettering, text, shown);
    cairo_text_extents(canvas->cairo, shown, &extents);
    return extents.x_advance;
}

double ais_canvas_text_width(ais_canvas *canvas, const ais_lettering *lettering, const char *text) {
    char shown[TEXT_BYTES];
    return take_width(canvas, lettering, text, shown);
}

void ais_canvas_text(ais_canvas *canvas, double x, double y, const ais_lettering *lettering, const char *text) {
    char shown[TEXT_BYTES];
    double width = take_width(canvas, lettering, text, shown);
    const ais_pen pen = {.colour = lettering->colour, .opacity = 1, .width = 1};
    take_pen(canvas->cairo, &pen);
    cairo_save(canvas->cairo);
    cairo_translate(canvas->cairo, x, y);
    if (lettering->upward) cairo_rotate(canvas->cairo, -AIS_PI / 2);
    cairo_move_to(canvas->cairo, -lettering->anchor * width, 0);
    cairo_show_text(canvas->cairo, shown);
    cairo_restore(canvas->cairo);
    cairo_new_path(canvas->cairo);
}

void ais_canvas_clip(ais_canvas *canvas, double x, double y, double width, double height) {
    cairo_save(canvas->cairo);
    cairo_rectangle(canvas->cairo, x, y, width, height);
    cairo_clip(canvas->cairo);
}

void ais_canvas_unclip(ais_canvas *canvas) { cairo_restore(canvas->cairo); }

#else /* no cairo: nothing gets as far as a canvas */

struct ais_canvas {
    int unused;
};

bool ais_figures_available(void) { return false; }

ais_status ais_canvas_new(ais_context *context, ais_figure_format format, double width, double height, bool transparent,
                          FILE *file, ais_canvas **canvas) {
    (void)format, (void)width, (void)height, (void)transparent, (void)file;
    *canvas = NULL;
    return ais_fail(context, AIS_BAD_ARGUMENT,
                    "aisampler was built without cairo and cannot draw figures: install libcairo2-dev and build again");
}

ais_status ais_canvas_end(ais_context *context, ais_canvas *canvas) {
    (void)context, (void)canvas;
    return AIS_OK;
}

void ais_canvas_lines(ais_canvas *canvas, const double *xy, size_t points, const ais_pen *pen) {
    (void)canvas, (void)xy, (void)points, (void)pen;
}

void ais_canvas_area(ais_canvas *canvas, const double *xy, size_t points, const ais_pen *pen) {
    (void)canvas, (void)xy, (void)points, (void)pen;
}

void ais_canvas_rectangle(ais_canvas *canvas, double x, double y, double width, double height, const ais_pen *pen) {
    (void)canvas, (void)x, (void)y, (void)width, (void)height, (void)pen;
}

void ais_canvas_dots(ais_canvas *canvas, const double *xy, size_t points, const ais_pen *pen) {
    (void)canvas, (void)xy, (void)points, (void)pen;
}

void ais_canvas_image(ais_canvas *canvas, double x, double y, double width, double height, const uint32_t *pixel,
                      int nx, int ny) {
    (void)canvas, (void)x, (void)y, (void)width, (void)height, (void)pixel, (void)nx, (void)ny;
}

void ais_canvas_text(ais_canvas *canvas, double x, double y, const ais_lettering *lettering, const char *text) {
    (void)canvas, (void)x, (void)y, (void)lettering, (void)text;
}

double ais_canvas_text_width(ais_canvas *canvas, const ais_lettering *lettering, const char *text) {
    (void)canvas, (void)lettering, (void)text;
    return 0;
}

void ais_canvas_clip(ais_canvas *canvas, double x, double y, double width, double height) {
    (void)canvas, (void)x, (void)y, (void)width, (void)height;
}

void ais_canvas_unclip(ais_canvas *canvas) { (void)canvas; }

#endif
