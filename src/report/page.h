/* The parts of report.html. Every function writes whole elements; text is escaped. */
#ifndef AIS_REPORT_PAGE_H
#define AIS_REPORT_PAGE_H

#include <aisampler/report.h>

/* What a page is made of; run, training and configuration may be NULL. */
typedef struct ais_page {
    const ais_figure_data *data;
    const ais_report_run *run;
    const ais_training *training;
    const char *const *configuration;
    FILE *file;
} ais_page;

/* From the first byte to the opened body: styles for screens of any width, light and dark, and for paper. */
void ais_page_begin(const ais_page *page, const char *title);

void ais_page_verdict(const ais_page *page);
void ais_page_numbers(const ais_page *page);
ais_status ais_page_table(ais_context *context, const ais_page *page);
ais_status ais_page_figures(ais_context *context, const ais_page *page);
void ais_page_configuration(const ais_page *page);

#endif
