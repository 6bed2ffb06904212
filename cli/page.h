/* Writing report.html and figures (page.c). */
#ifndef AIS_CLI_PAGE_H
#define AIS_CLI_PAGE_H

#include "cli.h"

/* DIRECTORY/NAME of draws of any origin; run may be NULL. False after a complaint. */
bool write_page(const char *directory, const char *name, const ais_figure_data *data, const ais_report_run *run);

/* The same of a run; configuration is an object of settings. */
bool write_run_page(const char *directory, const char *name, const ais_run_result *result, const ais_run_page *page,
                    const json_t *configuration);

/* svg, png or pdf; false for another word. */
bool figure_format(const char *word, ais_figure_format *format);

/* DIRECTORY/NAME; the exit code, after a complaint when it is not 0. */
int write_figure(const char *directory, const char *name, const ais_figure *figure, ais_figure_format format);

#endif
