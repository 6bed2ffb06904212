/* The table of parameters and that of settings. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/status.h"
#include "report/clean_text.h"
#include "report/figures.h"
#include "report/page.h"

enum { MOST_ROWS = 200 };

/* Up to the first digit that is uncertain. */
static void cell(FILE *file, double value, double error) {
    char text[48] = "–";
    if (isfinite(value)) {
        int decimals = error > 0 && isfinite(error) ? 1 - (int)floor(log10(error)) : -1;
        if (decimals >= 0 && decimals <= 7 && fabs(value) < 1e9)
            snprintf(text, sizeof text, "%.*f", decimals, value);
        else
            snprintf(text, sizeof text, "%.4g", value);
    }
    if (text[0] == '-' && strtod(text, NULL) == 0) memmove(text, text + 1, strlen(text));
    fprintf(file, "<td>%s%s</td>", text[0] == '-' ? "−" : "", text + (text[0] == '-'));
}

static void count_cell(FILE *file, double value, bool bad) {
    fprintf(file, "<td%s>", bad ? " class=\"bad\"" : "");
    if (isfinite(value))
        fprintf(file, fabs(value) < 1e7 ? "%.0f</td>" : "%.1e</td>", value);
    else
        fputs("–</td>", file);
}

static void row(FILE *file, const ais_parameter_summary *p, int chains) {
    fputs("<tr><th scope=\"row\">", file);
    ais_html_text(file, p->name);
    fputs("</th>", file);
    cell(file, p->mean, p->mcse);
    cell(file, p->sd, p->mcse);
    cell(file, p->mcse, p->mcse);
    cell(file, p->q5, p->mcse);
    cell(file, p->q50, p->mcse);
    cell(file, p->q95, p->mcse);
    count_cell(file, p->ess_bulk, !(p->ess_bulk >= 100.0 * chains)); /* the same limits as the warnings' */
    count_cell(file, p->ess_tail, !(p->ess_tail >= 100.0 * chains));
    fprintf(file, "<td%s>", !(p->rhat <= AIS_MOST_RHAT) ? " class=\"bad\"" : "");
    fprintf(file, isnan(p->rhat) ? "–" : p->rhat < 1000 ? "%.4f" : "%.1e", p->rhat);
    fputs("</td></tr>\n", file);
}

static int upward(const void *a, const void *b) { return *(const int *)a - *(const int *)b; }

ais_status ais_page_table(ais_context *context, const ais_page *page) {
    const ais_diagnosis *diagnosis = page->data->diagnosis;
    FILE *file = page->file;
    int *shown = ais_allocate((size_t)MOST_ROWS * sizeof *shown);
    if (!shown) return ais_fail_memory(context, "a table", MOST_ROWS * sizeof *shown);
    int rows = ais_worst_parameters(page->data, MOST_ROWS, MOST_ROWS, shown);
    qsort(shown, (size_t)rows, sizeof *shown, upward);
    fputs("<h2>Parameters</h2>\n", file);
    if (rows < diagnosis->dim)
        fprintf(file, "<p class=\"about\">The %d worst of %d parameters; summary.json has all.</p>\n", rows,
                diagnosis->dim);
    fputs("<div class=\"box\"><table>\n<thead><tr><th scope=\"col\">name</th>", file);
    static const char *const head[] = {"mean", "sd", "mcse", "5%", "50%", "95%", "ESS bulk", "ESS tail", "R-hat"};
    for (size_t i = 0; i < sizeof head / sizeof *head; i++) fprintf(file, "<th scope=\"col\">%s</th>", head[i]);
    fputs("</tr></thead>\n<tbody>\n", file);
    for (int i = 0; i < rows; i++) row(file, &diagnosis->parameter[shown[i]], diagnosis->chains);
    fputs("</tbody></table></div>\n", file);
    free(shown);
    return AIS_OK;
}

/* "key = value" as a row. */
static void setting(FILE *file, const char *line) {
    const char *equals = strstr(line, " = ");
    char key[256];
    snprintf(key, sizeof key, "%.*s", equals ? (int)(equals - line) : (int)strlen(line), line);
    fputs("<tr><th scope=\"row\">", file);
    ais_html_text(file, key);
    fputs("</th><td>", file);
    ais_html_text(file, equals ? equals + 3 : "");
    fputs("</td></tr>\n", file);
}

void ais_page_configuration(const ais_page *page) {
    char line[320];
    fputs("<h2>Configuration</h2>\n<div class=\"box\"><table class=\"settings\"><tbody>\n", page->file);
    snprintf(line, sizeof line, "aisampler = %s", ais_version());
    setting(page->file, line);
    if (!page->configuration && page->run) {
        snprintf(line, sizeof line, "target = %.256s", page->run->target ? page->run->target : "not named");
        setting(page->file, line);
    }
    for (const char *const *at = page->configuration; at && *at; at++) setting(page->file, *at);
    fputs("</tbody></table></div>\n", page->file);
    if (page->configuration)
        fputs("<p class=\"note\">What is not listed was left at its default or tuned; run.json has every value.</p>\n",
              page->file);
}
