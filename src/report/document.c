/* Pages of tables and figures in the style of report.html. */
#include "base/status.h"
#include "report/clean_text.h"
#include "report/drawn.h"
#include "report/figure.h"
#include "report/page.h"

static void element(FILE *file, const char *open, const char *text, const char *close) {
    fputs(open, file);
    ais_html_text(file, text);
    fputs(close, file);
}

void ais_document_begin(FILE *file, const char *title) {
    const ais_page page = {.file = file};
    ais_page_begin(&page, title);
    element(file, "<main>\n<h1>", title, "</h1>\n");
}

void ais_document_heading(FILE *file, const char *text) { element(file, "<h2>", text, "</h2>\n"); }

void ais_document_paragraph(FILE *file, const char *text) { element(file, "<p>", text, "</p>\n"); }

void ais_document_note(FILE *file, const char *text) { element(file, "<p class=\"note\">", text, "</p>\n"); }

void ais_document_table(FILE *file, const char *const *heading, const char *const *cell, int rows, int columns) {
    fputs("<div class=\"box\"><table>\n<thead><tr>", file);
    for (int k = 0; k < columns; k++) element(file, "<th scope=\"col\">", heading[k], "</th>");
    fputs("</tr></thead>\n<tbody>\n", file);
    for (int i = 0; i < rows; i++, cell += columns) {
        element(file, "<tr><th scope=\"row\">", cell[0], "</th>");
        for (int k = 1; k < columns; k++) element(file, "<td>", cell[k], "</td>");
        fputs("</tr>\n", file);
    }
    fputs("</tbody></table></div>\n", file);
}

/* A figure on a page. */
typedef struct placed {
    const ais_figure *figure;
    const char *prefix;
} placed;

static ais_status draw_panels(ais_context *context, const void *data, FILE *file) {
    const placed *this = data;
    ais_status status = ais_figure_check(context, this->figure);
    for (int i = 0; i < ais_figure_panels(this->figure) && status == AIS_OK; i++) {
        char name[64];
        snprintf(name, sizeof name, "%.40sp%d", this->prefix, i);
        fputs("<figure>", file);
        status = ais_panel_inline(context, this->figure, i, name, file);
        fputs("</figure>\n", file);
    }
    return status;
}

ais_status ais_document_figure(ais_context *context, FILE *file, const ais_figure *figure, const char *prefix) {
    if (!ais_figures_available()) {
        ais_document_note(file, "There is no figure here: this aisampler was built without cairo.");
        return AIS_OK;
    }
    if (figure->columns > 0) /* at most this many, fewer where the page is narrow */
        fprintf(file, "<div class=\"panels rows\" style=\"--columns:%d;--paper-columns:%d\">\n", figure->columns,
                figure->columns == 2 || figure->columns == 4 ? figure->columns : 3);
    else
        fputs("<div class=\"panels\">\n", file);
    const placed this = {figure, prefix};
    ais_status status = ais_draw_apart(context, draw_panels, &this, figure->panels, file);
    fputs("</div>\n", file);
    if (*figure->note) ais_document_note(file, figure->note);
    return status;
}

ais_status ais_document_end(ais_context *context, FILE *file) {
    fprintf(file,
            "</main>\n<footer>Written by aisampler %s. What the numbers mean: docs/diagnostics.md.</footer>\n"
            "</body>\n</html>\n",
            ais_version());
    if (fflush(file) != 0 || ferror(file))
        return ais_fail(context, AIS_FILE_ERROR, "the page cannot be written: is the disk full?");
    return AIS_OK;
}
