/* The figures of draws: one file each, and a table of them. */
#ifndef AIS_REPORT_FIGURES_H
#define AIS_REPORT_FIGURES_H

#include <aisampler/report.h>

/* What a figure function gets: the data, and which parameters to show. */
typedef struct ais_scene {
    ais_context *context;
    const ais_figure_data *data;
    ais_figure *figure;
    const int *parameter;
    int parameters;
    char note[512]; /* what was left out, sentence by sentence */
} ais_scene;

/* Appends a sentence to the note. */
void ais_scene_say(ais_scene *scene, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Chain c of a parameter: `draws` values. */
const double *ais_scene_chain(const ais_scene *scene, int parameter, int chain);

enum { AIS_MOST_CHAINS = 16 }; /* drawn one by one */

/* What a figure is. A new one is a file with an ais_figure_kind, and its name in the list here. */
typedef struct ais_figure_kind {
    ais_figure_entry entry;
    ais_status (*draw)(ais_scene *scene);
    /* NULL, or why the figure cannot be made of these draws; NULL itself: it can always be made. */
    const char *(*objection)(const ais_figure_data *data);
    int least,
        most; /* parameters, when none are named: at least `least`, and up to `most` that need a look. 0: not by one */
    int columns; /* of panels; 0: chosen */
} ais_figure_kind;

/* In the order in which a report has them. */
#define AIS_FIGURES(each)                                                                                              \
    each(corner) each(marginals) each(rank) each(trace) each(autocorrelation) each(training) each(ladder) each(modes)  \
        each(jumps) each(energy)

#define AIS_FIGURE_DECLARE(name) extern const ais_figure_kind ais_figure_##name;
AIS_FIGURES(AIS_FIGURE_DECLARE)
#undef AIS_FIGURE_DECLARE

enum { AIS_MOST_SHOWN = 12 }; /* in a figure, when the caller names none */

/* The parameters to show then: `least` and all that need a look (R-hat above AIS_MOST_RHAT, ESS below 400), at most
 * `most`; the largest R-hat or smallest ESS first, or all in their order where there are no more than `least`. Returns
 * how many. */
int ais_worst_parameters(const ais_figure_data *data, int least, int most, int *parameter);

#endif
