/* Whole figures into files, and single panels into pages. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory_file.h"
#include "base/status.h"
#include "report/clean_text.h"
#include "report/drawn.h"
#include "report/figure.h"

enum { MARGIN = 12, BETWEEN = 14, TITLE_HEIGHT = 28, NOTE_ROW = 16 };

static int columns_of(const ais_figure *figure) {
    int n = figure->panels;
    if (figure->columns > 0) return figure->columns < n ? figure->columns : n > 0 ? n : 1;
    return n <= 1 ? 1 : n <= 4 ? 2 : n <= 9 ? 3 : 4;
}

/* Text broken at spaces into lines of this width. */
static void paragraph(ais_canvas *canvas, const ais_lettering *letters, double x, double y, double width,
                      const char *text) {
    char line[512] = "", longer[1024];
    int lines = 0;
    for (const char *at = text; *at;) {
        int length = (int)strcspn(at, " ");
        snprintf(longer, sizeof longer, "%.400s%s%.*s", line, *line ? " " : "", length < 400 ? length : 400, at);
        if (*line && ais_canvas_text_width(canvas, letters, longer) > width) {
            ais_canvas_text(canvas, x, y + lines * NOTE_ROW, letters, line);
            lines++;
            *line = 0;
            continue;
        }
        snprintf(line, sizeof line, "%.511s", longer);
        at += length;
        at += strspn(at, " ");
    }
    ais_canvas_text(canvas, x, y + lines * NOTE_ROW, letters, line);
}

/* Height of the row that starts at panel; its end goes to *next. */
static double row_height(const ais_panel *panel, int columns, const ais_panel **next) {
    double height = 0;
    for (int c = 0; c < columns && panel; c++, panel = panel->next) height = fmax(height, panel->height);
    *next = panel;
    return height;
}

/* Of a column: that of the widest panel. */
static double column_width(const ais_figure *figure) {
    double width = AIS_PANEL_WIDTH;
    for (const ais_panel *at = figure->first; at; at = at->next) width = fmax(width, at->width);
    return width;
}

ais_status ais_figure_check(ais_context *context, const ais_figure *figure) {
    if (figure->failed) return ais_fail(context, AIS_NO_MEMORY, "out of memory for a figure");
    if (figure->panels == 0) return ais_fail(context, AIS_BAD_ARGUMENT, "the figure is empty: add a panel first");
    return AIS_OK;
}

/* What is to be drawn, how large, and where the first row of panels begins. */
typedef struct sheet {
    const ais_figure *figure;
    ais_figure_format format;
    int columns;
    double column, width, height, top;
} sheet;

static ais_status draw_sheet(ais_context *context, const void *data, FILE *file) {
    const sheet *this = data;
    const ais_figure *figure = this->figure;
    static const ais_lettering title = {.size = 16, .bold = true, .colour = {0.2, 0.2, 0.2}};
    static const ais_lettering small = {.size = 11, .colour = {0.2, 0.2, 0.2}};
    ais_canvas *canvas;
    ais_status status = ais_canvas_new(context, this->format, this->width, this->height, false, file, &canvas);
    if (status != AIS_OK) return status;
    char fitted[512];
    ais_canvas_fit(canvas, &title, this->width - 2 * MARGIN, figure->title, fitted, sizeof fitted);
    ais_canvas_text(canvas, MARGIN + 5, MARGIN + 16, &title, fitted);
    double y = this->top;
    for (const ais_panel *at = figure->first; at;) {
        const ais_panel *next;
        double row = row_height(at, this->columns, &next);
        for (int c = 0; at != next; c++, at = at->next)
            ais_panel_draw(canvas, at, MARGIN + c * (this->column + BETWEEN), y);
        y += row + BETWEEN;
    }
    paragraph(canvas, &small, MARGIN + 5, y + 6, this->width - 2 * MARGIN - 10, figure->note);
    return ais_canvas_end(context, canvas);
}

ais_status ais_figure_write(ais_context *context, const ais_figure *figure, ais_figure_format format, FILE *file) {
    ais_status status = ais_figure_check(context, figure);
    if (status != AIS_OK) return status;
    int columns = columns_of(figure);
    double column = column_width(figure), width = 2 * MARGIN + columns * column + (columns - 1) * BETWEEN;
    double top = MARGIN + (*figure->title ? TITLE_HEIGHT : 0), height = top + MARGIN;
    for (const ais_panel *at = figure->first; at;) height += row_height(at, columns, &at) + BETWEEN;
    /* How tall the note is, only a canvas can tell: a guess that is never too low, 8 units a letter. */
    int guess = (int)ceil((double)strlen(figure->note) * 8 / (width - 2 * MARGIN)) + (*figure->note != 0);
    height += guess * NOTE_ROW;
    if (format == AIS_PNG && (width > 15000 || height > 15000)) /* cairo's images end at 32767 pixels */
        return ais_fail(context, AIS_BAD_ARGUMENT,
                        "%d panels are too many for one PNG: choose fewer parameters, or SVG or PDF", figure->panels);
    const sheet whole = {figure, format, columns, column, width, height, top};
    if (!ais_figures_available()) return draw_sheet(context, &whole, file); /* which says so */
    status = ais_draw_apart(context, draw_sheet, &whole, figure->panels, file);
    if (status == AIS_OK && (fflush(file) != 0 || ferror(file)))
        return ais_fail(context, AIS_FILE_ERROR, "the figure cannot be written: is the disk full?");
    return status;
}

/* ---- one panel in a page ----------------------------------------------------------------------------------- */

/* What cairo writes, and what a page needs instead. It writes a space after the comma from 1.18 on. */
static const struct {
    const char *from, *to;
    bool prefixed;
} change[] = {
    {"rgb(20%,20%,20%)", "currentColor", false},
    {"rgb(20%, 20%, 20%)", "currentColor", false},
    {"id=\"", "id=\"", true},
    {"href=\"#", "href=\"#", true},
    {"url(#", "url(#", true},
};

static void copy_changed(const char *svg, const char *prefix, FILE *file) {
    while (*svg) {
        size_t plain = strcspn(svg, "riuh"); /* the first letters of what is changed */
        fwrite(svg, 1, plain, file);
        svg += plain;
        size_t i = 0, count = sizeof change / sizeof *change;
        while (i < count && strncmp(svg, change[i].from, strlen(change[i].from)) != 0) i++;
        if (i < count) {
            fprintf(file, "%s%s", change[i].to, change[i].prefixed ? prefix : "");
            svg += strlen(change[i].from);
        } else if (*svg) {
            fputc(*svg++, file);
        }
    }
}

static void write_element(const ais_panel *panel, const char *svg, const char *prefix, FILE *file) {
    const char *root = strstr(svg, "<svg"), *content = root ? strchr(root, '>') : NULL;
    if (!content) return;
    fprintf(file,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" xmlns:xlink=\"http://www.w3.org/1999/xlink\" "
            "viewBox=\"0 0 %.0f %.0f\" width=\"%.0f\" height=\"%.0f\" role=\"img\"",
            panel->width, panel->height, panel->width, panel->height);
    if (panel->cell) fprintf(file, " style=\"max-width:%.0fpx\"", 1.2 * panel->width); /* wider than the others */
    fputs("><title>", file);
    ais_html_text(file, panel->title);
    if (*panel->y.label || *panel->x.label) {
        fputs(": ", file);
        ais_html_text(file, panel->y.label);
        fputs(" against ", file);
        ais_html_text(file, panel->x.label);
    }
    fputs("</title>", file);
    copy_changed(content + 1, prefix, file);
}

ais_status ais_panel_inline(ais_context *context, const ais_figure *figure, int index, const char *prefix, FILE *file) {
    ais_status status = ais_figure_check(context, figure);
    if (status != AIS_OK) return status;
    const ais_panel *panel = figure->first;
    while (index-- > 0 && panel) panel = panel->next;
    ais_memory_file memory;
    if (!panel || !ais_memory_open(&memory)) return ais_fail(context, AIS_NO_MEMORY, "out of memory for a figure");
    ais_canvas *canvas;
    status = ais_canvas_new(context, AIS_SVG, panel->width, panel->height, true, memory.file, &canvas);
    if (status == AIS_OK) {
        ais_panel_draw(canvas, panel, 0, 0);
        status = ais_canvas_end(context, canvas);
    }
    char *svg = ais_memory_close(&memory, NULL);
    if (status == AIS_OK && !svg) status = ais_fail(context, AIS_NO_MEMORY, "out of memory for a figure");
    if (status == AIS_OK) write_element(panel, svg, prefix, file);
    free(svg);
    return status;
}
