/* report.html: verdict, numbers, table, figures, configuration. Written as XML that browsers read as HTML. */
#include <ctype.h>
#include <math.h>

#include "base/status.h"
#include "report/clean_text.h"
#include "report/drawn.h"
#include "report/figure.h"
#include "report/page.h"

enum { MOST_FIGURES = 16 };

/* The figures that apply, made before any of them is drawn, because making them may evaluate the target. */
typedef struct figure_list {
    int count, kind[MOST_FIGURES];
    ais_figure *figure[MOST_FIGURES];
} figure_list;

static ais_status figure_section(ais_context *context, const ais_figure *figure, int kind, FILE *file) {
    const ais_figure_entry *entry = ais_figure_builtin(kind);
    ais_status status = ais_figure_check(context, figure);
    if (status != AIS_OK) return status;
    int panels = ais_figure_panels(figure);
    bool wide = panels == 1 && figure->first->cell;
    int quarters = wide ? (int)ceil(figure->first->width / AIS_PANEL_WIDTH) : panels;
    fprintf(file, "<section class=\"w%d\">\n<h2 id=\"%s\">%s</h2>\n<p class=\"about\">%c", quarters < 4 ? quarters : 4,
            entry->name, entry->title, toupper((unsigned char)entry->summary[0]));
    ais_html_text(file, entry->summary + 1);
    fprintf(file, ".</p>\n<div class=\"%s\">\n", wide ? "alone" : "panels");
    for (int i = 0; i < panels && status == AIS_OK; i++) {
        char prefix[32];
        snprintf(prefix, sizeof prefix, "f%dp%d", kind, i);
        fputs("<figure>", file);
        status = ais_panel_inline(context, figure, i, prefix, file);
        fputs("</figure>\n", file);
    }
    fputs("</div>\n", file);
    if (*figure->note) {
        fputs("<p class=\"note\">", file);
        ais_html_text(file, figure->note);
        fputs("</p>\n", file);
    }
    fputs("</section>\n", file);
    return status;
}

static ais_status draw_list(ais_context *context, const void *data, FILE *file) {
    const figure_list *list = data;
    ais_status status = AIS_OK;
    for (int i = 0; i < list->count && status == AIS_OK; i++)
        status = figure_section(context, list->figure[i], list->kind[i], file);
    return status;
}

static ais_status list_figures(ais_context *context, const ais_figure_data *data, figure_list *list) {
    for (int kind = 0; ais_figure_builtin(kind) && list->count < MOST_FIGURES; kind++) {
        const char *name = ais_figure_builtin(kind)->name;
        if (!ais_figure_applies(name, data)) continue;
        ais_status status = ais_figure_of_draws(context, name, data, &list->figure[list->count]);
        if (status != AIS_OK) return status;
        list->kind[list->count++] = kind;
    }
    return AIS_OK;
}

ais_status ais_page_figures(ais_context *context, const ais_page *page) {
    if (!ais_figures_available()) {
        fputs("<p class=\"note\">There are no figures: this aisampler was built without cairo.</p>\n", page->file);
        return AIS_OK;
    }
    figure_list list = {0};
    fputs("<div class=\"sections\">\n", page->file);
    ais_status status = list_figures(context, page->data, &list);
    int panels = 0;
    for (int i = 0; i < list.count; i++) panels += list.figure[i]->panels;
    if (status == AIS_OK) status = ais_draw_apart(context, draw_list, &list, panels, page->file);
    for (int i = 0; i < list.count; i++) ais_figure_free(list.figure[i]);
    fputs("</div>\n", page->file);
    if (page->training && page->training->points == 0)
        fputs("<p class=\"note\">There is no training curve: the start's own fit was good enough, and no step of "
              "training "
              "was needed.</p>\n",
              page->file);
    return status;
}

static void heading(const ais_page *page, char *title, size_t size) {
    const ais_report_run *run = page->run;
    const char *target = run && run->target ? run->target : NULL, *sampler = run && run->sampler ? run->sampler : NULL;
    snprintf(title, size, "%.200s%s%.60s", target ? target : "Draws", sampler ? " by " : "", sampler ? sampler : "");
}

ais_status ais_report_html(ais_context *context, const ais_figure_data *data, const ais_report_run *run,
                           const ais_report_page *extra, FILE *file) {
    if (!data->draws || !data->diagnosis)
        return ais_fail(context, AIS_BAD_ARGUMENT, "a report needs draws and their diagnosis");
    char title[300];
    const ais_page page = {.data = data,
                           .run = run,
                           .training = extra ? extra->training : NULL,
                           .configuration = extra ? extra->configuration : NULL,
                           .file = file};
    heading(&page, title, sizeof title);
    ais_document_begin(file, title);
    ais_page_verdict(&page);
    ais_page_numbers(&page);
    ais_status status = ais_page_table(context, &page);
    if (status == AIS_OK) status = ais_page_figures(context, &page);
    if (status != AIS_OK) return status;
    ais_page_configuration(&page);
    return ais_document_end(context, file);
}
