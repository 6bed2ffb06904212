/* report.h: a diagnosis as text, JSON, figures and a page.
 *
 *     ais_figure_data data = {.draws = draws, .diagnosis = diagnosis, .target = target};
 *     ais_report_html(&context, &data, &run, NULL, file);             a page with everything that applies
 *     ais_figure_of_draws(&context, "trace", &data, &figure);         or one figure, for ais_figure_write
 */
#ifndef AISAMPLER_REPORT_H
#define AISAMPLER_REPORT_H

#include <stdio.h>

#include "diagnostics.h"
#include "figure.h"
#include "sampler.h"
#include "trainer.h"

#ifdef __cplusplus
extern "C" {
#endif

/* How often the density was evaluated, and what for. */
typedef struct ais_evaluations {
    long densities, gradients; /* all together; a gradient comes with its density */
    long start;    /* of both: the check of the target, the start of learning, the starting points of chains */
    long learning; /* after the start */
    long drawing;  /* warm-up included */
    long judging;  /* the draws (ais_verify) */
} ais_evaluations;

/* The sum over a check, a training and a run of the sampler, any of which may be NULL, and the densities evaluated for
 * judging. */
ais_evaluations ais_evaluations_of(const ais_check *check, const ais_training *training,
                                   const ais_sample_result *result, long judging);

/* What a report has besides the diagnosis. Fields that do not apply are NULL or NAN. */
typedef struct ais_report_run {
    const char *target;
    const char *sampler;
    uint64_t seed;
    double train_seconds; /* 0: nothing was trained; NAN: not known */
    const ais_sample_result *result;
    ais_evaluations evaluations;  /* shown if there is a result */
    const ais_training *training; /* of the kernel, if trained in this run: its log Z is shown */
    const char *about;            /* the target's: what it is, priors and bounds in words */
    int columns;                  /* of the text, 40 to 80; 0: 80 */
} ais_report_run;

/* The table of parameters, the warnings and a verdict, for people. At most rows parameters (0: all),
 * those with the smallest ESS. */
ais_status ais_report_text(ais_context *context, const ais_diagnosis *diagnosis, const ais_report_run *run, int rows,
                           FILE *file);

/* summary.json (docs/formats.md). run may be NULL: then only what follows from the draws. */
ais_status ais_report_json(ais_context *context, const ais_diagnosis *diagnosis, const ais_report_run *run, FILE *file);

/* ---- figures ------------------------------------------------------------------------------------------- */

/* What figures are made from. The caller keeps ownership. */
typedef struct ais_figure_data {
    const ais_draws *draws;
    const ais_diagnosis *diagnosis; /* of these draws: says which parameters are the worst. NULL: the first ones */
    const ais_target *target;       /* adds modes, and the true density in two dimensions; or NULL */
    const ais_train_point *curve;   /* of the training, points of it; or NULL */
    int points;
    const ais_rungs *rungs; /* of the ladder that drew; or NULL */
    const int *parameter;   /* which to show, `parameters` of them; NULL: a few, the worst first */
    int parameters;
    const double *truth; /* of every parameter, NAN where it is not known: lines in the corner plot; or NULL */
} ais_figure_data;

/* The kinds of figures: entry i, or NULL past the end. */
typedef struct ais_figure_entry {
    const char *name;    /* corner, marginals, rank, trace, ... */
    const char *title;   /* a heading for people */
    const char *summary; /* one line: what it shows */
} ais_figure_entry;
const ais_figure_entry *ais_figure_builtin(int i);

/* Whether the data have what the figure shows: training needs a curve, ladder a column ladder_trip__ (and rungs, to
 * show them), modes and jumps a target with mode indicators. */
bool ais_figure_applies(const char *name, const ais_figure_data *data);

/* Makes the figure of this name; the caller frees it. Long runs are binned or thinned: a figure's size does not grow
 * with the number of draws. Draws that are not finite are left out. An unknown name is refused with the nearest one, a
 * figure that does not apply with the reason. */
ais_status ais_figure_of_draws(ais_context *context, const char *name, const ais_figure_data *data,
                               ais_figure **figure);

/* ---- a page -------------------------------------------------------------------------------------------- */

/* report.html: verdict and warnings, numbers, table of parameters, every figure that applies, configuration. It is
 * self-contained (no scripts, nothing loaded from elsewhere) and also well-formed XML. Without cairo it has no figures
 * and says so. data.diagnosis is required. */
typedef struct ais_report_page {
    const ais_training *training;     /* what was searched and learned; or NULL */
    const char *const *configuration; /* "key = value" lines, ends with NULL; or NULL */
} ais_report_page;
ais_status ais_report_html(ais_context *context, const ais_figure_data *data, const ais_report_run *run,
                           const ais_report_page *page, FILE *file);

/* ---- a page of your own ----------------------------------------------------------------------------------- */

/* Pages in the style of report.html, written from top to bottom: begin, then anything, then end. Text is escaped. */
void ais_document_begin(FILE *file, const char *title);
void ais_document_heading(FILE *file, const char *text);
void ais_document_paragraph(FILE *file, const char *text);
void ais_document_note(FILE *file, const char *text); /* smaller */

/* rows x columns cells, row by row, under a row of headings; the first cell of a row is its heading. */
void ais_document_table(FILE *file, const char *const *heading, const char *const *cell, int rows, int columns);

/* The panels of a figure; prefix (letters and digits) must differ between the figures of a page. Without cairo there is
 * a sentence in its place. */
ais_status ais_document_figure(ais_context *context, FILE *file, const ais_figure *figure, const char *prefix);

/* AIS_FILE_ERROR if not everything could be written. */
ais_status ais_document_end(ais_context *context, FILE *file);

#ifdef __cplusplus
}
#endif
#endif
