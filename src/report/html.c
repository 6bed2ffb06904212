/* report.html: verdict, numbers, table, figures, configuration. Written as XML that browsers read as HTML. */
#include <ctype.h>
#include <math.h>

#include "base/status.h"
#include "report/figure.h"
#include "report/page.h"
#include "report/words.h"

static ais_status figure_section(ais_context *context, const ais_page *page, int kind) {
    const ais_figure_entry *entry = ais_figure_builtin(kind);
    ais_figure *figure;
    ais_status status = ais_figure_of_draws(context, entry->name, page->data, &figure);
    if (status != AIS_OK) return status;
    int panels = ais_figure_panels(figure);
    bool wide = panels == 1 && figure->first->cell;
    int quarters = wide ? (int)ceil(figure->first->width / AIS_PANEL_WIDTH) : panels;
    fprintf(page->file, "<section class=\"w%d\">\n<h2 id=\"%s\">%s</h2>\n<p class=\"about\">%c",
            quarters < 4 ? quarters : 4, entry->name, entry->title, toupper((unsigned char)entry->summary[0]));
    ais_html_text(page->file, entry->summary + 1);
    fprintf(page->file, ".</p>\n<div class=\"%s\">\n", wide ? "alone" : "panels");
    for (int i = 0; i < panels && status == AIS_OK; i++) {
        char prefix[32];
        snprintf(prefix, sizeof prefix, "f%dp%d", kind, i);
        fputs("<figure>", page->file);
        status = ais_panel_inline(context, figure, i, prefix, page->file);
        fputs("</figure>\n", page->file);
    }
    fputs("</div>\n", page->file);
    if (*figure->note) {
        fputs("<p class=\"note\">", page->file);
        ais_html_text(page->file, figure->note);
        fputs("</p>\n", page->file);
    }
    fputs("</section>\n", page->file);
    ais_figure_free(figure);
    return status;
}

ais_status ais_page_figures(ais_context *context, const ais_page *page) {
    ais_status status = AIS_OK;
    if (!ais_figures_available()) {
        fputs("<p class=\"note\">There are no figures: this aisampler was built without cairo.</p>\n", page->file);
        return AIS_OK;
    }
    fputs("<div class=\"sections\">\n", page->file);
    for (int kind = 0; ais_figure_builtin(kind) && status == AIS_OK; kind++)
        if (ais_figure_applies(ais_figure_builtin(kind)->name, page->data))
            status = figure_section(context, page, kind);
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
